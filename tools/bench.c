/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* nbdkit-stats bench: runs the cases of job files in several environments,
 * and tells how long each took, what reached the storage, and whether a
 * difference is real.
 */

#include <config.h>

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "bench_environment.h"
#include "bench_file.h"
#include "bench_job.h"
#include "bench_runner.h"
#include "bench_table.h"
#include "command.h"
#include "errors.h"
#include "files.h"
#include "json_values.h"
#include "memory.h"
#include "process.h"

static const char help[] =
  "Usage: nbdkit-stats bench [OPTION]... JOB...\n"
  "\n"
  "Runs the cases of each JOB, a file or the name of one that is installed,\n"
  "in each environment, and compares them.\n"
  "\n"
  "Options:\n"
  "  --directory=DIR   where the images are made, and measured\n"
  "  --env=NAME:KEY=VALUE,...\n"
  "                    an environment, in which keys of the job are others\n"
  "  --filter=FILE     the stats filter, if it is not the installed one\n"
  "  --list            the jobs that are installed, a line each\n"
  "  --output=FILE     write the results to FILE, as JSON, after each run\n"
  "  --resume          go on with what is in the file of --output\n"
  "  --runs=N          how often each cell runs\n"
  "  --help            this text\n"
  "\n"
  "The manual is nbdkit-stats-bench(1).\n";

enum {
  OPTION_DIRECTORY = 1, OPTION_ENV, OPTION_FILTER, OPTION_LIST,
  OPTION_OUTPUT, OPTION_RESUME, OPTION_RUNS,
};

static const struct option long_options[] = {
  { "directory", required_argument, NULL, OPTION_DIRECTORY },
  { "env", required_argument, NULL, OPTION_ENV },
  { "filter", required_argument, NULL, OPTION_FILTER },
  { "list", no_argument, NULL, OPTION_LIST },
  { "output", required_argument, NULL, OPTION_OUTPUT },
  { "resume", no_argument, NULL, OPTION_RESUME },
  { "runs", required_argument, NULL, OPTION_RUNS },
  HELP_OPTION
};

struct options {
  struct environments environments;
  struct job_options jobs;
  bool list, resume;
};

/* The directories are also removed when we end where there is no memory. */
static struct workspace workspace;

static void
leave_nothing (void)
{
  processes_end_all ();
  workspace_remove (&workspace);
}

static int
read_runs (char *argv[], const char *value, uint64_t *runs)
{
  char *end;

  errno = 0;
  *runs = strtoull (value, &end, 10);
  if (errno || *end || end == value || *runs == 0 || *runs > MAX_RUNS)
    return bad_usage (argv, "--runs is 1 to %d", MAX_RUNS);
  return STATUS_OK;
}

static int
take_option (char *argv[], int c, struct options *options,
             struct bench *bench)
{
  switch (c) {
  case OPTION_DIRECTORY: bench->images = optarg; break;
  case OPTION_ENV:
    if (environments_add (&options->environments, optarg) == -1)
      return STATUS_BAD;
    break;
  case OPTION_FILTER: options->jobs.filter = optarg; break;
  case OPTION_LIST: options->list = true; break;
  case OPTION_OUTPUT: bench->output = optarg; break;
  case OPTION_RESUME: options->resume = true; break;
  case OPTION_RUNS: return read_runs (argv, optarg, &options->jobs.runs);
  }
  return STATUS_OK;
}

static int
take_options (int argc, char *argv[], struct options *options,
              struct bench *bench)
{
  int status = STATUS_OK, c;

  while (status == STATUS_OK
         && (c = next_option (argc, argv, long_options, help)) != -1)
    status = take_option (argv, c, options, bench);
  if (status != STATUS_OK)
    return status;
  if (options->list && optind < argc)
    return bad_usage (argv, "--list goes without a job");
  if (!options->list && optind == argc)
    return bad_usage (argv, "a job is missing");
  if (options->resume && bench->output == NULL)
    return bad_usage (argv, "--resume needs --output");
  return STATUS_OK;
}

static int
read_jobs (char *names[], const struct job_options *options,
           struct bench *bench)
{
  int status = STATUS_OK;

  for (; *names && status == STATUS_OK; names++) {
    bench->jobs = grow (bench->jobs, bench->nr_jobs, sizeof *bench->jobs);
    if (bench_job_read (&bench->jobs[bench->nr_jobs++], *names, options)
        == -1)
      status = STATUS_BAD;
  }
  return status;
}

static void
print_results (struct bench *bench)
{
  bench_summarize (bench);
  for (size_t i = 0; i < bench->nr_jobs; i++) {
    if (i > 0)
      putchar ('\n');
    bench_print_tables (&bench->jobs[i], stdout);
    bench_print_notes (&bench->jobs[i], bench, stdout);
  }
}

static int
run_all (struct bench *bench)
{
  int status;

  if (processes_init () == -1) {
    tell_error ("no child processes can be waited for: %m");
    return STATUS_BAD;
  }
  if (workspace_make (&workspace, bench->images) == -1)
    return STATUS_BAD;
  atexit (leave_nothing);
  if (bench_check_programs (bench, &workspace) == -1)
    return STATUS_BAD;
  system_read (&bench->system, workspace.images);
  if (bench->output && file_check_replace (bench->output) == -1)
    return STATUS_BAD;
  status = bench_run (bench, &workspace);
  if (status != STATUS_BAD)
    print_results (bench);
  if (interrupted ()) {
    leave_nothing ();
    end_interrupted ();
  }
  return status;
}

int
bench_command (int argc, char *argv[])
{
  struct options options = { .list = false };
  struct bench bench = { .argv = argv };
  int status;

  options.jobs.environments = &options.environments;
  status = take_options (argc, argv, &options, &bench);
  if (status == STATUS_OK && options.list)
    return bench_list_jobs ();
  if (status == STATUS_OK)
    status = read_jobs (argv + optind, &options.jobs, &bench);
  if (status == STATUS_OK && options.resume
      && bench_file_resume (&bench) == -1)
    status = STATUS_BAD;
  if (status == STATUS_OK)
    status = run_all (&bench);
  for (size_t i = 0; i < bench.nr_jobs; i++)
    bench_job_free (&bench.jobs[i]);
  free (bench.jobs);
  environments_free (&options.environments);
  system_free (&bench.system);
  json_object_put (bench.earlier);
  return status;
}
