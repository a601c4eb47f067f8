/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Environments of the command line: --env NAME:KEY=VALUE,KEY=VALUE... */

#ifndef TOOLS_BENCH_ENVIRONMENT_H
#define TOOLS_BENCH_ENVIRONMENT_H

#include "job.h"

struct environments {
  struct environment *list;
  size_t nr;
};

/* Add what the argument says; a name that is there already gets more.  A
 * comma that belongs to a value has a backslash before it.  Returns -1 after
 * telling what is wrong.
 */
extern int environments_add (struct environments *environments,
                             const char *argument);

/* Whether the job knows all that is set. */
extern int environments_check (const struct environments *environments,
                               const struct job *job);

extern void environments_free (struct environments *environments);

#endif /* TOOLS_BENCH_ENVIRONMENT_H */
