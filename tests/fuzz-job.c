/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* For libFuzzer: whatever a job file holds, it is read and planned, or
 * refused.  "make fuzz-job" builds it, with clang and CFLAGS that have
 * -fsanitize=fuzzer-no-link.
 */

#include <config.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "job.h"

extern int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
plan_all (const struct job *job)
{
  for (size_t c = 0; c < job->nr_cases; c++) {
    for (size_t e = 0; e <= job->nr_environments; e++) {
      const struct environment *column
        = e < job->nr_environments ? &job->environments[e] : NULL;
      struct cell_plan plan;

      if (job_plan (job, job->cases[c], column, &plan) == 0)
        cell_plan_free (&plan);
    }
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  struct job job;

  if (job_parse (&job, "fuzz", (const char *) data, size) == 0)
    plan_all (&job);
  job_free (&job);
  return 0;
}
