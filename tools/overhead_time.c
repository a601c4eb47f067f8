/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_tables.h"

static const struct column columns[] = {
  { "through", NULL, "through", measured_through, NO_FIGURE, 0, false },
  { "backend", NULL, NULL, measured_backend, NO_FIGURE, 0, false },
  { "threads", NULL, "threads", measured_max, THREADS, 0, false },
  { "requests", NULL, NULL, measured_sum, REQUESTS, 0, false },
  { "per_second", NULL, NULL, measured_figure, PER_SECOND, 0, false },
  { "ns", NULL, "ns", measured_figure, NS, 1, true },
  { "added_ns", "added", "ns", measured_added, NS, 1, false },
  { "cpu_ns", NULL, "CPU ns", measured_figure, CPU_NS, 1, false },
  { "added_cpu_ns", "added", "CPU ns", measured_added, CPU_NS, 1, false },
  { "own_cpu_ns", "own", "CPU ns", measured_figure, OWN_CPU_NS, 1, false },
  { "to_bypassed", NULL, NULL, measured_to_bypassed, NS, 0, false },
  { "to_against", NULL, AGAINST, measured_to_other, NS, 3, false },
  { .key = NULL }
};

/* Or two readings of the clock and nothing else, instead of requests. */
static int
measure (const struct plan *plan, const struct workload *backend,
         struct results *results, uint64_t threads, bool clocks)
{
  static struct measured measured;

  measured_init (&measured, plan, backend);
  measured.m.job.threads = threads;
  measured.m.job.clocks = clocks;
  return results_measure (results, &measured);
}

static int
rows (const struct plan *plan, const struct workload *backend,
      struct results *results)
{
  const bool clocks = plan->clocks && backend == plan->backends[0];

  for (unsigned i = 0; i < plan->threads.count; i++) {
    const uint64_t threads = plan->threads.values[i];

    if ((clocks && measure (plan, backend, results, threads, true) == -1)
        || measure (plan, backend, results, threads, false) == -1)
      return -1;
  }
  return 0;
}

const struct measure measure_time = {
  .key = "time",
  .title = "A request past the filter and through it",
  .columns = columns,
  .each_backend = true,
  .rows = rows,
};
