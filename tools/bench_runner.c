/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_file.h"
#include "bench_runner.h"
#include "errors.h"
#include "json_values.h"
#include "memory.h"
#include "process.h"
#include "progress.h"

/* Letters of a program's name that no shell takes for something else. */
#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" \
  "0123456789+-./_"

/* The program that a command begins with, as far as that is plain to see;
 * otherwise an empty string.  The caller frees it.
 */
static char *
first_program (const char *command)
{
  size_t len;

  command += strspn (command, " \t");
  len = strspn (command, PLAIN);
  if (command[len] && !strchr (" \t;&|<>\n", command[len]))
    len = 0;
  return copy_bytes (command, len);
}

/* The shell knows what it would run. */
static bool
is_there (const char *program, const struct workspace *workspace)
{
  char *command = format_string ("command -v '%s'", program);
  char *answer = run_command (command, workspace);
  bool there = answer != NULL;

  free (command);
  free (answer);
  return there;
}

static int
check_program (const struct cell *cell, const char *command,
               const struct workspace *workspace)
{
  char *program = first_program (command ? command : "");
  int r = 0;

  if (*program && !is_there (program, workspace)) {
    tell_error ("%s: there is no program %s", cell->plan.case_name, program);
    r = -1;
  }
  free (program);
  return r;
}

int
bench_check_programs (struct bench *bench, const struct workspace *workspace)
{
  FOR_EACH_CELL (bench, j, c, cell) {
    const struct cell_plan *plan = &cell->plan;

    if (check_program (cell, plan->nbdkit_program, workspace) == -1
        || check_program (cell, plan->prepare, workspace) == -1
        || check_program (cell, plan->client, workspace) == -1)
      return -1;
  }
  return 0;
}

/* --- What is needed to repeat a cell --- */

static char *
first_line (char *output)
{
  char *line = NULL;

  if (output && *output)
    line = copy_bytes (output, strcspn (output, "\n"));
  free (output);
  return line;
}

static char *
version_of (const char *program, const struct workspace *workspace)
{
  char *command = format_string ("'%s' --version", program), *version;

  version = first_line (run_command (command, workspace));
  free (command);
  return version;
}

static char *
client_version (const struct cell_plan *plan,
                const struct workspace *workspace)
{
  char *program, *version = NULL;

  if (plan->version)
    return first_line (run_command (plan->version, workspace));
  program = first_program (plan->client);
  if (*program)
    version = version_of (program, workspace);
  free (program);
  return version;
}

/* In a server of its own, so that its requests count nowhere. */
static json_object *
ask_export (const struct cell_plan *plan, const struct workspace *workspace)
{
  char *output = run_other (plan, workspace,
                            "nbdinfo --json --no-content \"$uri\"");
  json_object *info = output ? json_tokener_parse (output) : NULL;
  json_object *first = json_element (json_get (info, "exports"), 0);

  json_object_get (first);
  json_object_put (info);
  free (output);
  return first;
}

static void
describe (struct cell *cell, const struct workspace *workspace)
{
  if (cell->nbdkit_version == NULL)
    cell->nbdkit_version = version_of (cell->plan.nbdkit_program, workspace);
  if (cell->client_version == NULL)
    cell->client_version = client_version (&cell->plan, workspace);
  if (cell->export == NULL)
    cell->export = ask_export (&cell->plan, workspace);
}

/* --- Runs --- */

struct runner {
  struct bench *bench;
  const struct workspace *workspace;
  struct progress progress;
  int status;
};

/* Neither did it fail, nor are we asked to end. */
static bool
goes_on (const struct runner *runner, const struct cell *cell)
{
  return cell->failure == NULL && runner->status != STATUS_BAD
    && !interrupted ();
}

static void
fail_cell (struct runner *runner, const struct bench_job *job,
           struct cell *cell, struct run *run)
{
  cell->failure = run->failure;
  run->failure = NULL;
  runner->status = STATUS_FAILED;
  progress_clear (&runner->progress);
  tell_error ("%s: %s%s%s: %s", job->job.name, cell->plan.case_name,
              *cell->plan.environment ? ", " : "", cell->plan.environment,
              cell->failure);
}

static void
keep_run (struct runner *runner, struct cell *cell, const struct run *run)
{
  cell->runs = grow (cell->runs, cell->nr_runs, sizeof *cell->runs);
  cell->runs[cell->nr_runs++] = *run;
  if (bench_file_write (runner->bench) == -1)
    runner->status = STATUS_BAD;
}

static void
run_once (struct runner *runner, const struct bench_job *job,
          struct cell *cell, bool counts)
{
  struct run run;

  progress_show (&runner->progress, cell->plan.case_name,
                 cell->plan.environment, cell->nr_runs + 1,
                 cell->plan.runs);
  run_cell (&cell->plan, runner->workspace, &run);
  if (run.failure)
    fail_cell (runner, job, cell, &run);
  if (cell->failure == NULL && !run.interrupted) {
    progress_count (&runner->progress);
    if (counts) {
      keep_run (runner, cell, &run);
      return;
    }
  }
  run_free (&run);
}

/* A line a cell, where nobody sees the progress. */
static void
tell_cell (const struct runner *runner, const struct bench_job *job,
           const struct cell *cell)
{
  if (runner->progress.shown || cell->failure || interrupted ())
    return;
  fprintf (stderr, "%s: %s%s%s: %zu run%s\n", job->job.name,
           cell->plan.case_name, *cell->plan.environment ? ", " : "",
           cell->plan.environment, cell->nr_runs,
           cell->nr_runs == 1 ? "" : "s");
}

static bool
is_complete (const struct cell *cell)
{
  return cell->nr_runs >= cell->plan.runs;
}

/* One after the other, and again: what changes with time then changes for
 * all environments.  warm_up: these runs do not count.
 */
static void
run_round (struct runner *runner, const struct bench_job *job,
           struct bench_case *c, bool warm_up)
{
  for (struct cell *cell = c->cells; cell < c->cells + job->nr_environments;
       cell++) {
    if (!goes_on (runner, cell) || is_complete (cell))
      continue;
    run_once (runner, job, cell, !warm_up);
    if (!warm_up && is_complete (cell))
      tell_cell (runner, job, cell);
  }
}

static void
run_case (struct runner *runner, const struct bench_job *job,
          struct bench_case *c)
{
  uint64_t rounds = 0, warm_ups = 0;

  for (size_t e = 0; e < job->nr_environments; e++) {
    struct cell *cell = &c->cells[e];

    if (cell->plan.runs > rounds)
      rounds = cell->plan.runs;
    if (cell->plan.warmup > warm_ups)
      warm_ups = cell->plan.warmup;
    if (goes_on (runner, cell) && !is_complete (cell))
      describe (cell, runner->workspace);
  }
  for (uint64_t i = 0; i < warm_ups; i++)
    run_round (runner, job, c, true);
  for (uint64_t i = 0; i < rounds; i++)
    run_round (runner, job, c, false);
}

static unsigned
count_runs (struct bench *bench)
{
  unsigned nr = 0;

  FOR_EACH_CELL (bench, j, c, cell) {
    if (!is_complete (cell))
      nr += (unsigned) (cell->plan.runs - cell->nr_runs + cell->plan.warmup);
  }
  return nr;
}

int
bench_run (struct bench *bench, const struct workspace *workspace)
{
  struct runner runner = {
    .bench = bench, .workspace = workspace, .status = STATUS_OK,
  };

  /* Then the file stays as it is, too. */
  if (count_runs (bench) == 0)
    return STATUS_OK;
  progress_start (&runner.progress, count_runs (bench));
  FOR_EACH_CASE (bench, j, c)
    run_case (&runner, j, c);
  progress_clear (&runner.progress);
  load_read (&bench->system.after);
  if (runner.status != STATUS_BAD && bench_file_write (bench) == -1)
    runner.status = STATUS_BAD;
  return runner.status;
}
