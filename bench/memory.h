/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* How much memory a filter takes. */

#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include "plan.h"

/* Print a table of what each filter takes while plan->connections come
 * and go, one after another, each with plan->threads[0] threads.  Returns
 * -1 after telling the error.
 */
extern int memory_table (const struct plan *plan);

#endif /* BENCH_MEMORY_H */
