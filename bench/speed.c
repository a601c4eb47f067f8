/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdio.h>
#include <string.h>

#include "measure.h"
#include "speed.h"
#include "table.h"

/* What was measured for one backend and number of threads. */
struct cell {
  const struct plan *plan;
  const struct workload *workload;
  unsigned threads;
  struct samples ns[MAX_SIDES + 1]; /* a request */
  struct samples cpu_ns[MAX_SIDES + 1];
};

/* After the sides of the plan: two clock reads and nothing else.  They go
 * with the first backend, the one that does nothing.
 */
static bool
is_clock (const struct cell *cell, unsigned side)
{
  return side == cell->plan->nr_sides;
}

static bool
has_clock (const struct cell *cell)
{
  return cell->workload == &workloads[0] && cell->plan->nr_sides > 1;
}

static int
measure_one (void *arg, unsigned side)
{
  struct cell *cell = arg;
  struct load load = plan_load (cell->plan, side);
  struct timing timing;

  if (is_clock (cell, side))
    load.side = NULL;
  load.workload = cell->workload;
  load.threads = cell->threads;
  if (measure (&load, &timing) == -1)
    return -1;
  samples_add (&cell->ns[side], timing.ns);
  samples_add (&cell->cpu_ns[side], timing.cpu_ns);
  return 0;
}

/* The table. */

enum {
  BACKEND, THREADS, THROUGH, NS, SPREAD, CPU, RATE, ADDED, TO_BYPASSED,
  TO_FIRST, NR_COLUMNS,
};

static struct column columns[NR_COLUMNS] = {
  [BACKEND] = { -10, "backend" },
  [THREADS] = { 7, "threads" },
  [THROUGH] = { -10, "through" },
  [NS] = { 8, "ns" },
  [SPREAD] = { 17, "min..max" },
  [CPU] = { 8, "CPU ns" },
  [RATE] = { 9, "1000/s" },
  [ADDED] = { 8, "added ns" },
  [TO_BYPASSED] = { 10, "/ bypassed" },
  [TO_FIRST] = { 10, "" },
};

static void
print_row (const struct cell *cell, unsigned side, const char *name)
{
  const struct samples *ns = &cell->ns[side];
  const struct summary summary = samples_summary (ns);
  const struct summary bypassed = samples_summary (&cell->ns[0]);
  char cells[NR_COLUMNS][TABLE_CELL];

  memset (cells, 0, sizeof cells);
  snprintf (cells[BACKEND], TABLE_CELL, "%s", cell->workload->name);
  snprintf (cells[THREADS], TABLE_CELL, "%u", cell->threads);
  snprintf (cells[THROUGH], TABLE_CELL, "%s", name);
  snprintf (cells[NS], TABLE_CELL, "%.1f", summary.median);
  snprintf (cells[SPREAD], TABLE_CELL, "%.1f..%.1f", summary.min, summary.max);
  snprintf (cells[CPU], TABLE_CELL, "%.1f",
            samples_summary (&cell->cpu_ns[side]).median);
  snprintf (cells[RATE], TABLE_CELL, "%.0f",
            1e6 * cell->threads / summary.median);
  if (side != 0 && !is_clock (cell, side)) {
    snprintf (cells[ADDED], TABLE_CELL, "%.1f",
              summary.median - bypassed.median);
    snprintf (cells[TO_BYPASSED], TABLE_CELL, "%.3f",
              samples_ratio (ns, &cell->ns[0]).median);
    snprintf (cells[TO_FIRST], TABLE_CELL, "%.3f",
              samples_ratio (ns, &cell->ns[1]).median);
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

  if (plan_in_turn (plan, plan->nr_sides + has_clock (&cell), measure_one,
                    &cell) == -1)
    return -1;
  if (has_clock (&cell))
    print_row (&cell, plan->nr_sides, "two clocks");
  for (unsigned i = 0; i < plan->nr_sides; i++)
    print_row (&cell, i, plan->sides[i].name);
  return 0;
}

int
speed_table (const struct plan *plan)
{
  table_head (columns, plan_columns (plan, columns, NR_COLUMNS));
  return plan_cells (plan, measure_cell);
}
