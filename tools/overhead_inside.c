/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_measured.h"
#include "overhead_tables.h"

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

/* Reading the clocks is in all figures: what is added is without. */
static void
write_row (struct table *table, const struct measured *measured,
           unsigned side)
{
  struct cell cells[NR_COLUMNS] = {
    [BACKEND] = cell_text (measured->m.backend->name),
    [THREADS] = cell_number ((double) measured->m.job.threads),
    [THROUGH] = cell_text (measured->m.plan->sides[side].name),
    [CPU] = measured_cell (measured, CPU_NS, side),
    [FILTER] = measured_cell (measured, IN_FILTER_CPU_NS, side),
    [OWN] = measured_cell (measured, OWN_CPU_NS, side),
    [LONGEST_CPU] = measured_max (measured, LONGEST_CPU_US, side),
    [LONGEST] = measured_max (measured, LONGEST_US, side),
  };

  if (side != 0) {
    cells[ADDED] = measured_added (measured, IN_FILTER_CPU_NS, side);
    cells[TO_OTHER] = measured_added_ratio (measured, IN_FILTER_CPU_NS,
                                            side);
  }
  table_row (table, cells);
}

static int
measure_cell (const struct plan *plan, struct table *table,
              const struct workload *backend, uint64_t threads)
{
  static struct measured measured;

  measured_init (&measured, plan, backend);
  measured.m.job.threads = threads;
  measured.m.job.watch = 1;
  if (measured_rounds (&measured) == -1)
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
  struct table table = overhead_table (plan, tables, "inside", columns,
                                       NR_COLUMNS);

  table.title = "What a request takes in the filter alone";
  return table_write (&table, plan, rows);
}
