/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json.h>

#include "compare_input.h"
#include "errors.h"
#include "json_input.h"
#include "json_stream.h"
#include "report_reader.h"

#define BENCH_SCHEMA 1

/* Figures are finite and not negative. */

static double
figure (const struct input *object, const char *key)
{
  const double value = input_real (object, key);

  if (value >= 0 && isfinite (value))
    return value;
  input_error (object, key, "is no figure");
  return 0;
}

static double
figure_if_there (const struct input *object, const char *key)
{
  return input_has (object, key) ? figure (object, key) : NAN;
}

static double
percentile (const struct input *latency, const char *share)
{
  if (!input_has (latency, "percentile"))
    return NAN;
  else {
    const struct input object = input_object (latency, "percentile");

    return figure_if_there (&object, share);
  }
}

/* One run, out of a layer of a report, or what "bench" keeps of one. */

static void
read_op (const struct input *object, struct compare_op *op)
{
  const struct input failed = input_object (object, "failed");
  const struct input latency = input_object (object, "lat_ns");

  op->requests = figure (object, "total_ios");
  op->bytes = figure (object, "io_bytes");
  op->busy_ns = figure (object, "busy_ns");
  op->failures = figure (&failed, "total");
  op->p50_ns = percentile (&latency, "50.000000");
  op->p99_ns = percentile (&latency, "99.000000");
  op->max_ns = figure_if_there (&latency, "max");
  if (input_has (object, "in_flight")) {
    const struct input in_flight = input_object (object, "in_flight");

    op->in_flight = figure_if_there (&in_flight, "mean");
  }
}

/* What an operation is that there was none of. */
static const struct compare_op no_op = {
  .in_flight = NAN, .p50_ns = NAN, .p99_ns = NAN, .max_ns = NAN,
};

static void
read_ops (const struct input *layer, struct compare_run *run)
{
  const struct input ops = input_object (layer, "ops");

  for (unsigned op = 0; op < NR_OPS; op++) {
    run->ops[op] = no_op;
    if (input_has (&ops, op_name (op))) {
      const struct input object = input_object (&ops, op_name (op));

      read_op (&object, &run->ops[op]);
    }
  }
}

static void
read_account (const struct input *layer, struct compare_run *run)
{
  const struct input account = input_object (layer, "account");

  if (account.value == NULL)
    return;
  json_object_object_foreach (account.value, name, value) {
    struct compare_state *state = &run->states[run->nr_states];

    (void) value;
    if (run->nr_states == MAX_STATES) {
      input_error (&account, NULL, "has too many states");
      return;
    }
    snprintf (state->name, sizeof state->name, "%s", name);
    state->ns = figure (&account, name);
    run->nr_states++;
  }
}

static void
read_layer (const struct input *layer, struct compare_run *run)
{
  run->time_ns = figure (layer, "active_ns");
  read_ops (layer, run);
  if (input_has (layer, "account"))
    read_account (layer, run);
}

/* Reports. */

/* "CODE" or "CODE of OPERATION". */
static void
read_findings (const struct input *report, struct compare_run *run)
{
  const struct input list = input_list (report, "diagnosis");

  for (size_t i = 0; i < input_length (&list) && i < MAX_RUN_FINDINGS; i++) {
    const struct input finding = input_item (&list, i);
    const char *code = input_string (&finding, "code");
    char *text = run->findings[run->nr_findings++];

    if (input_has (&finding, "op"))
      snprintf (text, MAX_WORD, "%.40s of %.16s", code,
                input_string (&finding, "op"));
    else
      snprintf (text, MAX_WORD, "%.40s", code);
  }
}

static void
read_report (const struct input *report, unsigned layer,
             struct compare_run *run)
{
  const struct input layers = input_list (report, "layers");
  const size_t nr = input_length (&layers);
  struct input object;

  if (layer > nr || nr == 0) {
    input_error (&layers, NULL, "has no layer %u", layer);
    return;
  }
  run->elapsed_ns = figure (report, "elapsed_ns");
  object = input_item (&layers, (layer ? layer : nr) - 1);
  read_layer (&object, run);
  read_findings (report, run);
}

/* Results of bench. */

static void
read_bench_run (const struct input *object, struct compare_run *run)
{
  const struct input client = input_object (object, "client");
  const double seconds = figure_if_there (&client, "seconds");

  run->elapsed_ns = figure (object, "elapsed_ns");
  read_layer (object, run);
  if (seconds > 0)
    run->time_ns = seconds * 1e9;
}

/* Sides and files. */

/* A new one, which owns the name.  Returns NULL where there is no memory. */
static struct compare_side *
add_side (struct compare_file *file, char *name)
{
  struct compare_side *sides
    = realloc (file->sides, (file->nr_sides + 1) * sizeof *sides);

  if (sides)
    file->sides = sides;
  if (name == NULL || sides == NULL || file->nr_sides == MAX_SIDES) {
    free (name);
    tell_error_at (file->file, 0, "%s", file->nr_sides == MAX_SIDES
                   ? "there are too many cells in it" : strerror (ENOMEM));
    return NULL;
  }
  sides[file->nr_sides] = (struct compare_side) { .name = name };
  return &sides[file->nr_sides++];
}

static struct compare_run *
add_run (struct compare_file *file, struct compare_side *side)
{
  struct compare_run *runs = realloc (side->runs,
                                      (side->nr_runs + 1) * sizeof *runs);

  if (runs)
    side->runs = runs;
  if (runs == NULL || side->nr_runs == MAX_RUNS) {
    tell_error_at (file->file, 0, "%s", runs
                   ? "there are too many runs in it" : strerror (ENOMEM));
    return NULL;
  }
  memset (&runs[side->nr_runs], 0, sizeof *runs);
  return &runs[side->nr_runs++];
}

static int
add_report (struct compare_file *file, const struct input *report,
            unsigned layer)
{
  struct compare_run *run;

  if (file->nr_sides == 0 && add_side (file, strdup ("")) == NULL)
    return -1;
  run = add_run (file, &file->sides[0]);
  if (run)
    read_report (report, layer, run);
  return run ? 0 : -1;
}

static char *
cell_name (const struct input *job, const struct input *bench_case,
           const struct input *cell)
{
  char *name = NULL;

  if (asprintf (&name, "%s %s %s", input_string (job, "name"),
                input_string (bench_case, "name"),
                input_string (cell, "environment")) == -1)
    return NULL;
  return name;
}

static int
add_cell (struct compare_file *file, const struct input *cell, char *name)
{
  const struct input runs = input_list (cell, "runs");
  struct compare_side *side = add_side (file, name);

  for (size_t i = 0; side && i < input_length (&runs); i++) {
    const struct input object = input_item (&runs, i);
    struct compare_run *run = add_run (file, side);

    if (run == NULL)
      return -1;
    read_bench_run (&object, run);
  }
  return side ? 0 : -1;
}

static int
add_case (struct compare_file *file, const struct input *job,
          const struct input *bench_case)
{
  const struct input cells = input_list (bench_case, "cells");

  for (size_t i = 0; i < input_length (&cells); i++) {
    const struct input cell = input_item (&cells, i);

    if (add_cell (file, &cell, cell_name (job, bench_case, &cell)) == -1)
      return -1;
  }
  return 0;
}

static int
add_bench (struct compare_file *file, const struct input *bench)
{
  const struct input jobs = input_list (bench, "jobs");

  file->bench = true;
  for (size_t i = 0; i < input_length (&jobs); i++) {
    const struct input job = input_item (&jobs, i);
    const struct input cases = input_list (&job, "cases");

    for (size_t j = 0; j < input_length (&cases); j++) {
      const struct input bench_case = input_item (&cases, j);

      if (add_case (file, &job, &bench_case) == -1)
        return -1;
    }
  }
  return 0;
}

static bool
has_schema (const struct input *root, unsigned schema)
{
  const uint64_t found = input_count (root, "schema");

  if (!root->source->failed && found != schema)
    input_error (root, "schema", "is %llu, and this version reads %u",
                 (unsigned long long) found, schema);
  return !root->source->failed;
}

/* Intervals add up to the final report, and are left out. */
static int
add_object (struct compare_file *file, const struct input *root,
            unsigned layer)
{
  bool final;

  if (!input_has (root, "schema")) {
    input_error (root, NULL, "is not one of nbdkit-stats: it has no schema");
    return -1;
  }
  if (strcmp (input_string (root, "type"), "bench") == 0)
    return has_schema (root, BENCH_SCHEMA) ? add_bench (file, root) : -1;
  final = report_is_final (root);
  if (!has_schema (root, REPORT_SCHEMA))
    return -1;
  return final ? add_report (file, root, layer) : 0;
}

int
compare_stream_read (struct compare_file *file, struct json_stream *stream,
                     unsigned layer)
{
  struct json_source source = { .file = stream->file };
  struct json_object *object;
  enum next next;

  while ((next = json_stream_next (stream, &object, &source.line))
         == NEXT_OBJECT) {
    const struct input root = input_root (&source, object);
    const int r = add_object (file, &root, layer);

    json_object_put (object);
    if (r == -1 || source.failed)
      return -1;
  }
  if (next == NEXT_END && file->nr_sides == 0) {
    tell_error_at (stream->file, 0, "there is no final report in it");
    return -1;
  }
  return next == NEXT_END ? 0 : -1;
}

int
compare_file_read (struct compare_file *file, const char *name,
                   unsigned layer)
{
  struct json_stream stream;
  int r = -1;

  *file = (struct compare_file) { .file = name };
  if (json_stream_open (&stream, name) == 0) {
    r = compare_stream_read (file, &stream, layer);
    json_stream_close (&stream);
  }
  return r;
}

void
compare_file_free (struct compare_file *file)
{
  for (size_t i = 0; i < file->nr_sides; i++) {
    free (file->sides[i].name);
    free (file->sides[i].runs);
  }
  free (file->sides);
  file->sides = NULL;
  file->nr_sides = 0;
}
