/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Job files become cases and cells. */

#ifndef TOOLS_BENCH_JOB_H
#define TOOLS_BENCH_JOB_H

#include <stdint.h>

#include "bench.h"
#include "bench_environment.h"

/* What the command line says of all jobs. */
struct job_options {
  const struct environments *environments;      /* none: the job's own */
  const char *filter;           /* --filter, or NULL */
  uint64_t runs;                /* --runs, or 0 */
};

/* Read the job that the name stands for: a path, or one that comes with
 * us.  Returns -1 after telling what is wrong; bench_job_free is called at
 * the end in any case.
 */
extern int bench_job_read (struct bench_job *job, const char *name,
                           const struct job_options *options);
extern void bench_job_free (struct bench_job *job);

/* A line for each job that comes with us.  Returns an exit status. */
extern int bench_list_jobs (void);

#endif /* TOOLS_BENCH_JOB_H */
