/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What clients say of themselves. */

#ifndef TOOLS_CLIENT_H
#define TOOLS_CLIENT_H

#include "figures.h"

/* NaN where it does not say. */
struct client_figures {
  double seconds;
  struct latencies latencies;   /* of one request, as the client sees it */
};

/* Out of all that it said: the line with which qemu-img bench ends, or the
 * JSON of fio.
 */
extern struct client_figures client_read (const char *output);

#endif /* TOOLS_CLIENT_H */
