/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* One nbdkit, in which one measurement is made. */

#ifndef TOOLS_OVERHEAD_SERVER_H
#define TOOLS_OVERHEAD_SERVER_H

#include "overhead_plan.h"

struct measurement {
  const struct plan *plan;
  const struct side *side;      /* through its filter, or past it */
  const struct workload *backend;
  struct job job;
};

/* Do the job.  Returns -1 after telling what nbdkit said. */
extern int serve (const struct measurement *m, struct result *result);

/* The same under callgrind, which counts all instructions from nbdkit's
 * start to its end.
 */
extern int serve_counted (const struct measurement *m,
                          uint64_t *instructions);

#endif /* TOOLS_OVERHEAD_SERVER_H */
