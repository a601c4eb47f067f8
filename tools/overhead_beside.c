/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_measured.h"
#include "overhead_tables.h"

/* One beside some others each: alone, beside those who wait, and after
 * those who have gone.
 */
#define MAX_ROWS (2 * MAX_LIST + 1)
static struct measured all[MAX_ROWS];

enum { IDLE, GONE, THROUGH, TIME, TO_ALONE, CPU, CPU_TO_ALONE, NR_COLUMNS };

static const struct column columns[NR_COLUMNS] = {
  [IDLE] = { "idle", "idle", 5, 0, 0 },
  [GONE] = { "gone", "gone", 5, 0, 0 },
  [THROUGH] = { "through", "through", -10, 0, 0 },
  [TIME] = { "ns", "ns", 8, 1, 17 },
  [TO_ALONE] = { "to_alone", "/ alone", 8, 3, 0 },
  [CPU] = { "cpu_ns", "CPU ns", 8, 1, 0 },
  [CPU_TO_ALONE] = { "cpu_to_alone", "CPU / alone", 11, 3, 0 },
};

static struct cell
to_alone (const struct measured *measured, enum figure figure, unsigned side)
{
  const struct samples ratio
    = samples_ratio (&measured->figures[figure][side],
                     &all[0].figures[figure][side]);

  return cell_samples (&ratio);
}

static void
write_row (struct table *table, const struct measured *measured,
           unsigned side)
{
  const struct cell cells[NR_COLUMNS] = {
    [IDLE] = cell_number ((double) measured->m.job.idle),
    [GONE] = cell_number ((double) measured->m.job.gone),
    [THROUGH] = cell_text (measured->m.plan->sides[side].name),
    [TIME] = measured_cell (measured, NS, side),
    [TO_ALONE] = to_alone (measured, NS, side),
    [CPU] = measured_cell (measured, CPU_NS, side),
    [CPU_TO_ALONE] = to_alone (measured, CPU_NS, side),
  };

  table_row (table, cells);
}

/* Returns how many there are. */
static unsigned
init_all (const struct plan *plan)
{
  const unsigned n = 1 + plan->idle.count + plan->gone.count;

  for (unsigned i = 0; i < n; i++)
    measured_init (&all[i], plan, plan->backends[0]);
  for (unsigned i = 0; i < plan->idle.count; i++)
    all[1 + i].m.job.idle = plan->idle.values[i];
  for (unsigned i = 0; i < plan->gone.count; i++)
    all[1 + plan->idle.count + i].m.job.gone = plan->gone.values[i];
  return n;
}

static int
round_of (void *arg, unsigned i)
{
  const struct plan *plan = arg;

  return measured_round (&all[i / plan->nr_sides], i % plan->nr_sides);
}

static int
rows (const struct plan *plan, struct table *table)
{
  const unsigned n = init_all (plan);

  if (plan_in_turn (plan, n * plan->nr_sides, round_of, (void *) plan) == -1)
    return -1;
  for (unsigned i = 0; i < n; i++) {
    for (unsigned side = 0; side < plan->nr_sides; side++)
      write_row (table, &all[i], side);
  }
  return 0;
}

int
overhead_beside (const struct plan *plan, struct tables *tables)
{
  struct table table = overhead_table (plan, tables, "beside", columns,
                                       NR_COLUMNS);

  table.title = "One thread, beside others that wait and after others that "
    "have gone";
  return table_write (&table, plan, rows);
}
