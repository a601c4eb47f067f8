/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "bench_summary.h"
#include "clock.h"
#include "memory.h"

double
run_seconds (const struct run *run, bool by_client)
{
  return by_client ? run->client.seconds
    : run->figures.active_ns / (double) NS_PER_S;
}

bool
runs_have_client_seconds (const struct run *runs, size_t nr_runs)
{
  for (size_t i = 0; i < nr_runs; i++) {
    if (!isfinite (runs[i].client.seconds))
      return false;
  }
  return true;
}

/* Of those of n numbers that are some. */
static double
median_of (double *x, size_t n)
{
  size_t finite = 0;

  for (size_t i = 0; i < n; i++) {
    if (isfinite (x[i]))
      x[finite++] = x[i];
  }
  sort_sample (x, finite);
  return sample_quantile (x, finite, 0.5);
}

static double
median_active (const struct run *runs, size_t nr_runs)
{
  double *x = get_memory (nr_runs, sizeof *x), median;

  for (size_t i = 0; i < nr_runs; i++)
    x[i] = run_seconds (&runs[i], false);
  median = median_of (x, nr_runs);
  free (x);
  return median;
}

/* Those of one run: of an operation, or as the client saw them. */
static const struct latencies *
op_latencies (const struct run *run, enum op op)
{
  return &run->figures.ops[op].latencies;
}

static const struct latencies *
client_latencies (const struct run *run, enum op op __attribute__ ((unused)))
{
  return &run->client.latencies;
}

static struct latencies
median_latencies (const struct run *runs, size_t nr_runs,
                  const struct latencies *(*of) (const struct run *, enum op),
                  enum op op)
{
  double *mean = get_memory (nr_runs, sizeof *mean);
  double *p50 = get_memory (nr_runs, sizeof *p50);
  double *p99 = get_memory (nr_runs, sizeof *p99);
  struct latencies medians;

  for (size_t i = 0; i < nr_runs; i++) {
    mean[i] = of (&runs[i], op)->mean;
    p50[i] = of (&runs[i], op)->p50;
    p99[i] = of (&runs[i], op)->p99;
  }
  medians = (struct latencies) {
    median_of (mean, nr_runs), median_of (p50, nr_runs),
    median_of (p99, nr_runs),
  };
  free (mean);
  free (p50);
  free (p99);
  return medians;
}

static void
include (struct range *range, uint64_t value, bool first)
{
  if (first || value < range->min)
    range->min = value;
  if (first || value > range->max)
    range->max = value;
}

static void
summarize_op (struct op_summary *summary, enum op op, const struct run *runs,
              size_t nr_runs)
{
  for (size_t i = 0; i < nr_runs; i++) {
    const struct op_figures *figures = &runs[i].figures.ops[op];

    include (&summary->requests, figures->requests, i == 0);
    include (&summary->bytes, figures->bytes, i == 0);
  }
  summary->latencies = median_latencies (runs, nr_runs, op_latencies, op);
}

static bool
is_one (const struct range *range)
{
  return range->min == range->max;
}

static void
summarize_ops (struct cell_summary *summary, const struct run *runs,
               size_t nr_runs)
{
  for (enum op op = 0; op < NR_OPS; op++) {
    struct op_summary *ops = summary->ops;

    summarize_op (&ops[op], op, runs, nr_runs);
    if (ops[op].requests.max > ops[summary->main_op].requests.max)
      summary->main_op = op;
    if (!is_one (&ops[op].requests) || !is_one (&ops[op].bytes))
      summary->varied = true;
  }
}

static double
amplification (const struct cell_plan *plan, const struct op_summary *writes)
{
  if (!plan->asks || plan->asked == 0 || writes->bytes.max == 0)
    return NAN;
  return ((double) writes->bytes.min + (double) writes->bytes.max) / 2
    / (double) plan->asked;
}

void
cell_summarize (struct cell_summary *summary, const struct cell_plan *plan,
                const struct run *runs, size_t nr_runs, bool by_client)
{
  double *x = get_memory (nr_runs, sizeof *x);

  for (size_t i = 0; i < nr_runs; i++)
    x[i] = run_seconds (&runs[i], by_client);
  sort_sample (x, nr_runs);
  *summary = (struct cell_summary) {
    .n = nr_runs,
    .seconds = x,
    .by_client = by_client,
    .mean = sample_mean (x, nr_runs),
    .stddev = sample_stddev (x, nr_runs),
    .median = sample_quantile (x, nr_runs, 0.5),
    .active_s = median_active (runs, nr_runs),
    .client = median_latencies (runs, nr_runs, client_latencies, 0),
  };
  summary->spread = summary->stddev / summary->mean;
  summarize_ops (summary, runs, nr_runs);
  summary->amplification = amplification (plan, &summary->ops[OP_WRITE]);
}

bool
ranges_apart (const struct range *a, const struct range *b)
{
  return a->max < b->min || b->max < a->min;
}

void
cells_compare (struct cell_comparison *comparison,
               const struct cell_summary *cell,
               const struct cell_summary *first)
{
  *comparison = (struct cell_comparison) {
    .ratio = ratio_interval (cell->seconds, cell->n, first->seconds, first->n,
                             CONFIDENCE),
    .test = mann_whitney (cell->seconds, cell->n, first->seconds, first->n),
  };
  comparison->p = comparison->test.p;
  for (enum op op = 0; cell->n && first->n && op < NR_OPS; op++) {
    const struct op_summary *a = &cell->ops[op], *b = &first->ops[op];

    if (ranges_apart (&a->requests, &b->requests)
        || ranges_apart (&a->bytes, &b->bytes))
      comparison->other_work = true;
  }
}

/* The same measure for all cells of a case. */
static void
summarize_case (const struct bench_job *job, struct bench_case *c)
{
  bool by_client = true;

  for (size_t e = 0; e < job->nr_environments; e++)
    by_client = by_client
      && runs_have_client_seconds (c->cells[e].runs, c->cells[e].nr_runs);
  for (size_t e = 0; e < job->nr_environments; e++) {
    struct cell *cell = &c->cells[e];

    free (cell->summary.seconds);
    cell_summarize (&cell->summary, &cell->plan, cell->runs, cell->nr_runs,
                    by_client);
    if (e > 0)
      cells_compare (&c->comparisons[e], &cell->summary,
                     &c->cells[0].summary);
  }
}

/* Whether the largest difference there can be would be significant. */
static bool
is_provable (const struct bench_case *c,
             const struct cell_comparison *comparison,
             size_t comparisons)
{
  const struct cell *cell = &c->cells[comparison - c->comparisons];

  return smallest_p (cell->nr_runs, c->cells[0].nr_runs)
    * (double) comparisons <= SIGNIFICANT_P;
}

/* Of several comparisons one is significant by chance sooner than of one. */
static void
correct (struct bench *bench)
{
  double *p = NULL;
  size_t n = 0, tests = 0;

  FOR_EACH_COMPARISON (bench, j, c, comparison) {
    p = grow (p, n, sizeof *p);
    p[n++] = comparison->p;
    tests += !isnan (comparison->p);
  }
  holm_adjust (p, n);
  n = 0;
  FOR_EACH_COMPARISON (bench, j, c, comparison) {
    comparison->p = p[n++];
    comparison->significant = comparison->p <= SIGNIFICANT_P;
    comparison->provable = !isnan (comparison->p)
      && (comparison->significant || is_provable (c, comparison, tests));
  }
  free (p);
}

void
bench_summarize (struct bench *bench)
{
  FOR_EACH_CASE (bench, j, c)
    summarize_case (j, c);
  correct (bench);
}
