/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A benchmark: jobs with cases, environments, and what came of them.
 *
 *   bench.c            the command line, and the order of things
 *   bench_environment  --env
 *   bench_job          makes cases and cells of job files
 *   bench_runner       runs all cells in turn
 *   bench_summary      what the runs of a cell prove
 *   bench_table        as text
 *   bench_file         as JSON, and read back for --resume
 *   bench_system       on what it ran
 */

#ifndef TOOLS_BENCH_H
#define TOOLS_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "bench_summary.h"
#include "bench_system.h"
#include "job.h"
#include "run.h"

struct cell {
  struct cell_plan plan;
  struct run *runs;             /* those that count */
  size_t nr_runs;
  char *failure;                /* why there are not as many as planned */

  /* What is needed to repeat it, or NULL where it could not be found out. */
  char *nbdkit_version;
  char *client_version;
  struct json_object *export;          /* what nbdinfo said of it */

  struct cell_summary summary;
};

struct bench_case {
  const char *name;
  struct cell *cells;           /* one for each environment of the job */
  struct cell_comparison *comparisons;       /* of each with the first */
};

struct bench_job {
  struct job job;
  struct environment *environments;
  size_t nr_environments;       /* at least 1 */
  struct bench_case *cases;
  size_t nr_cases;
};

struct bench {
  struct bench_job *jobs;
  size_t nr_jobs;
  struct system system;
  struct json_object *earlier;  /* systems of what was resumed, or NULL */
  char *const *argv;            /* as it was started */
  const char *images;           /* --directory, or NULL */
  const char *output;           /* --output, or NULL */
};

/* Of each case, cell or comparison of a bench, with names for what it is
 * in: loops for the block that follows, without break.
 */
#define FOR_EACH_CASE(bench, j, c)                                        \
  for (struct bench_job *j = (bench)->jobs;                               \
       j < (bench)->jobs + (bench)->nr_jobs; j++)                         \
    for (struct bench_case *c = j->cases; c < j->cases + j->nr_cases; c++)

#define FOR_EACH_CELL(bench, j, c, each)                                  \
  FOR_EACH_CASE (bench, j, c)                                             \
    for (struct cell *each = c->cells;                                    \
         each < c->cells + j->nr_environments; each++)

#define FOR_EACH_COMPARISON(bench, j, c, comparison)                      \
  FOR_EACH_CASE (bench, j, c)                                             \
    for (struct cell_comparison *comparison = c->comparisons + 1;              \
         comparison < c->comparisons + j->nr_environments; comparison++)

#endif /* TOOLS_BENCH_H */
