/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What a filter makes of threads that do nothing. */

#ifndef BENCH_BESIDE_H
#define BENCH_BESIDE_H

#include "plan.h"

/* Print a table of how long a request takes beside each of plan->others,
 * with the first backend and plan->threads[0] threads.  Returns -1 after
 * telling the error.
 */
extern int beside_table (const struct plan *plan);

#endif /* BENCH_BESIDE_H */
