/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_job.h"
#include "errors.h"
#include "files.h"
#include "installed.h"
#include "json_values.h"
#include "memory.h"

#define SUFFIX ".job"

/* Where the file is that the user means; NULL after telling that there is
 * none.
 */
static char *
find_job (const char *name)
{
  char *directory, *path;

  if (strchr (name, '/') || access (name, F_OK) == 0)
    return copy_string (name);
  directory = installed_jobs ();
  path = format_string ("%s/%s" SUFFIX, directory, name);
  free (directory);
  if (access (path, F_OK) == 0)
    return path;
  free (path);
  tell_error_at (name, 0, "there is no such file, and no installed job of that "
                 "name; --list tells which there are");
  return NULL;
}

static char *
make_absolute (char *path)
{
  char *absolute = absolute_path (path);

  free (path);
  return absolute;
}

/* What is not set has a default that is no matter of the job. */
static void
complete (struct cell_plan *plan, const struct job_options *options)
{
  const char *nbdkit = getenv ("NBDKIT");

  if (options->runs)
    plan->runs = options->runs;
  if (plan->nbdkit_program == NULL)
    plan->nbdkit_program = copy_string (nbdkit && *nbdkit ? nbdkit : "nbdkit");
  if (plan->filter == NULL)
    plan->filter = options->filter ? copy_string (options->filter)
      : installed_filter ();
  /* nbdkit runs in another directory than we do. */
  plan->filter = make_absolute (plan->filter);
  if (strchr (plan->nbdkit_program, '/'))
    plan->nbdkit_program = make_absolute (plan->nbdkit_program);
}

static int
plan_cell (struct cell *cell, const struct job *job,
           const struct section *row, const struct environment *column,
           const struct job_options *options)
{
  if (job_plan (job, row, column, &cell->plan) == -1)
    return -1;
  complete (&cell->plan, options);
  if (access (cell->plan.filter, R_OK) == 0)
    return 0;
  tell_error ("%s: %m (--filter=FILE names the stats filter)",
              cell->plan.filter);
  return -1;
}

/* One column for a job that has none. */
static void
choose_environments (struct bench_job *job, const struct job_options *options)
{
  static struct section nothing;
  static struct environment only = { "", &nothing };

  job->environments = &only;
  job->nr_environments = 1;
  if (options->environments->nr) {
    job->environments = options->environments->list;
    job->nr_environments = options->environments->nr;
  }
  else if (job->job.nr_environments) {
    job->environments = job->job.environments;
    job->nr_environments = job->job.nr_environments;
  }
}

static int
plan_case (struct bench_job *job, struct bench_case *c,
           const struct section *row, const struct job_options *options)
{
  c->name = row->name;
  c->cells = get_memory (job->nr_environments, sizeof *c->cells);
  c->comparisons = get_memory (job->nr_environments, sizeof *c->comparisons);
  for (size_t e = 0; e < job->nr_environments; e++) {
    if (plan_cell (&c->cells[e], &job->job, row, &job->environments[e],
                   options) == -1)
      return -1;
  }
  return 0;
}

int
bench_job_read (struct bench_job *job, const char *name,
                const struct job_options *options)
{
  char *path = find_job (name);
  int r;

  *job = (struct bench_job) { .nr_cases = 0 };
  if (path == NULL)
    return -1;
  r = job_read (&job->job, path);
  free (path);
  if (r == -1 || environments_check (options->environments, &job->job) == -1)
    return -1;
  choose_environments (job, options);
  job->cases = get_memory (job->job.nr_cases, sizeof *job->cases);
  for (size_t i = 0; i < job->job.nr_cases; i++) {
    if (plan_case (job, &job->cases[job->nr_cases++], job->job.cases[i],
                   options) == -1)
      return -1;
  }
  return 0;
}

static void
cell_free (struct cell *cell)
{
  cell_plan_free (&cell->plan);
  for (size_t i = 0; i < cell->nr_runs; i++)
    run_free (&cell->runs[i]);
  free (cell->runs);
  free (cell->failure);
  free (cell->nbdkit_version);
  free (cell->client_version);
  json_object_put (cell->export);
  free (cell->summary.seconds);
}

void
bench_job_free (struct bench_job *job)
{
  for (size_t i = 0; i < job->nr_cases; i++) {
    for (size_t e = 0; e < job->nr_environments; e++)
      cell_free (&job->cases[i].cells[e]);
    free (job->cases[i].cells);
    free (job->cases[i].comparisons);
  }
  free (job->cases);
  job_free (&job->job);
}

static int
is_job (const struct dirent *entry)
{
  size_t len = strlen (entry->d_name);

  return len > strlen (SUFFIX)
    && strcmp (entry->d_name + len - strlen (SUFFIX), SUFFIX) == 0;
}

static int
list_job (const char *path)
{
  struct job job;
  int r = job_read (&job, path);

  if (r == 0)
    printf ("%-16s %s\n", job.name, job_description (&job));
  job_free (&job);
  return r == 0 ? STATUS_OK : STATUS_BAD;
}

int
bench_list_jobs (void)
{
  char *directory = installed_jobs ();
  struct dirent **entries;
  int n = scandir (directory, &entries, is_job, alphasort);
  int status = STATUS_OK;

  if (n == -1) {
    tell_error_at (directory, 0, "%m");
    status = STATUS_BAD;
  }
  for (int i = 0; i < n; i++) {
    char *path = format_string ("%s/%s", directory, entries[i]->d_name);

    if (list_job (path) != STATUS_OK)
      status = STATUS_BAD;
    free (path);
    free (entries[i]);
  }
  if (n >= 0)
    free (entries);
  free (directory);
  return status;
}
