/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* How long clients wait that all come at once. */

#ifndef BENCH_OPENING_H
#define BENCH_OPENING_H

#include "plan.h"

/* Print a table of how long it takes until plan->threads[0] threads have
 * opened their connections to the first backend and sent their first
 * requests.  Returns -1 after telling the error.
 */
extern int opening_table (const struct plan *plan);

#endif /* BENCH_OPENING_H */
