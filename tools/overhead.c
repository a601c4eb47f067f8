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

#define MAX_COLUMNS 16

static int
longest_name (const struct plan *plan)
{
  size_t longest = 0;

  for (unsigned i = 0; i < plan->nr_sides; i++) {
    const size_t length = strlen (plan->sides[i].name);

    if (longest < length)
      longest = length;
  }
  return (int) longest;
}

/* Of a comparison to the other filter. */
static void
name_column (const struct plan *plan, struct column *column)
{
  static char title[64];
  int length;

  length = snprintf (title, sizeof title, "/ %s",
                     plan->sides[plan_other (plan)].name);
  column->title = title;
  if (column->width < length)
    column->width = length;
}

struct table
overhead_table (const struct plan *plan, struct tables *tables,
                const char *key, const struct column *columns,
                unsigned nr_columns)
{
  static struct column copy[MAX_COLUMNS];
  struct column *last = &copy[nr_columns - 1];
  const int longest = longest_name (plan);

  for (unsigned i = 0; i < nr_columns; i++) {
    copy[i] = columns[i];
    if (strcmp (copy[i].key, "through") == 0 && longest > -copy[i].width)
      copy[i].width = -longest;
  }
  if (strstr (last->key, "to_against")) {
    name_column (plan, last);
    if (plan->nr_sides == 2)
      nr_columns--;
  }
  return (struct table) {
    .tables = tables, .key = key, .columns = copy, .nr_columns = nr_columns,
  };
}

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

/* In the order of enum measure. */
static const struct {
  int (*fn) (const struct plan *plan, struct tables *tables);
  bool needs_threads;           /* several at a time */
} measures[NR_MEASURES] = {
  [MEASURE_TIME] = { overhead_time, false },
  [MEASURE_INSIDE] = { overhead_inside, false },
  [MEASURE_COLD] = { overhead_cold, false },
  [MEASURE_MEMORY] = { overhead_memory, false },
  [MEASURE_INSTRUCTIONS] = { overhead_instructions, false },
  [MEASURE_BESIDE] = { overhead_beside, true },
  [MEASURE_OPENING] = { overhead_opening, true },
};

static int
measure_all (const struct plan *plan, struct tables *tables)
{
  for (unsigned i = 0; i < NR_MEASURES; i++) {
    if ((plan->measures & 1U << i) != 0
        && measures[i].fn (plan, tables) == -1)
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
    if (measures[i].needs_threads)
      plan->measures &= ~(1U << i);
  }
}

static int
write_results (const struct plan *plan, struct tables *tables,
               const char *nbdkit)
{
  struct json *json = &tables->json;
  int r = -1;

  JSON_OBJECT (json, NULL) {
    json_count (json, "schema", 1);
    json_string (json, "nbdkit", nbdkit);
    write_filters (plan, json);
    r = measure_all (plan, tables);
  }
  return r;
}

static int
run (struct plan *plan)
{
  struct result result;
  struct tables tables;
  int r;

  if ((plan->output && file_check_replace (plan->output) == -1)
      || try_all (plan, &result) == -1)
    return STATUS_BAD;
  leave_out_threads (plan);
  leave_out_instructions (plan);
  tables_open (&tables, plan->json);
  r = write_results (plan, &tables, result.version);
  if (tables_close (&tables, r == 0, plan->output) == -1)
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
