/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What a request spends in a filter, without what is behind it. */

#ifndef BENCH_INSIDE_H
#define BENCH_INSIDE_H

#include "plan.h"

/* Print a table of all filters, backends and numbers of threads.  Returns
 * -1 after telling the error.
 */
extern int inside_table (const struct plan *plan);

#endif /* BENCH_INSIDE_H */
