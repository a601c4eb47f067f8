/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdio.h>
#include <string.h>

#include "opening.h"
#include "table.h"

/* Requests of each thread, unless the plan says how many. */
#define REQUESTS 10

struct measured {
  const struct plan *plan;
  struct samples all_ms[MAX_SIDES]; /* until all have been sent */
  struct samples first_us[MAX_SIDES]; /* longest of a thread's first ones */
  struct samples first_cpu_us[MAX_SIDES];
};

static int
measure_one (void *arg, unsigned side)
{
  struct measured *measured = arg;
  struct load load = plan_load (measured->plan, side);
  struct timing timing;

  load.watch = load.at_once = true;
  if (load.requests == 0)
    load.requests = REQUESTS;
  if (measure (&load, &timing) == -1)
    return -1;
  samples_add (&measured->all_ms[side], timing.all_ns / 1e6);
  samples_add (&measured->first_us[side], (double) timing.first.time / 1000);
  samples_add (&measured->first_cpu_us[side],
               (double) timing.first.cpu / 1000);
  return 0;
}

#define NR_COLUMNS 6

static const struct column columns[NR_COLUMNS] = {
  { -10, "through" },
  { 8, "ms" },
  { 15, "min..max" },
  { 10, "/ bypassed" },
  { 12, "first CPU us" },
  { 8, "first us" },
};

static void
print_row (const struct measured *measured, unsigned side)
{
  const struct samples *ms = &measured->all_ms[side];
  const struct summary summary = samples_summary (ms);
  char cells[NR_COLUMNS][TABLE_CELL];

  snprintf (cells[0], TABLE_CELL, "%s", measured->plan->sides[side].name);
  snprintf (cells[1], TABLE_CELL, "%.1f", summary.median);
  snprintf (cells[2], TABLE_CELL, "%.1f..%.1f", summary.min, summary.max);
  snprintf (cells[3], TABLE_CELL, "%.3f",
            samples_ratio (ms, &measured->all_ms[0]).median);
  snprintf (cells[4], TABLE_CELL, "%.0f",
            samples_summary (&measured->first_cpu_us[side]).max);
  snprintf (cells[5], TABLE_CELL, "%.0f",
            samples_summary (&measured->first_us[side]).max);
  table_row (columns, NR_COLUMNS, cells);
}

int
opening_table (const struct plan *plan)
{
  struct measured measured = { .plan = plan };

  table_head (columns, NR_COLUMNS);
  if (plan_in_turn (plan, plan->nr_sides, measure_one, &measured) == -1)
    return -1;
  for (unsigned i = 0; i < plan->nr_sides; i++)
    print_row (&measured, i);
  return 0;
}
