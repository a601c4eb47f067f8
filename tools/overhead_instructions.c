/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_tables.h"

/* Requests of two runs: what start and end take is in both. */
#define FEW 20000
#define MANY 40000

enum { THROUGH, INSTRUCTIONS, ADDED, TO_OTHER, NR_COLUMNS };

static const struct column columns[NR_COLUMNS] = {
  [THROUGH] = { "through", "through", -10, 0, 0 },
  [INSTRUCTIONS] = { "instructions", "instructions", 12, 1, 0 },
  [ADDED] = { "added_instructions", "added", 8, 1, 0 },
  [TO_OTHER] = { "to_against", "/ against", 10, 3, 0 },
};

static int
count (const struct plan *plan, const struct side *side, double *figure)
{
  struct measurement m = {
    .plan = plan, .side = side, .backend = plan->backends[0],
    .job = plan_job (plan),
  };
  uint64_t few, many;

  m.job.requests = FEW;
  if (serve_counted (&m, &few) == -1)
    return -1;
  m.job.requests = MANY;
  if (serve_counted (&m, &many) == -1)
    return -1;
  *figure = ((double) many - (double) few) / (MANY - FEW);
  return 0;
}

static void
write_row (const struct plan *plan, struct table *table, const double *counts,
           unsigned side)
{
  const double added = counts[side] - counts[0];
  struct cell cells[NR_COLUMNS] = {
    [THROUGH] = cell_text (plan->sides[side].name),
    [INSTRUCTIONS] = cell_number (counts[side]),
  };

  if (side != 0) {
    cells[ADDED] = cell_number (added);
    cells[TO_OTHER]
      = cell_number (added / (counts[plan_other (plan)] - counts[0]));
  }
  table_row (table, cells);
}

static int
rows (const struct plan *plan, struct table *table)
{
  double counts[MAX_SIDES];

  for (unsigned i = 0; i < plan->nr_sides; i++) {
    if (count (plan, &plan->sides[i], &counts[i]) == -1)
      return -1;
  }
  for (unsigned i = 0; i < plan->nr_sides; i++)
    write_row (plan, table, counts, i);
  return 0;
}

int
overhead_instructions (const struct plan *plan, struct tables *tables)
{
  struct table table = overhead_table (plan, tables, "instructions", columns,
                                       NR_COLUMNS);

  table.title = "Instructions a request";
  return table_write (&table, plan, rows);
}
