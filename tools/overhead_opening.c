/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_tables.h"

/* So many connections at once, and requests of each of their threads. */
#define CONNECTIONS 200
#define REQUESTS 10

struct measured {
  struct measurement m;         /* but for the side */
  struct samples all_ms[MAX_SIDES]; /* until all have been sent */
  struct samples first_us[MAX_SIDES]; /* longest of a thread's first ones */
  struct samples first_cpu_us[MAX_SIDES];
};

static int
measure_one (void *arg, unsigned side)
{
  struct measured *measured = arg;
  struct measurement m = measured->m;
  struct result result;
  const struct timing *timing = &result.timing;

  m.side = &m.plan->sides[side];
  if (serve (&m, &result) == -1)
    return -1;
  samples_add (&measured->all_ms[side], timing->all_ns / 1e6);
  samples_add (&measured->first_us[side],
               (double) timing->first.time / 1000);
  samples_add (&measured->first_cpu_us[side],
               (double) timing->first.cpu / 1000);
  return 0;
}

enum { THREADS, THROUGH, MS, TO_BYPASSED, FIRST_CPU, FIRST, NR_COLUMNS };

static const struct column columns[NR_COLUMNS] = {
  [THREADS] = { "threads", "threads", 7, 0, 0 },
  [THROUGH] = { "through", "through", -10, 0, 0 },
  [MS] = { "ms", "ms", 8, 1, 15 },
  [TO_BYPASSED] = { "to_bypassed", "/ bypassed", 10, 3, 0 },
  [FIRST_CPU] = { "first_cpu_us", "first CPU us", 12, 0, 0 },
  [FIRST] = { "first_us", "first us", 8, 0, 0 },
};

static void
write_row (struct table *table, const struct measured *measured,
           unsigned side)
{
  const struct samples *ms = measured->all_ms;
  const struct samples to_bypassed = samples_ratio (&ms[side], &ms[0]);
  const struct cell cells[NR_COLUMNS] = {
    [THREADS] = cell_number ((double) measured->m.job.threads),
    [THROUGH] = cell_text (measured->m.plan->sides[side].name),
    [MS] = cell_samples (&ms[side]),
    [TO_BYPASSED] = cell_samples (&to_bypassed),
    [FIRST_CPU] = cell_number (samples_max (&measured->first_cpu_us[side])),
    [FIRST] = cell_number (samples_max (&measured->first_us[side])),
  };

  table_row (table, cells);
}

static int
rows (const struct plan *plan, struct table *table)
{
  struct measured measured = {
    .m = {
      .plan = plan, .backend = plan->backends[0], .job = plan_job (plan),
    },
  };
  struct job *job = &measured.m.job;

  job->threads = CONNECTIONS * job->sharing;
  if (job->threads > MAX_THREADS)
    job->threads = MAX_THREADS;
  job->requests = REQUESTS;
  job->watch = job->at_once = 1;
  if (plan_in_turn (plan, plan->nr_sides, measure_one, &measured) == -1)
    return -1;
  for (unsigned i = 0; i < plan->nr_sides; i++)
    write_row (table, &measured, i);
  return 0;
}

int
overhead_opening (const struct plan *plan, struct tables *tables)
{
  struct table table = {
    .tables = tables, .key = "opening",
    .title = "Many connections at once",
    .columns = columns, .nr_columns = NR_COLUMNS,
  };

  return table_write (&table, plan, rows);
}
