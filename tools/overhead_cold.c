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
  { "walked_bytes", NULL, "walked", measured_max, WALKED, 0, false },
  { "requests", NULL, NULL, measured_sum, REQUESTS, 0, false },
  { "in_filter_ns", NULL, "mean", measured_figure, IN_FILTER_NS, 1, false },
  { "added_ns", "added", "mean", measured_added, IN_FILTER_NS, 1, false },
  { "to_against", NULL, NULL, measured_added_to_other, IN_FILTER_NS, 0,
    false },
  { "median_ns", NULL, "median", measured_figure, MEDIAN_NS, 1, true },
  { "added_median_ns", "added", "median", measured_added, MEDIAN_NS, 1,
    false },
  { "median_to_against", NULL, AGAINST, measured_added_to_other, MEDIAN_NS, 3,
    false },
  { .key = NULL }
};

/* Where nothing is walked the caches are warm. */
static int
rows (const struct plan *plan, const struct workload *backend,
      struct results *results)
{
  static struct measured measured;

  for (unsigned i = 0; i < plan->cold.count; i++) {
    measured_init (&measured, plan, backend);
    measured.m.job.clocked = 1;
    measured.m.job.cold = plan->cold.values[i];
    if (results_measure (results, &measured) == -1)
      return -1;
  }
  return 0;
}

const struct measure measure_cold = {
  .key = "cold",
  .title = "Nanoseconds in the filter alone, where caches are warm and cold",
  .columns = columns,
  .rows = rows,
};
