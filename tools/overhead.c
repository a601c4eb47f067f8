/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* "overhead": what a filter of nbdkit costs a request.
 *
 * For each measurement a real nbdkit is started, with the load filter on
 * top, the filter under test or none below it, and a plugin of ours at the
 * bottom, which are in filters/load.  The load filter sends the requests
 * and measures; here is decided what is measured how often and in which
 * order, and the figures are put together.
 */

#include <config.h>

#include <nbdkit-filter.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "errors.h"
#include "files.h"
#include "overhead_options.h"
#include "overhead_tables.h"
#include "process.h"

const struct measure *const measures[NR_MEASURES] = {
  [MEASURE_TIME] = &measure_time,
  [MEASURE_INSIDE] = &measure_inside,
  [MEASURE_COLD] = &measure_cold,
  [MEASURE_MEMORY] = &measure_memory,
  [MEASURE_INSTRUCTIONS] = &measure_instructions,
  [MEASURE_BESIDE] = &measure_beside,
  [MEASURE_OPENING] = &measure_opening,
};

/* In memory if that can be, so that no disk has a part in the figures. */
static const char *
parent_directory (void)
{
  const char *tmpdir = getenv ("TMPDIR");

  if (tmpdir && *tmpdir)
    return directory_for_socket (tmpdir);
  return access ("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
}

/* Once each, so that errors come before the tables, and to learn how many
 * requests nbdkit lets a filter have at a time.
 */
static int
try_all (struct plan *plan, struct result *result)
{
  plan->thread_model = NBDKIT_THREAD_MODEL_PARALLEL;
  for (unsigned i = 0; i < plan->nr_sides; i++) {
    struct measurement m = {
      .plan = plan, .side = &plan->sides[i], .backend = plan->backends[0],
      .job = plan_job (plan),
    };

    m.job.requests = 2;
    if (serve (&m, result) == -1)
      return -1;
    if (plan->thread_model > result->thread_model)
      plan->thread_model = result->thread_model;
  }
  return 0;
}

static bool
has_valgrind (void)
{
  return system ("command -v valgrind >/dev/null 2>&1") == 0;
}

static int
write_table (const struct plan *plan, const struct measure *measure,
             const struct workload *backend, struct results *results)
{
  int r;

  results_begin (results, measure->title, backend, measure->columns);
  r = measure->rows (plan, backend, results);
  results_end (results);
  return r;
}

static int
write_tables (const struct plan *plan, const struct measure *measure,
              struct results *results)
{
  const unsigned n = measure->each_backend ? plan->nr_backends : 1;
  int r = 0;

  JSON_ARRAY (&results->json, measure->key)
    for (unsigned i = 0; i < n && r == 0; i++)
      r = write_table (plan, measure, plan->backends[i], results);
  if (r == 0 && measure->tell && !results->as_json)
    measure->tell (plan);
  return r;
}

static int
measure_all (const struct plan *plan, struct results *results)
{
  for (unsigned i = 0; i < NR_MEASURES; i++) {
    if ((plan->measures & 1U << i) != 0
        && write_tables (plan, measures[i], results) == -1)
      return -1;
  }
  return 0;
}

static void
write_filters (const struct plan *plan, struct json *json)
{
  JSON_ARRAY (json, "filters")
    for (unsigned i = 1; i < plan->nr_sides; i++) {
      const struct side *side = &plan->sides[i];

      JSON_OBJECT (json, NULL) {
        json_string (json, "name", side->name);
        json_string (json, "filter", side->filter);
        JSON_ARRAY (json, "parameters")
          for (unsigned j = 0; j < side->nr_params; j++)
            json_string (json, NULL, side->params[j]);
      }
    }
}

/* Without it there is nothing wrong with the filters, only less to tell. */
static void
leave_out_instructions (struct plan *plan)
{
  const unsigned instructions = 1U << MEASURE_INSTRUCTIONS;

  if (!(plan->measures & instructions) || has_valgrind ())
    return;
  tell_error ("valgrind is missing: instructions are not counted");
  plan->measures &= ~instructions;
}

/* nbdkit itself keeps to what a filter says of its threads. */
static void
leave_out_threads (struct plan *plan)
{
  if (plan_threads (plan, 2, plan->sharing) == 2)
    return;
  tell_error ("with these filters nbdkit serves one request at a time%s: "
              "measured with one thread only",
              plan->thread_model == NBDKIT_THREAD_MODEL_SERIALIZE_REQUESTS
              ? " of a connection" : "");
  plan->threads = (struct list) { .values = { 1 }, .count = 1 };
  for (unsigned i = 0; i < NR_MEASURES; i++) {
    if (measures[i]->needs_threads)
      plan->measures &= ~(1U << i);
  }
}

static int
write_results (const struct plan *plan, struct results *results,
               const char *nbdkit)
{
  struct json *json = &results->json;
  int r = -1;

  JSON_OBJECT (json, NULL) {
    json_count (json, "schema", 1);
    json_string (json, "nbdkit", nbdkit);
    write_filters (plan, json);
    r = measure_all (plan, results);
  }
  return r;
}

static int
run (struct plan *plan)
{
  struct result result;
  struct results results;
  int r;

  if ((plan->output && file_check_replace (plan->output) == -1)
      || try_all (plan, &result) == -1)
    return STATUS_BAD;
  leave_out_threads (plan);
  leave_out_instructions (plan);
  results_open (&results, plan);
  r = write_results (plan, &results, result.version);
  if (results_close (&results, r == 0, plan->output) == -1)
    return STATUS_BAD;
  return r == 0 ? STATUS_OK : STATUS_FAILED;
}

static int
run_in_directory (struct plan *plan)
{
  char *directory = directory_make (parent_directory ());
  int status;

  if (directory == NULL)
    return STATUS_BAD;
  plan->directory = directory;
  status = run (plan);
  directory_remove (directory);
  free (directory);
  return status;
}

int
overhead_command (int argc, char *argv[])
{
  static struct plan plan;
  int status = overhead_options (argc, argv, &plan);

  if (status != STATUS_OK)
    return status;
  if (processes_init () == -1) {
    tell_error ("prctl: %m");
    return STATUS_BAD;
  }
  status = run_in_directory (&plan);
  processes_end_all ();
  if (interrupted ())
    end_interrupted ();
  return status;
}
