/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <math.h>
#include <string.h>

#include "bench_table.h"
#include "clock.h"
#include "num2str.h"
#include "table.h"

/* An empty cell where there is no number. */
static void
add_seconds (struct table *table, double seconds)
{
  char buf[NUM2STR_LEN];

  table_add (table, "%s", isfinite (seconds)
             ? seconds2str (buf, seconds * (double) NS_PER_S) : "");
}

static void
add_time (struct table *table, double ns)
{
  char buf[NUM2STR_LEN];

  table_add (table, "%s", isfinite (ns) ? num2str (buf, ns, NUM_TIME) : "");
}

static void
add_number (struct table *table, const char *fmt, double number)
{
  char buf[64];

  /* A literal of one of our callers. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  snprintf (buf, sizeof buf, fmt, number);
#pragma GCC diagnostic pop
  table_add (table, "%s", isfinite (number) ? buf : "");
}

static void
add_name (struct table *table, const struct cell *cell)
{
  table_add (table, "%s", cell->plan.case_name);
  table_add (table, "%s", cell->plan.environment);
}

/* A row of each cell. */
static void
print_rows (const struct bench_job *job, struct table *table,
            void (*add) (struct table *table, const struct cell *cell),
            FILE *fp)
{
  for (size_t i = 0; i < job->nr_cases; i++) {
    for (size_t e = 0; e < job->nr_environments; e++) {
      const struct cell *cell = &job->cases[i].cells[e];

      add_name (table, cell);
      add (table, cell);
    }
  }
  table_print (table, fp);
}

/* --- Times --- */

static void
add_times (struct table *table, const struct cell *cell)
{
  const struct cell_summary *s = &cell->summary;

  table_add (table, "%zu", s->n);
  add_seconds (table, s->mean);
  add_number (table, "%.1f%%", s->spread * 100);
  add_seconds (table, s->median);
  add_seconds (table, s->active_s);
}

static void
print_times (const struct bench_job *job, FILE *fp)
{
  struct table table = {
    .titles = {
      "case", "environment", "runs", "mean", "dev", "median", "active",
    },
    .nr = 7, .nr_left = 2,
  };

  fprintf (fp, "%s: seconds%s\n", job->job.name,
           job->cases[0].cells[0].summary.by_client
           ? " as the client tells them" : "");
  print_rows (job, &table, add_times, fp);
}

static void
add_latencies (struct table *table, const struct cell *cell)
{
  const struct cell_summary *s = &cell->summary;
  const struct op_summary *op = &s->ops[s->main_op];

  table_add (table, "%s", op->requests.max ? op_name (s->main_op) : "");
  add_time (table, op->latencies.mean);
  add_time (table, op->latencies.p50);
  add_time (table, op->latencies.p99);
  add_time (table, s->client.mean);
  add_time (table, s->client.p50);
  add_time (table, s->client.p99);
}

static void
print_latencies (const struct bench_job *job, FILE *fp)
{
  struct table table = {
    .titles = {
      "case", "environment", "most", "mean", "p50", "p99", "client's", "p50",
      "p99",
    },
    .nr = 9, .nr_left = 2,
  };

  fprintf (fp, "\nlatency of the most frequent requests\n");
  print_rows (job, &table, add_latencies, fp);
}

/* --- What reached the storage --- */

/* One figure where all runs had the same, and else from which to which. */
static void
add_range (struct table *table, const struct range *range,
           enum num_unit unit)
{
  char min[NUM2STR_LEN], max[NUM2STR_LEN];

  if (range->max == 0) {
    table_add (table, "%s", "");
    return;
  }
  if (unit == NUM_COUNT) {
    count2str (min, range->min, 10);
    count2str (max, range->max, 10);
  }
  else {
    num2str (min, (double) range->min, unit);
    num2str (max, (double) range->max, unit);
  }
  if (range->min == range->max)
    table_add (table, "%s", min);
  else if (strcmp (min, max) == 0)
    table_add (table, "~%s", min);
  else
    table_add (table, "%s-%s", min, max);
}

static bool
has_bytes (enum op op)
{
  return op_kind (op) == KIND_MOVED || op_kind (op) == KIND_RANGE;
}

static void
add_work (struct table *table, const struct cell *cell)
{
  const struct cell_summary *s = &cell->summary;

  for (enum op op = 0; op < NR_OPS; op++) {
    add_range (table, &s->ops[op].requests, NUM_COUNT);
    if (has_bytes (op))
      add_range (table, &s->ops[op].bytes, NUM_BYTES);
  }
  add_number (table, "%.3g", s->amplification);
}

static void
print_work (const struct bench_job *job, FILE *fp)
{
  struct table table = {
    .titles = { "case", "environment" }, .nr = 2, .nr_left = 2,
  };

  for (enum op op = 0; op < NR_OPS; op++) {
    table.titles[table.nr++] = op_name (op);
    if (has_bytes (op))
      table.titles[table.nr++] = "bytes";
  }
  table.titles[table.nr++] = "x asked";
  fprintf (fp, "\nwhat reached the storage in a run\n");
  print_rows (job, &table, add_work, fp);
}

/* --- Comparisons --- */

static const char *
verdict (const struct cell_comparison *c)
{
  if (isnan (c->p))
    return "";
  if (!c->provable)
    return "too few runs";
  return c->significant ? "yes" : "no";
}

static void
add_comparison (struct table *table, const struct cell *cell,
                const struct cell_comparison *c)
{
  add_name (table, cell);
  add_number (table, "%.3f", c->ratio.ratio);
  add_number (table, "%.3f", c->ratio.low);
  add_number (table, "%.3f", c->ratio.high);
  add_number (table, "%.4f", c->p);
  add_number (table, "%.2f", c->test.superiority);
  table_add (table, "%s", verdict (c));
}

static void
print_comparisons (const struct bench_job *job, FILE *fp)
{
  struct table table = {
    .titles = {
      "case", "environment", "ratio", "from", "to", "p", "effect",
      "significant",
    },
    .nr = 8, .nr_left = 2,
  };

  for (size_t i = 0; i < job->nr_cases; i++) {
    const struct bench_case *c = &job->cases[i];

    for (size_t e = 1; e < job->nr_environments; e++)
      add_comparison (&table, &c->cells[e], &c->comparisons[e]);
  }
  fprintf (fp, "\nseconds of %s = 1\n", job->environments[0].name);
  table_print (&table, fp);
}

/* In any run of any cell. */
static bool
has_requests (const struct bench_job *job)
{
  for (size_t i = 0; i < job->nr_cases; i++) {
    for (size_t e = 0; e < job->nr_environments; e++) {
      const struct cell_summary *s = &job->cases[i].cells[e].summary;

      if (s->ops[s->main_op].requests.max > 0)
        return true;
    }
  }
  return false;
}

static bool
has_comparison (const struct bench_job *job)
{
  for (size_t i = 0; i < job->nr_cases; i++) {
    for (size_t e = 1; e < job->nr_environments; e++) {
      if (isfinite (job->cases[i].comparisons[e].ratio.ratio))
        return true;
    }
  }
  return false;
}

/* But for the first, those that have nothing to tell are left out. */
void
bench_print_tables (const struct bench_job *job, FILE *fp)
{
  print_times (job, fp);
  if (has_requests (job)) {
    print_latencies (job, fp);
    print_work (job, fp);
  }
  bench_print_account (job, fp);
  if (has_comparison (job))
    print_comparisons (job, fp);
}
