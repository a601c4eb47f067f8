/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Runs a benchmark: every cell of every case, in turn. */

#ifndef TOOLS_BENCH_RUNNER_H
#define TOOLS_BENCH_RUNNER_H

#include "bench.h"

/* Whether all that the jobs name is there.  Returns -1 after telling what
 * is missing.
 */
extern int bench_check_programs (struct bench *bench,
                                 const struct workspace *workspace);

/* Add the runs that are missing.  Returns an exit status: one of a cell
 * failed, or the results could not be written.  Also ends when interrupted.
 */
extern int bench_run (struct bench *bench, const struct workspace *workspace);

#endif /* TOOLS_BENCH_RUNNER_H */
