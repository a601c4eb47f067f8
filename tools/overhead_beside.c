/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_tables.h"

/* One beside some others each: alone, beside those who wait, and after
 * those who have gone.
 */
#define MAX_ROWS (2 * MAX_LIST + 1)
static struct measured all[MAX_ROWS];

static struct cell
to_alone (const struct measured *measured, unsigned side, enum figure figure)
{
  return measured_ratio (measured, side, &all[0], side, figure);
}

static const struct column columns[] = {
  { "through", NULL, "through", measured_through, NO_FIGURE, 0, false },
  { "idle", NULL, "idle", measured_max, IDLE, 0, false },
  { "gone", NULL, "gone", measured_max, GONE, 0, false },
  { "ns", NULL, "ns", measured_figure, NS, 1, true },
  { "to_alone", NULL, "/ alone", to_alone, NS, 3, false },
  { "cpu_ns", NULL, "CPU ns", measured_figure, CPU_NS, 1, false },
  { "cpu_to_alone", NULL, "/ alone", to_alone, CPU_NS, 3, false },
  { .key = NULL }
};

/* Returns how many there are. */
static unsigned
init_all (const struct plan *plan, const struct workload *backend)
{
  const unsigned n = 1 + plan->idle.count + plan->gone.count;

  for (unsigned i = 0; i < n; i++)
    measured_init (&all[i], plan, backend);
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
rows (const struct plan *plan, const struct workload *backend,
      struct results *results)
{
  const unsigned n = init_all (plan, backend);

  if (plan_in_turn (plan, n * plan->nr_sides, round_of, (void *) plan) == -1)
    return -1;
  for (unsigned i = 0; i < n; i++)
    results_rows (results, &all[i]);
  return 0;
}

const struct measure measure_beside = {
  .key = "beside",
  .title = "One thread, beside others that wait or have gone",
  .columns = columns,
  .needs_threads = true,
  .rows = rows,
};
