/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_measured.h"
#include "overhead_tables.h"

/* So many connections at once, and requests of each of their threads. */
#define CONNECTIONS 200
#define THREAD_REQUESTS 10

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
  const struct cell cells[NR_COLUMNS] = {
    [THREADS] = cell_number ((double) measured->m.job.threads),
    [THROUGH] = cell_text (measured->m.plan->sides[side].name),
    [MS] = measured_cell (measured, ALL_MS, side),
    [TO_BYPASSED] = measured_ratio (measured, ALL_MS, side, 0),
    [FIRST_CPU] = measured_max (measured, FIRST_CPU_US, side),
    [FIRST] = measured_max (measured, FIRST_US, side),
  };

  table_row (table, cells);
}

static int
rows (const struct plan *plan, struct table *table)
{
  static struct measured measured;
  struct job *job = &measured.m.job;

  measured_init (&measured, plan, plan->backends[0]);
  job->threads = CONNECTIONS * job->sharing;
  if (job->threads > MAX_THREADS)
    job->threads = MAX_THREADS;
  job->requests = THREAD_REQUESTS;
  job->watch = job->at_once = 1;
  if (measured_rounds (&measured) == -1)
    return -1;
  for (unsigned i = 0; i < plan->nr_sides; i++)
    write_row (table, &measured, i);
  return 0;
}

int
overhead_opening (const struct plan *plan, struct tables *tables)
{
  struct table table = overhead_table (plan, tables, "opening", columns,
                                       NR_COLUMNS);

  table.title = "Many connections at once";
  return table_write (&table, plan, rows);
}
