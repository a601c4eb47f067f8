/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <json.h>

#include "account.h"
#include "clock.h"
#include "errors.h"
#include "op_reader.h"
#include "report_reader.h"

/* What clock_now was at the start: only differences are told, and 0 would
 * mean that there was no request.
 */
#define START 1

/* Connections. */

static struct opens
read_opens (const struct input *object)
{
  const struct input ns = input_object (object, "open_ns");

  return (struct opens) {
    .opened = input_count (object, "opened"),
    .failed = input_count (object, "failed"),
    .ns = input_count (&ns, "sum"),
    .longest_ns = input_count_or_null (&ns, "max"),
  };
}

static void
read_connections (const struct input *layer,
                  struct connections_totals *totals)
{
  const struct input object = input_object (layer, "connections");

  totals->clients = input_count (&object, "clients");
  totals->all = read_opens (&object);
  totals->most = input_count (&object, "max_at_once");
  totals->now = input_count (&object, "now");
}

static void
read_block_size (const struct input *layer,
                 struct connections_totals *totals)
{
  struct block_sizes *sizes = &totals->block_sizes;

  if (input_has (layer, "block_size")) {
    const struct input object = input_object (layer, "block_size");

    sizes->minimum = input_small (&object, "minimum");
    sizes->preferred = input_small (&object, "preferred");
    sizes->maximum = input_small (&object, "maximum");
    totals->block_sizes_differ = input_bool (&object, "differ");
  }
}

/* An export in a place had requests: the only one, or one of several. */
static void
read_place (const struct input *export, struct by_export_totals *by,
            unsigned place)
{
  if (!read_export_ops (export, by->ops[place]))
    return;
  by->only = by->only == NO_PLACE ? place : PLACE_OF_SEVERAL;
}

static void
read_export (const struct input *object, struct recorder_totals *totals,
             unsigned place)
{
  totals->connections.exports[place] = (struct export_opens) {
    .name = (char *) input_string (object, "name"),
    .cut = input_bool (object, "cut"),
    .opens = read_opens (object),
  };
  read_place (object, &totals->by_export, place);
}

static void
read_exports (const struct input *layer, struct recorder_totals *totals)
{
  const struct input list = input_list (layer, "exports");
  const size_t nr = input_length (&list);

  totals->by_export.only = NO_PLACE;
  if (nr > MAX_EXPORTS) {
    input_error (&list, NULL, "has more than %u exports", MAX_EXPORTS);
    return;
  }
  for (size_t i = 0; i < nr; i++) {
    const struct input object = input_item (&list, i);

    read_export (&object, totals, (unsigned) i);
  }
  totals->connections.nr_exports = (unsigned) nr;
  if (input_has (layer, "other_exports")) {
    const struct input other = input_object (layer, "other_exports");

    totals->connections.other_exports = read_opens (&other);
    read_place (&other, &totals->by_export, PLACE_OF_OTHERS);
  }
}

/* Layers. */

static void
read_layer_times (const struct input *object, struct timeline_totals *time)
{
  const uint64_t active_ns = input_count (object, "active_ns");

  time->busy_ns = input_count (object, "busy_ns");
  time->request_busy_ns = input_count (object, "request_busy_ns");
  time->open_busy_ns = input_count (object, "open_busy_ns");
  time->waiting_ns = input_count (object, "waiting_ns");
  if (input_has (object, "first_begin_ns")) {
    time->first_begin = START + input_count (object, "first_begin_ns");
    time->last_end = time->first_begin + active_ns;
  }
}

/* In an interval, the states that there were. */
static void
read_account (const struct input *layer, uint64_t account[NR_STATES],
              bool all, uint64_t elapsed_ns)
{
  const struct input object = input_object (layer, "account");

  for (unsigned state = 0; state < NR_STATES; state++) {
    const char *name = account_state_name (state);

    if (all || input_has (&object, name))
      account[state] = input_count (&object, name);
    if (account[state] > elapsed_ns)
      input_error (&object, name, "is more than elapsed_ns");
  }
}

static void
read_ops (const struct input *layer, struct recorder_totals *totals,
          const struct stored_report *report)
{
  const struct input ops = input_object (layer, "ops");

  for (unsigned op = 0; op < NR_OPS; op++) {
    if (report->final || input_has (&ops, op_name (op))) {
      const struct input object = input_object (&ops, op_name (op));

      read_op (&object, totals, op, &report->snapshot);
    }
  }
}

static void
read_layer (const struct input *object, struct recorder_totals *totals,
            const struct stored_report *report)
{
  const struct input in_flight = input_object (object, "in_flight");

  read_layer_times (object, &totals->time);
  read_account (object, totals->time.account, report->final,
                report->snapshot.elapsed_ns);
  if (report->final || input_has (object, "gaps"))
    read_gaps (object, &totals->time.gaps, report->snapshot.start);
  totals->time.most_in_flight = input_small (&in_flight, "max");
  read_connections (object, &totals->connections);
  read_exports (object, totals);
  read_block_size (object, &totals->connections);
  read_ops (object, totals, report);
  totals->unrecorded = input_count (object, "unrecorded");
}

static void
read_layers (const struct input *root, struct stored_report *report)
{
  const struct input list = input_list (root, "layers");
  struct snapshot *snapshot = &report->snapshot;
  const size_t nr = input_length (&list);

  if (nr == 0 || nr > MAX_LAYERS) {
    input_error (&list, NULL, "has %s layers", nr ? "too many" : "no");
    return;
  }
  for (size_t i = 0; i < nr && !root->source->failed; i++) {
    const struct input object = input_item (&list, i);

    if (snapshot_add_layer (snapshot) == -1)
      input_error (&object, NULL, "has no room: %s", strerror (errno));
    else
      read_layer (&object, &snapshot->layers[i], report);
  }
}

/* Which process, and when. */

static struct timespec
read_time (const struct input *root, const char *key)
{
  const char *text = input_string (root, key);
  struct timespec time = { .tv_sec = 0 };
  struct tm tm = { .tm_year = 0 };
  const char *end = strptime (text, "%Y-%m-%dT%H:%M:%S", &tm);
  unsigned long us;
  int n = 0;

  if (end && sscanf (end, ".%6luZ%n", &us, &n) == 1 && n == 8
      && end[n] == '\0') {
    time.tv_sec = timegm (&tm);
    time.tv_nsec = (long) us * 1000;
  }
  else
    input_error (root, key, "is no time");
  return time;
}

static int
read_thread_model (const struct input *root)
{
  if (!input_has (root, "thread_model"))
    return THREADS_UNKNOWN;
  for (int model = 0; thread_model_name (model); model++) {
    if (strcmp (input_string (root, "thread_model"),
                thread_model_name (model)) == 0)
      return model;
  }
  input_error (root, "thread_model", "is none of nbdkit's");
  return THREADS_UNKNOWN;
}

static bool
read_detail (const struct input *parameters)
{
  const char *detail = input_string (parameters, "detail");
  const bool full = strcmp (detail, "full") == 0;

  if (!full && strcmp (detail, "brief") != 0)
    input_error (parameters, "detail", "is neither \"brief\" nor \"full\"");
  return full;
}

static void
read_parameters (const struct input *root, struct stored_report *report)
{
  struct snapshot *snapshot = &report->snapshot;
  const struct input object = input_object (root, "parameters");
  const double percent = input_real (&object, "threshold_percent");

  if (percent >= 0 && percent <= 100)
    snapshot->threshold = (uint64_t) llround (percent * 1000);
  else
    input_error (&object, "threshold_percent", "is no share");
  snapshot->block = input_count (&object, "block");
  snapshot->zero = input_bool (&object, "zero");
  report->full = read_detail (&object);
}

static void
read_process (const struct input *root, struct stored_report *report)
{
  struct snapshot *snapshot = &report->snapshot;
  const uint64_t ns = input_count (root, "start_time_ns");

  snapshot->start_time = (struct timespec) {
    .tv_sec = (time_t) (ns / NS_PER_S), .tv_nsec = (long) (ns % NS_PER_S),
  };
  snapshot->thread_model = read_thread_model (root);
  read_parameters (root, report);
  snapshot->ended = true;
}

static void
read_cumulative (const struct input *root, struct stored_report *report)
{
  const struct input object = input_object (root, "cumulative");

  report->now_ns = input_count (&object, "elapsed_ns");
}

static const char *
string_or_null (const struct input *object, const char *key)
{
  return input_has (object, key) ? input_string (object, key) : NULL;
}

static void
read_head (const struct input *root, struct stored_report *report)
{
  struct snapshot *snapshot = &report->snapshot;
  const unsigned pid = input_small (root, "pid");

  if (pid > INT_MAX)
    input_error (root, "pid", "is too large");
  report->headed = input_bool (root, "headed");
  report->filter_version = input_string (root, "filter_version");
  snapshot->nbdkit_version = input_string (root, "nbdkit_version");
  snapshot->plugin = string_or_null (root, "plugin");
  snapshot->label = string_or_null (root, "label");
  snapshot->pid = (pid_t) pid;
  snapshot->time = read_time (root, "time");
  snapshot->start = START;
  snapshot->elapsed_ns = input_count (root, "elapsed_ns");
}

bool
report_is_final (const struct input *root)
{
  const char *type = input_string (root, "type");
  const bool final = strcmp (type, "final") == 0;

  if (!final && strcmp (type, "interval") != 0)
    input_error (root, "type", "is \"%s\": this is no report of the filter",
                 type);
  return final;
}

/* What is something else is told before what it lacks. */
static void
read_kind (const struct input *root, struct stored_report *report)
{
  uint64_t schema;

  if (!input_has (root, "schema")) {
    input_error (root, NULL, "is not one of nbdkit-stats: it has no schema");
    return;
  }
  report->final = report_is_final (root);
  schema = input_count (root, "schema");
  if (schema != REPORT_SCHEMA)
    input_error (root, "schema", "is %" PRIu64 ", and this version reads %u",
                 schema, REPORT_SCHEMA);
}

int
report_read (struct json_source *source, struct json_object *object,
             struct stored_report *report)
{
  const struct input root = input_root (source, object);

  snapshot_free (&report->snapshot);
  *report = (struct stored_report) { .line = source->line };
  read_kind (&root, report);
  read_head (&root, report);
  if (source->failed)
    return -1;
  report->now_ns = report->snapshot.elapsed_ns;
  if (report->final)
    read_process (&root, report);
  else
    read_cumulative (&root, report);
  read_layers (&root, report);
  return source->failed ? -1 : 0;
}

/* Files. */

int
report_reader_open (struct report_reader *reader, const char *file)
{
  *reader = (struct report_reader) { .object = NULL };
  return json_stream_open (&reader->stream, file);
}

void
report_reader_close (struct report_reader *reader)
{
  json_object_put (reader->object);
  reader->object = NULL;
  json_stream_close (&reader->stream);
}

enum next
report_reader_next (struct report_reader *reader,
                    struct stored_report *report)
{
  struct json_source source = { .file = reader->stream.file };
  enum next next;

  json_object_put (reader->object);
  reader->object = NULL;
  next = json_stream_next (&reader->stream, &reader->object, &source.line);
  if (next == NEXT_OBJECT
      && report_read (&source, reader->object, report) == -1)
    next = NEXT_ERROR;
  return next;
}

void
stored_report_free (struct stored_report *report)
{
  snapshot_free (&report->snapshot);
}
