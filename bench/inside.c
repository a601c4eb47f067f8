/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdio.h>
#include <string.h>

#include "inside.h"
#include "table.h"

/* What was measured for one backend and number of threads. */
struct cell {
  const struct plan *plan;
  const struct workload *workload;
  unsigned threads;
  struct samples cpu_ns[MAX_SIDES]; /* a request, of all threads */
  struct samples filter_ns[MAX_SIDES]; /* of it, in the filter */
  struct samples own_ns[MAX_SIDES]; /* of that, in the filter's threads */
  struct samples longest_cpu_us[MAX_SIDES]; /* of any request */
  struct samples longest_us[MAX_SIDES];
};

static int
measure_one (void *arg, unsigned side)
{
  struct cell *cell = arg;
  struct load load = plan_load (cell->plan, side);
  struct timing timing;

  load.workload = cell->workload;
  load.threads = cell->threads;
  load.watch = true;
  if (measure (&load, &timing) == -1)
    return -1;
  samples_add (&cell->cpu_ns[side], timing.cpu_ns);
  samples_add (&cell->filter_ns[side], timing.filter_cpu_ns);
  samples_add (&cell->own_ns[side], timing.own_cpu_ns);
  samples_add (&cell->longest_cpu_us[side],
               (double) timing.longest.cpu / 1000);
  samples_add (&cell->longest_us[side], (double) timing.longest.time / 1000);
  return 0;
}

/* Reading the clocks is in all figures: take off what is there without a
 * filter.
 */
static struct samples
added (const struct cell *cell, unsigned side)
{
  const struct samples *bypassed = &cell->filter_ns[0];
  struct samples added = cell->filter_ns[side];

  for (unsigned i = 0; i < added.count; i++)
    added.values[i] -= bypassed->values[i];
  return added;
}

/* The table. */

enum {
  BACKEND, THREADS, THROUGH, CPU, FILTER, OWN, ADDED, SPREAD, LONGEST_CPU,
  LONGEST, TO_FIRST, NR_COLUMNS,
};

static struct column columns[NR_COLUMNS] = {
  [BACKEND] = { -7, "backend" },
  [THREADS] = { 7, "threads" },
  [THROUGH] = { -8, "through" },
  [CPU] = { 8, "CPU ns" },
  [FILTER] = { 9, "in filter" },
  [OWN] = { 8, "own CPU" },
  [ADDED] = { 8, "added ns" },
  [SPREAD] = { 16, "min..max" },
  [LONGEST_CPU] = { 14, "longest CPU us" },
  [LONGEST] = { 10, "longest us" },
  [TO_FIRST] = { 8, "" },
};

static void
print_row (const struct cell *cell, unsigned side)
{
  const struct samples ns = added (cell, side);
  const struct summary summary = samples_summary (&ns);
  char cells[NR_COLUMNS][TABLE_CELL];

  memset (cells, 0, sizeof cells);
  snprintf (cells[BACKEND], TABLE_CELL, "%s", cell->workload->name);
  snprintf (cells[THREADS], TABLE_CELL, "%u", cell->threads);
  snprintf (cells[THROUGH], TABLE_CELL, "%s", cell->plan->sides[side].name);
  snprintf (cells[CPU], TABLE_CELL, "%.0f",
            samples_summary (&cell->cpu_ns[side]).median);
  snprintf (cells[FILTER], TABLE_CELL, "%.1f",
            samples_summary (&cell->filter_ns[side]).median);
  snprintf (cells[OWN], TABLE_CELL, "%.1f",
            samples_summary (&cell->own_ns[side]).median);
  snprintf (cells[LONGEST_CPU], TABLE_CELL, "%.0f",
            samples_summary (&cell->longest_cpu_us[side]).max);
  snprintf (cells[LONGEST], TABLE_CELL, "%.0f",
            samples_summary (&cell->longest_us[side]).max);
  if (side != 0) {
    const struct samples first = added (cell, 1);

    snprintf (cells[ADDED], TABLE_CELL, "%.1f", summary.median);
    snprintf (cells[SPREAD], TABLE_CELL, "%.1f..%.1f", summary.min,
              summary.max);
    snprintf (cells[TO_FIRST], TABLE_CELL, "%.3f",
              samples_ratio (&ns, &first).median);
  }
  table_row (columns, plan_columns (cell->plan, columns, NR_COLUMNS), cells);
}

static int
measure_cell (const struct plan *plan, const struct workload *workload,
              unsigned threads)
{
  struct cell cell = {
    .plan = plan, .workload = workload, .threads = threads,
  };

  if (plan_in_turn (plan, plan->nr_sides, measure_one, &cell) == -1)
    return -1;
  for (unsigned i = 0; i < plan->nr_sides; i++)
    print_row (&cell, i);
  return 0;
}

int
inside_table (const struct plan *plan)
{
  table_head (columns, plan_columns (plan, columns, NR_COLUMNS));
  return plan_cells (plan, measure_cell);
}
