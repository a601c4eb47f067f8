/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_tables.h"

/* So many connections at once, and requests of each of their threads. */
#define CONNECTIONS 200
#define THREAD_REQUESTS 10

static const struct column columns[] = {
  { "through", NULL, "through", measured_through, NO_FIGURE, 0, false },
  { "threads", NULL, "threads", measured_max, THREADS, 0, false },
  { "ms", NULL, "ms", measured_figure, ALL_MS, 1, true },
  { "to_bypassed", NULL, "/ bypassed", measured_to_bypassed, ALL_MS, 3,
    false },
  { "first_us", "first", "us", measured_max, FIRST_US, 0, false },
  { "first_cpu_us", "first", "CPU us", measured_max, FIRST_CPU_US, 0, false },
  { .key = NULL }
};

static int
rows (const struct plan *plan, const struct workload *backend,
      struct results *results)
{
  static struct measured measured;
  struct job *job = &measured.m.job;

  measured_init (&measured, plan, backend);
  job->threads = CONNECTIONS * job->sharing;
  if (job->threads > MAX_THREADS)
    job->threads = MAX_THREADS;
  job->requests = THREAD_REQUESTS;
  job->watch = job->at_once = 1;
  return results_measure (results, &measured);
}

const struct measure measure_opening = {
  .key = "opening",
  .title = "Many connections at once",
  .columns = columns,
  .needs_threads = true,
  .rows = rows,
};
