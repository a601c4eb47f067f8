/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_measured.h"
#include "overhead_tables.h"

enum {
  BACKEND, THREADS, THROUGH, SENT, RATE, TIME, CPU, OWN, ADDED, ADDED_CPU,
  TO_BYPASSED, TO_OTHER, NR_COLUMNS,
};

static const struct column columns[NR_COLUMNS] = {
  [BACKEND] = { "backend", "backend", -10, 0, 0 },
  [THREADS] = { "threads", "threads", 7, 0, 0 },
  [THROUGH] = { "through", "through", -10, 0, 0 },
  [SENT] = { "requests", NULL, 0, 0, 0 },
  [RATE] = { "per_second", "requests/s", 10, 0, 0 },
  [TIME] = { "ns", "ns", 8, 1, IN_PERCENT },
  [CPU] = { "cpu_ns", "CPU ns", 7, 1, IN_PERCENT },
  [OWN] = { "own_cpu_ns", "own CPU", 7, 1, 0 },
  [ADDED] = { "added_ns", "added ns", 8, 1, 0 },
  [ADDED_CPU] = { "added_cpu_ns", "added CPU", 9, 1, 0 },
  [TO_BYPASSED] = { "to_bypassed", NULL, 0, 0, 0 },
  [TO_OTHER] = { "to_against", "/ against", 8, 3, 0 },
};

static void
write_row (struct table *table, const struct measured *measured,
           unsigned side, const char *name)
{
  const unsigned other = plan_other (measured->m.plan);
  struct cell cells[NR_COLUMNS] = {
    [BACKEND] = cell_text (measured->m.backend->name),
    [THREADS] = cell_number ((double) measured->m.job.threads),
    [THROUGH] = cell_text (name),
    [SENT] = measured_sum (measured, REQUESTS, side),
    [RATE] = measured_cell (measured, PER_SECOND, side),
    [TIME] = measured_cell (measured, NS, side),
    [CPU] = measured_cell (measured, CPU_NS, side),
    [OWN] = measured_cell (measured, OWN_CPU_NS, side),
  };

  if (side != 0) {
    cells[ADDED] = measured_added (measured, NS, side);
    cells[ADDED_CPU] = measured_added (measured, CPU_NS, side);
    cells[TO_BYPASSED] = measured_ratio (measured, NS, side, 0);
    cells[TO_OTHER] = measured_ratio (measured, NS, side, other);
  }
  table_row (table, cells);
}

/* Two readings of the clock and nothing else, instead of requests. */
static int
measure_clocks (const struct plan *plan, struct table *table,
                const struct workload *backend, uint64_t threads)
{
  static struct measured clocks;

  measured_init (&clocks, plan, backend);
  clocks.m.job.threads = threads;
  clocks.m.job.clocks = 1;
  for (unsigned i = 0; i < plan->rounds; i++) {
    if (measured_round (&clocks, 0) == -1)
      return -1;
  }
  write_row (table, &clocks, 0, "two clocks");
  return 0;
}

static int
measure_cell (const struct plan *plan, struct table *table,
              const struct workload *backend, uint64_t threads)
{
  static struct measured measured;

  if (plan->clocks && backend == plan->backends[0]
      && measure_clocks (plan, table, backend, threads) == -1)
    return -1;
  measured_init (&measured, plan, backend);
  measured.m.job.threads = threads;
  if (measured_rounds (&measured) == -1)
    return -1;
  for (unsigned i = 0; i < plan->nr_sides; i++)
    write_row (table, &measured, i, plan->sides[i].name);
  return 0;
}

static int
rows (const struct plan *plan, struct table *table)
{
  return plan_cells (plan, table, measure_cell);
}

int
overhead_time (const struct plan *plan, struct tables *tables)
{
  struct table table = overhead_table (plan, tables, "time", columns,
                                       NR_COLUMNS);

  table.title = "A request past the filter and through it";
  return table_write (&table, plan, rows);
}
