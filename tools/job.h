/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What a job file means: cases, environments, and what each of their cells
 * runs.
 *
 * [global] holds for all cases, [environment NAME] is a column, and any
 * other section is a case, a row.  A name in lower case is one of the keys
 * below; one in upper case is a variable.  ${NAME} is the value of either:
 * the environment's before the case's before the global one.  In its own
 * value a name stands for what it would be without, so that an environment
 * can add to a command.
 *
 * No threads.  What returns -1 has told what is wrong, with file and line.
 */

#ifndef TOOLS_JOB_H
#define TOOLS_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "job_file.h"

struct job {
  struct job_file file;
  char *name;                   /* the path's last part without ".job" */
  const struct section *global; /* or NULL */
  struct section **cases;
  size_t nr_cases;

  /* Those of the file.  The names are without "environment". */
  struct environment {
    const char *name;
    struct section *settings;
  } *environments;
  size_t nr_environments;
};

/* At the end job_free is called, even after a failure. */
extern int job_read (struct job *job, const char *path);
extern int job_parse (struct job *job, const char *path, const char *text,
                      size_t size);
extern void job_free (struct job *job);

/* Whether an environment may set this: a key, or a variable of the job. */
extern bool job_knows (const struct job *job, const char *name);

/* The job's own description, or an empty string. */
extern const char *job_description (const struct job *job);

/* What one environment does in one case.  Strings are NULL where nothing is
 * set; all belong to the cell.
 */
struct cell_plan {
  const char *case_name;
  const char *environment;
  char *description;
  char *prepare;                /* shell commands */
  char *client;
  char *cleanup;
  char *nbdkit;                 /* arguments, as a shell takes them */
  char *nbdkit_program;
  char *filter;                 /* the path of the stats filter */
  char *version;                /* a command that tells the client's version */
  uint64_t runs;
  uint64_t warmup;
  uint64_t timeout_ns;
  bool asks;                    /* asked is known */
  uint64_t asked;               /* bytes that the client asks for in a run */
};

#define DEFAULT_RUNS 5
#define MAX_RUNS 1000
#define DEFAULT_TIMEOUT_NS 600000000000

extern int job_plan (const struct job *job, const struct section *row,
                     const struct environment *column,
                     struct cell_plan *plan);
extern void cell_plan_free (struct cell_plan *plan);

#endif /* TOOLS_JOB_H */
