/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_file.h"
#include "errors.h"
#include "json_stream.h"
#include "json_values.h"
#include "memory.h"

/* The element whose value of key is name, or NULL. */
static json_object *
find_element (json_object *array, const char *key, const char *name)
{
  for (size_t i = 0; i < json_length (array); i++) {
    json_object *element = json_element (array, i);

    if (strcmp (json_text (element, key), name) == 0)
      return element;
  }
  return NULL;
}

static bool
is_same (json_object *stored, const char *key, const char *value)
{
  return strcmp (json_text (stored, key), value ? value : "") == 0;
}

/* Runs may be added, and be waited for longer. */
static bool
does_the_same (json_object *stored, const struct cell_plan *plan)
{
  return is_same (stored, "nbdkit_program", plan->nbdkit_program)
    && is_same (stored, "nbdkit", plan->nbdkit)
    && is_same (stored, "filter", plan->filter)
    && is_same (stored, "prepare", plan->prepare)
    && is_same (stored, "client", plan->client)
    && is_same (stored, "cleanup", plan->cleanup);
}

static void
read_run (struct run *run, json_object *stored)
{
  json_object *client = json_get (stored, "client");

  *run = (struct run) {
    .wall_s = json_number (client, "wall_seconds"),
    .client = {
      .seconds = json_number (client, "seconds"),
      .latencies = latencies_read (json_get (client, "lat_ns")),
    },
  };
  figures_read (&run->figures, stored);
}

static char *
read_string (json_object *stored, const char *key)
{
  const char *s = json_text (stored, key);

  return *s ? copy_string (s) : NULL;
}

/* What failed then is tried again. */
static int
resume_cell (const char *path, struct cell *cell, json_object *stored)
{
  json_object *runs = json_get (stored, "runs");

  cell->nbdkit_version = read_string (stored, "nbdkit_version");
  cell->client_version = read_string (stored, "client_version");
  cell->export = json_object_get (json_get (stored, "export"));
  for (size_t i = 0; i < json_length (runs); i++) {
    cell->runs = grow (cell->runs, cell->nr_runs, sizeof *cell->runs);
    read_run (&cell->runs[cell->nr_runs++], json_element (runs, i));
    if (!isfinite (run_seconds (&cell->runs[i], false))) {
      tell_error_at (path, 0, "a run of %s has no active_ns",
                     cell->plan.case_name);
      return -1;
    }
  }
  return 0;
}

/* On what the runs were made that there are. */
static void
resume_system (struct bench *bench, json_object *stored)
{
  json_object *system = json_get (stored, "system");
  json_object *earlier = json_object_get (json_get (stored, "earlier"));

  if (!json_object_is_type (earlier, json_type_array)) {
    json_object_put (earlier);
    earlier = json_object_new_array ();
  }
  if (system && earlier
      && json_object_array_add (earlier, json_object_get (system)) != 0)
    json_object_put (system);
  bench->earlier = earlier;
}

static bool
is_planned (struct bench *bench, json_object *job, json_object *row,
            json_object *cell)
{
  FOR_EACH_CELL (bench, j, c, planned) {
    if (is_same (job, "name", j->job.name) && is_same (row, "name", c->name)
        && is_same (cell, "environment", planned->plan.environment))
      return true;
  }
  return false;
}

static int
check_row (struct bench *bench, json_object *job, json_object *row)
{
  json_object *cells = json_get (row, "cells");

  for (size_t i = 0; i < json_length (cells); i++) {
    json_object *cell = json_element (cells, i);
    const char *environment = json_text (cell, "environment");

    if (json_length (json_get (cell, "runs")) == 0
        || is_planned (bench, job, row, cell))
      continue;
    tell_error_at (bench->output, 0, "its runs of %s: %s%s%s would be lost: "
                   "they are not asked for", json_text (job, "name"),
                   json_text (row, "name"), *environment ? ", " : "",
                   environment);
    return -1;
  }
  return 0;
}

/* The file will be replaced by what is asked for now, so all runs that it has
 * must be among that.
 */
static int
check_all_planned (struct bench *bench, json_object *stored)
{
  json_object *jobs = json_get (stored, "jobs");

  for (size_t j = 0; j < json_length (jobs); j++) {
    json_object *job = json_element (jobs, j);
    json_object *rows = json_get (job, "cases");

    for (size_t i = 0; i < json_length (rows); i++) {
      if (check_row (bench, job, json_element (rows, i)) == -1)
        return -1;
    }
  }
  return 0;
}

static int
resume_all (struct bench *bench, json_object *stored)
{
  json_object *jobs = json_get (stored, "jobs");

  resume_system (bench, stored);
  FOR_EACH_CELL (bench, j, c, cell) {
    json_object *job = find_element (jobs, "name", j->job.name);
    json_object *row = find_element (json_get (job, "cases"), "name", c->name);
    json_object *same = find_element (json_get (row, "cells"), "environment",
                                      cell->plan.environment);

    if (same && !does_the_same (same, &cell->plan)) {
      tell_error_at (bench->output, 0, "the case %s%s%s did something else "
                     "then", c->name, *cell->plan.environment ? ", " : "",
                     cell->plan.environment);
      return -1;
    }
    if (same && resume_cell (bench->output, cell, same) == -1)
      return -1;
  }
  return 0;
}

static int
check_kind (const char *path, json_object *stored)
{
  if (strcmp (json_text (stored, "type"), "bench") != 0)
    tell_error_at (path, 0, "this is no result of nbdkit-stats bench");
  else if (json_whole (stored, "schema") != BENCH_SCHEMA)
    tell_error_at (path, 0, "this has another schema than %d", BENCH_SCHEMA);
  else
    return 0;
  return -1;
}

static int
resume_from (struct bench *bench, struct json_stream *stream)
{
  json_object *stored = NULL;
  unsigned line;
  int r = -1;

  switch (json_stream_next (stream, &stored, &line)) {
  case NEXT_OBJECT:
    if (check_kind (bench->output, stored) == 0
        && check_all_planned (bench, stored) == 0)
      r = resume_all (bench, stored);
    break;
  case NEXT_END:
    tell_error_at (bench->output, 0, "there is nothing in it");
    break;
  case NEXT_ERROR:
    break;
  }
  json_object_put (stored);
  return r;
}

int
bench_file_resume (struct bench *bench)
{
  struct json_stream stream;
  int r;

  if (access (bench->output, F_OK) == -1 && errno == ENOENT)
    return 0;
  if (json_stream_open (&stream, bench->output) == -1)
    return -1;
  r = resume_from (bench, &stream);
  json_stream_close (&stream);
  return r;
}
