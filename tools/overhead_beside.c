/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_tables.h"

/* What was measured beside some others. */
struct row {
  struct measurement m;         /* but for the side */
  struct samples ns[MAX_SIDES]; /* a request */
  struct samples cpu_ns[MAX_SIDES];
};

#define MAX_ROWS (2 * MAX_LIST + 1)

static int
measure_one (void *arg, unsigned i)
{
  struct row *all = arg;
  const unsigned nr_sides = all[0].m.plan->nr_sides, side = i % nr_sides;
  struct row *row = &all[i / nr_sides];
  struct measurement m = row->m;
  struct result result;

  m.side = &m.plan->sides[side];
  if (serve (&m, &result) == -1)
    return -1;
  samples_add (&row->ns[side], result.timing.ns);
  samples_add (&row->cpu_ns[side], result.timing.cpu_ns);
  return 0;
}

enum { IDLE, GONE, THROUGH, NS, TO_ALONE, CPU, CPU_TO_ALONE, NR_COLUMNS };

static const struct column columns[NR_COLUMNS] = {
  [IDLE] = { "idle", "idle", 5, 0, 0 },
  [GONE] = { "gone", "gone", 5, 0, 0 },
  [THROUGH] = { "through", "through", -10, 0, 0 },
  [NS] = { "ns", "ns", 8, 1, 17 },
  [TO_ALONE] = { "to_alone", "/ alone", 8, 3, 0 },
  [CPU] = { "cpu_ns", "CPU ns", 8, 1, 0 },
  [CPU_TO_ALONE] = { "cpu_to_alone", "CPU / alone", 11, 3, 0 },
};

static void
write_row (struct table *table, const struct row *row,
           const struct row *alone, unsigned side)
{
  const struct samples to_alone
    = samples_ratio (&row->ns[side], &alone->ns[side]);
  const struct samples cpu_to_alone
    = samples_ratio (&row->cpu_ns[side], &alone->cpu_ns[side]);
  const struct cell cells[NR_COLUMNS] = {
    [IDLE] = cell_number ((double) row->m.job.idle),
    [GONE] = cell_number ((double) row->m.job.gone),
    [THROUGH] = cell_text (row->m.plan->sides[side].name),
    [NS] = cell_samples (&row->ns[side]),
    [TO_ALONE] = cell_samples (&to_alone),
    [CPU] = cell_samples (&row->cpu_ns[side]),
    [CPU_TO_ALONE] = cell_samples (&cpu_to_alone),
  };

  table_row (table, cells);
}

/* The rows to measure: alone, beside those who wait, and after those who
 * have gone.  Returns how many.
 */
static unsigned
make_rows (const struct plan *plan, struct row *all)
{
  unsigned n = 0;

  for (unsigned i = 0; i < 1 + plan->idle.count + plan->gone.count; i++)
    all[i] = (struct row) {
      .m = { .plan = plan, .backend = plan->backends[0],
             .job = plan_job (plan) },
    };
  n++;
  for (unsigned i = 0; i < plan->idle.count; i++)
    all[n++].m.job.idle = plan->idle.values[i];
  for (unsigned i = 0; i < plan->gone.count; i++)
    all[n++].m.job.gone = plan->gone.values[i];
  return n;
}

static int
rows (const struct plan *plan, struct table *table)
{
  static struct row all[MAX_ROWS];
  const unsigned n = make_rows (plan, all);

  if (plan_in_turn (plan, n * plan->nr_sides, measure_one, all) == -1)
    return -1;
  for (unsigned i = 0; i < n; i++) {
    for (unsigned side = 0; side < plan->nr_sides; side++)
      write_row (table, &all[i], &all[0], side);
  }
  return 0;
}

int
overhead_beside (const struct plan *plan, struct tables *tables)
{
  struct table table = {
    .tables = tables, .key = "beside",
    .title = "One thread, beside others that wait and after others that "
      "have gone",
    .columns = columns, .nr_columns = NR_COLUMNS,
  };

  return table_write (&table, plan, rows);
}
