/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_tables.h"

/* What was measured with one size of what is walked; none is warm. */
struct measured {
  struct measurement m;         /* but for the side */
  struct samples ns[MAX_SIDES]; /* a request, in the filter */
  struct samples median_ns[MAX_SIDES]; /* of all requests of a round */
};

static int
measure_one (void *arg, unsigned side)
{
  struct measured *measured = arg;
  struct measurement m = measured->m;
  struct result result;

  m.side = &m.plan->sides[side];
  if (serve (&m, &result) == -1)
    return -1;
  samples_add (&measured->ns[side], result.timing.inside_ns);
  samples_add (&measured->median_ns[side], result.timing.inside_median_ns);
  return 0;
}

enum {
  BACKEND, WALKED, THROUGH, NS, ADDED, TO_OTHER, MEDIAN, ADDED_MEDIAN,
  MEDIAN_TO_OTHER, NR_COLUMNS,
};

static const struct column columns[NR_COLUMNS] = {
  [BACKEND] = { "backend", "backend", -10, 0, 0 },
  [WALKED] = { "walked_bytes", "walked", 8, 0, 0 },
  [THROUGH] = { "through", "through", -10, 0, 0 },
  [NS] = { "in_filter_ns", "in filter", 9, 1, IN_PERCENT },
  [ADDED] = { "added_ns", "added ns", 8, 1, 0 },
  [TO_OTHER] = { "to_against", NULL, 0, 0, 0 },
  [MEDIAN] = { "median_ns", "median", 8, 1, IN_PERCENT },
  [ADDED_MEDIAN] = { "added_median_ns", "added", 8, 1, 0 },
  [MEDIAN_TO_OTHER] = { "median_to_against", "/ against", 8, 3, 0 },
};

/* What a filter adds, and how that compares to the other one. */
static void
add_comparison (const struct samples *ns, unsigned side, unsigned other,
                struct cell *added, struct cell *to_other)
{
  const struct samples more = samples_less (&ns[side], &ns[0]);
  const struct samples base = samples_less (&ns[other], &ns[0]);
  const struct samples ratio = samples_ratio (&more, &base);

  *added = cell_samples (&more);
  *to_other = cell_samples (&ratio);
}

static void
write_row (struct table *table, const struct measured *measured,
           unsigned side)
{
  const struct plan *plan = measured->m.plan;
  const unsigned other = plan_other (plan);
  struct cell cells[NR_COLUMNS] = {
    [BACKEND] = cell_text (measured->m.backend->name),
    [WALKED] = cell_number ((double) measured->m.job.cold),
    [THROUGH] = cell_text (plan->sides[side].name),
    [NS] = cell_samples (&measured->ns[side]),
    [MEDIAN] = cell_samples (&measured->median_ns[side]),
  };

  if (side != 0) {
    add_comparison (measured->ns, side, other, &cells[ADDED],
                    &cells[TO_OTHER]);
    add_comparison (measured->median_ns, side, other, &cells[ADDED_MEDIAN],
                    &cells[MEDIAN_TO_OTHER]);
  }
  table_row (table, cells);
}

static int
measure_cell (const struct plan *plan, struct table *table, uint64_t walked)
{
  struct measured measured = {
    .m = {
      .plan = plan, .backend = plan->backends[0], .job = plan_job (plan),
    },
  };

  measured.m.job.clocked = 1;
  measured.m.job.cold = walked;
  if (plan_in_turn (plan, plan->nr_sides, measure_one, &measured) == -1)
    return -1;
  for (unsigned i = 0; i < plan->nr_sides; i++)
    write_row (table, &measured, i);
  return 0;
}

static int
rows (const struct plan *plan, struct table *table)
{
  for (unsigned i = 0; i < plan->cold.count; i++) {
    if (measure_cell (plan, table, plan->cold.values[i]) == -1)
      return -1;
  }
  return 0;
}

int
overhead_cold (const struct plan *plan, struct tables *tables)
{
  struct table table = overhead_table (plan, tables, columns, NR_COLUMNS);

  table.key = "cold";
  table.title = "The filter alone, where caches are warm and where they are "
    "cold";
  return table_write (&table, plan, rows);
}
