/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What the runs of a cell come to, and what two cells prove together. */

#ifndef TOOLS_BENCH_SUMMARY_H
#define TOOLS_BENCH_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops.h"
#include "run.h"
#include "statistics.h"

/* Above this part of the mean a deviation is worth a warning. */
#define WIDE_SPREAD 0.10

/* Of all runs of a cell: both are the same where each did the same. */
struct range {
  uint64_t min, max;
};

struct op_summary {
  struct range requests, bytes;
  struct latencies latencies;   /* medians over the runs; or NaN */
};

struct cell_summary {
  size_t n;                     /* runs that count */
  double *seconds;              /* of each, in ascending order */
  bool by_client;               /* as the client tells, or the active time */
  double mean, stddev, median;  /* of these; NaN where there is none */
  double spread;                /* stddev / mean */
  double active_s;              /* the median of the active time */
  struct latencies client;      /* medians, too */
  struct op_summary ops[NR_OPS];
  enum op main_op;              /* the one with the most requests */
  double amplification;         /* bytes written for each asked; or NaN */
  bool varied;                  /* the runs did not all do the same */
};

/* A cell against the one of the first environment. */
struct cell_comparison {
  struct ratio_interval ratio;  /* of their seconds */
  struct rank_test test;
  double p;                     /* corrected for the number of comparisons */
  bool significant;
  bool provable;                /* there are runs enough to be significant */
  bool other_work;              /* counts that do not overlap */
};

struct cell_plan;

/* by_client: take the client's own seconds.  The caller frees seconds. */
extern void cell_summarize (struct cell_summary *summary,
                            const struct cell_plan *plan,
                            const struct run *runs, size_t nr_runs,
                            bool by_client);

/* Whether all of the runs have the client's own seconds. */
extern bool runs_have_client_seconds (const struct run *runs, size_t nr_runs);

/* The seconds of a run, taken so. */
extern double run_seconds (const struct run *run, bool by_client);

/* p and significant are left for later: see bench_summarize. */
extern void cells_compare (struct cell_comparison *comparison,
                           const struct cell_summary *cell,
                           const struct cell_summary *first);

/* Whether one has more than the other in every run. */
extern bool ranges_apart (const struct range *a, const struct range *b);

struct bench;

/* All cells and comparisons of a bench.  May be called again when there are
 * more runs.
 */
extern void bench_summarize (struct bench *bench);

#endif /* TOOLS_BENCH_SUMMARY_H */
