/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* How fast requests go past a filter and through it. */

#ifndef BENCH_SPEED_H
#define BENCH_SPEED_H

#include "plan.h"

/* Print a table of all filters, backends and numbers of threads.  Returns
 * -1 after telling the error.
 */
extern int speed_table (const struct plan *plan);

#endif /* BENCH_SPEED_H */
