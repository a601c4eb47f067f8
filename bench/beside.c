/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdio.h>
#include <string.h>

#include "beside.h"
#include "table.h"

/* What was measured beside some others. */
struct row {
  const struct plan *plan;
  struct others others;
  struct samples ns[MAX_SIDES]; /* a request */
  struct samples cpu_ns[MAX_SIDES];
};

static int
measure_one (void *arg, unsigned i)
{
  struct row *rows = arg;
  const struct plan *plan = rows->plan;
  const unsigned side = i % plan->nr_sides;
  struct row *row = &rows[i / plan->nr_sides];
  struct load load = plan_load (plan, side);
  struct timing timing;

  load.others = row->others;
  if (measure (&load, &timing) == -1)
    return -1;
  samples_add (&row->ns[side], timing.ns);
  samples_add (&row->cpu_ns[side], timing.cpu_ns);
  return 0;
}

#define NR_COLUMNS 7

static const struct column columns[NR_COLUMNS] = {
  { -10, "beside" },
  { -10, "through" },
  { 8, "ns" },
  { 17, "min..max" },
  { 8, "/ alone" },
  { 8, "CPU ns" },
  { 11, "CPU / alone" },
};

static void
print_others (char *cell, const struct others *others)
{
  if (others->count == 0)
    snprintf (cell, TABLE_CELL, "nobody");
  else
    snprintf (cell, TABLE_CELL, "%u %s", others->count,
              others->gone ? "gone" : "idle");
}

static void
print_row (const struct row *row, const struct row *alone, unsigned side)
{
  const struct samples *ns = &row->ns[side];
  const struct summary summary = samples_summary (ns);
  char cells[NR_COLUMNS][TABLE_CELL];

  print_others (cells[0], &row->others);
  snprintf (cells[1], TABLE_CELL, "%s", row->plan->sides[side].name);
  snprintf (cells[2], TABLE_CELL, "%.1f", summary.median);
  snprintf (cells[3], TABLE_CELL, "%.1f..%.1f", summary.min, summary.max);
  snprintf (cells[4], TABLE_CELL, "%.3f",
            samples_ratio (ns, &alone->ns[side]).median);
  snprintf (cells[5], TABLE_CELL, "%.1f",
            samples_summary (&row->cpu_ns[side]).median);
  snprintf (cells[6], TABLE_CELL, "%.3f",
            samples_ratio (&row->cpu_ns[side], &alone->cpu_ns[side]).median);
  table_row (columns, NR_COLUMNS, cells);
}

int
beside_table (const struct plan *plan)
{
  static struct row rows[MAX_OTHERS];

  for (unsigned i = 0; i < plan->nr_others; i++) {
    rows[i].plan = plan;
    rows[i].others = plan->others[i];
  }
  table_head (columns, NR_COLUMNS);
  if (plan_in_turn (plan, plan->nr_others * plan->nr_sides, measure_one,
                    rows) == -1)
    return -1;
  for (unsigned i = 0; i < plan->nr_others; i++) {
    for (unsigned side = 0; side < plan->nr_sides; side++)
      print_row (&rows[i], &rows[0], side);
  }
  return 0;
}
