/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What stands between the client and us.  nbdkit tells a filter nothing of
 * those above it, but its command line does: the first that is named is the
 * nearest the client.
 */

#ifndef STATS_ABOVE_H
#define STATS_ABOVE_H

#include <stdio.h>

/* How many times we stand in the stack with nothing between us and the
 * client but filters that hand every request on as it is.  cmdline has
 * nbdkit's arguments, each ended by a NUL; where it is NULL, or does not
 * say, the answer is 0.  Any thread.
 */
extern unsigned above_facing_client (FILE *cmdline);

#endif /* STATS_ABOVE_H */
