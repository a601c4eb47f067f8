/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_measured.h"
#include "overhead_tables.h"

enum {
  BACKEND, WALKED, THROUGH, SENT, MEAN, ADDED, TO_OTHER, MEDIAN,
  ADDED_MEDIAN, MEDIAN_TO_OTHER, NR_COLUMNS,
};

static const struct column columns[NR_COLUMNS] = {
  [BACKEND] = { "backend", "backend", -10, 0, 0 },
  [WALKED] = { "walked_bytes", "walked", 8, 0, 0 },
  [THROUGH] = { "through", "through", -10, 0, 0 },
  [SENT] = { "requests", NULL, 0, 0, 0 },
  [MEAN] = { "in_filter_ns", "in filter", 9, 1, IN_PERCENT },
  [ADDED] = { "added_ns", "added ns", 8, 1, 0 },
  [TO_OTHER] = { "to_against", NULL, 0, 0, 0 },
  [MEDIAN] = { "median_ns", "median", 8, 1, IN_PERCENT },
  [ADDED_MEDIAN] = { "added_median_ns", "added", 8, 1, 0 },
  [MEDIAN_TO_OTHER] = { "median_to_against", "/ against", 8, 3, 0 },
};

static void
write_row (struct table *table, const struct measured *measured,
           unsigned side)
{
  struct cell cells[NR_COLUMNS] = {
    [BACKEND] = cell_text (measured->m.backend->name),
    [WALKED] = cell_number ((double) measured->m.job.cold),
    [THROUGH] = cell_text (measured->m.plan->sides[side].name),
    [SENT] = measured_sum (measured, REQUESTS, side),
    [MEAN] = measured_cell (measured, IN_FILTER_NS, side),
    [MEDIAN] = measured_cell (measured, MEDIAN_NS, side),
  };

  if (side != 0) {
    cells[ADDED] = measured_added (measured, IN_FILTER_NS, side);
    cells[TO_OTHER] = measured_added_ratio (measured, IN_FILTER_NS, side);
    cells[ADDED_MEDIAN] = measured_added (measured, MEDIAN_NS, side);
    cells[MEDIAN_TO_OTHER] = measured_added_ratio (measured, MEDIAN_NS,
                                                   side);
  }
  table_row (table, cells);
}

/* Where nothing is walked the caches are warm. */
static int
measure_size (const struct plan *plan, struct table *table, uint64_t walked)
{
  static struct measured measured;

  measured_init (&measured, plan, plan->backends[0]);
  measured.m.job.clocked = 1;
  measured.m.job.cold = walked;
  if (measured_rounds (&measured) == -1)
    return -1;
  for (unsigned i = 0; i < plan->nr_sides; i++)
    write_row (table, &measured, i);
  return 0;
}

static int
rows (const struct plan *plan, struct table *table)
{
  for (unsigned i = 0; i < plan->cold.count; i++) {
    if (measure_size (plan, table, plan->cold.values[i]) == -1)
      return -1;
  }
  return 0;
}

int
overhead_cold (const struct plan *plan, struct tables *tables)
{
  struct table table = overhead_table (plan, tables, "cold", columns,
                                       NR_COLUMNS);

  table.title = "The filter alone, where caches are warm and where they are "
    "cold";
  return table_write (&table, plan, rows);
}
