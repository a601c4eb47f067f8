/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The results of a benchmark as text. */

#ifndef TOOLS_BENCH_TABLE_H
#define TOOLS_BENCH_TABLE_H

#include <stdio.h>

#include "bench.h"

/* The tables of a job: times, what reached the storage, and comparisons. */
extern void bench_print_tables (const struct bench_job *job, FILE *fp);

/* One of them: the account of time, where the reports have one. */
extern void bench_print_account (const struct bench_job *job, FILE *fp);

/* What they mean, in words, with all warnings. */
extern void bench_print_notes (const struct bench_job *job,
                               struct bench *bench, FILE *fp);

#endif /* TOOLS_BENCH_TABLE_H */
