/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_tables.h"

/* What was measured with one backend and number of threads. */
struct measured {
  struct measurement m;         /* but for the side */
  struct samples cpu_ns[MAX_SIDES]; /* a request, of all threads */
  struct samples filter_ns[MAX_SIDES]; /* of it, in the filter */
  struct samples own_ns[MAX_SIDES]; /* of that, in the filter's threads */
  struct samples longest_cpu_us[MAX_SIDES]; /* of any request */
  struct samples longest_us[MAX_SIDES];
};

static int
measure_one (void *arg, unsigned side)
{
  struct measured *measured = arg;
  struct measurement m = measured->m;
  struct result result;
  const struct timing *timing = &result.timing;

  m.side = &m.plan->sides[side];
  if (serve (&m, &result) == -1)
    return -1;
  samples_add (&measured->cpu_ns[side], timing->cpu_ns);
  samples_add (&measured->filter_ns[side],
               timing->inside_cpu_ns + timing->own_cpu_ns);
  samples_add (&measured->own_ns[side], timing->own_cpu_ns);
  samples_add (&measured->longest_cpu_us[side],
               (double) timing->longest.cpu / 1000);
  samples_add (&measured->longest_us[side],
               (double) timing->longest.time / 1000);
  return 0;
}

enum {
  BACKEND, THREADS, THROUGH, CPU, FILTER, OWN, ADDED, LONGEST_CPU, LONGEST,
  TO_OTHER, NR_COLUMNS,
};

static const struct column columns[NR_COLUMNS] = {
  [BACKEND] = { "backend", "backend", -10, 0, 0 },
  [THREADS] = { "threads", "threads", 7, 0, 0 },
  [THROUGH] = { "through", "through", -10, 0, 0 },
  [CPU] = { "cpu_ns", "CPU ns", 8, 0, 0 },
  [FILTER] = { "in_filter_ns", "in filter", 9, 1, 0 },
  [OWN] = { "own_cpu_ns", "own CPU", 7, 1, 0 },
  [ADDED] = { "added_ns", "added ns", 8, 1, 16 },
  [LONGEST_CPU] = { "longest_cpu_us", "longest CPU us", 14, 0, 0 },
  [LONGEST] = { "longest_us", "longest us", 10, 0, 0 },
  [TO_OTHER] = { "to_against", "/ against", 10, 3, 0 },
};

/* Reading the clocks is in all figures: take off what is there without a
 * filter.
 */
static struct samples
added (const struct measured *measured, unsigned side)
{
  return samples_less (&measured->filter_ns[side], &measured->filter_ns[0]);
}

static void
write_row (struct table *table, const struct measured *measured,
           unsigned side)
{
  const struct plan *plan = measured->m.plan;
  struct cell cells[NR_COLUMNS] = {
    [BACKEND] = cell_text (measured->m.backend->name),
    [THREADS] = cell_number ((double) measured->m.job.threads),
    [THROUGH] = cell_text (plan->sides[side].name),
    [CPU] = cell_samples (&measured->cpu_ns[side]),
    [FILTER] = cell_samples (&measured->filter_ns[side]),
    [OWN] = cell_samples (&measured->own_ns[side]),
    [LONGEST_CPU]
      = cell_number (samples_max (&measured->longest_cpu_us[side])),
    [LONGEST] = cell_number (samples_max (&measured->longest_us[side])),
  };

  if (side != 0) {
    const struct samples ns = added (measured, side);
    const struct samples other = added (measured, plan_other (plan));
    const struct samples to_other = samples_ratio (&ns, &other);

    cells[ADDED] = cell_samples (&ns);
    cells[TO_OTHER] = cell_samples (&to_other);
  }
  table_row (table, cells);
}

static int
measure_cell (const struct plan *plan, struct table *table,
              const struct workload *backend, uint64_t threads)
{
  struct measured measured = {
    .m = { .plan = plan, .backend = backend, .job = plan_job (plan) },
  };

  measured.m.job.threads = threads;
  measured.m.job.watch = 1;
  if (plan_in_turn (plan, plan->nr_sides, measure_one, &measured) == -1)
    return -1;
  for (unsigned i = 0; i < plan->nr_sides; i++)
    write_row (table, &measured, i);
  return 0;
}

static int
rows (const struct plan *plan, struct table *table)
{
  return plan_cells (plan, table, measure_cell);
}

int
overhead_inside (const struct plan *plan, struct tables *tables)
{
  struct table table = overhead_table (plan, tables, columns, NR_COLUMNS);

  table.key = "inside";
  table.title = "What a request takes in the filter alone";
  return table_write (&table, plan, rows);
}
