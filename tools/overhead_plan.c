/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdio.h>

#include <nbdkit-filter.h>

#include "overhead_plan.h"

struct job
plan_job (const struct plan *plan)
{
  return (struct job) {
    .threads = 1,
    .sharing = plan->sharing,
    .writes = plan->writes,
    .pin = plan->pin,
    .duration = plan->duration,
  };
}

unsigned
plan_other (const struct plan *plan)
{
  return plan->nr_sides > 2 ? 2 : 1;
}

uint64_t
plan_threads (const struct plan *plan, uint64_t threads, uint64_t sharing)
{
  switch (plan->thread_model) {
  case NBDKIT_THREAD_MODEL_PARALLEL:
    return threads;
  case NBDKIT_THREAD_MODEL_SERIALIZE_REQUESTS:
    return sharing == 1 ? threads : 1;
  default:
    return 1;
  }
}

int
plan_in_turn (const struct plan *plan, unsigned count,
              int (*fn) (void *arg, unsigned i), void *arg)
{
  for (unsigned round = 0; round < plan->rounds; round++) {
    for (unsigned i = 0; i < count; i++) {
      /* If nobody reads what comes out, that is enough. */
      if (ferror (stdout) || fn (arg, (i + round) % count) == -1)
        return -1;
    }
  }
  return 0;
}
