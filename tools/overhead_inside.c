/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_tables.h"

/* Reading the clocks is in all figures: what is added is without. */
static const struct column columns[] = {
  { "through", NULL, "through", measured_through, NO_FIGURE, 0, false },
  { "backend", NULL, NULL, measured_backend, NO_FIGURE, 0, false },
  { "threads", NULL, "threads", measured_max, THREADS, 0, false },
  { "cpu_ns", NULL, NULL, measured_figure, CPU_NS, 0, false },
  { "in_filter_ns", "in", "filter", measured_figure, IN_FILTER_CPU_NS, 1,
    true },
  { "added_ns", "added", "ns", measured_added, IN_FILTER_CPU_NS, 1, false },
  { "own_cpu_ns", "own", "CPU", measured_figure, OWN_CPU_NS, 1, false },
  { "longest_us", "longest", "us", measured_max, LONGEST_US, 0, false },
  { "longest_cpu_us", "longest", "CPU us", measured_max, LONGEST_CPU_US, 0,
    false },
  { "to_against", NULL, AGAINST, measured_added_to_other, IN_FILTER_CPU_NS, 3,
    false },
  { .key = NULL }
};

static int
rows (const struct plan *plan, const struct workload *backend,
      struct results *results)
{
  static struct measured measured;

  for (unsigned i = 0; i < plan->threads.count; i++) {
    measured_init (&measured, plan, backend);
    measured.m.job.threads = plan->threads.values[i];
    measured.m.job.watch = 1;
    if (results_measure (results, &measured) == -1)
      return -1;
  }
  return 0;
}

const struct measure measure_inside = {
  .key = "inside",
  .title = "What a request takes in the filter alone",
  .columns = columns,
  .each_backend = true,
  .rows = rows,
};
