/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The JSON report: names and meanings are promised to its readers by
 * schema/nbdkit-stats-report.schema.json.
 */

#include <config.h>

#include <stdio.h>
#include <time.h>

#include "account.h"
#include "clock.h"
#include "diagnosis.h"
#include "json_op.h"
#include "json_writer.h"
#include "report.h"

/* Changes when a name goes or gets another meaning, not when one comes. */
#define SCHEMA 2

/* A final report has everything, an interval only what has news in it. */
enum extent { EVERYTHING, NEWS };

/* It may be NULL. */
static void
add_name (struct json *json, const char *key, const char *name)
{
  if (name)
    json_string (json, key, name);
  else
    json_null (json, key);
}

/* Connections. */

static void
add_opens (struct json *json, const struct opens *opens)
{
  const uint64_t attempts = opens->opened + opens->failed;

  json_count (json, "opened", opens->opened);
  json_count (json, "failed", opens->failed);
  JSON_OBJECT (json, "open_ns") {
    json_count (json, "sum", opens->ns);
    json_mean (json, "mean", opens->ns, attempts);
    if (attempts)
      json_count (json, "max", opens->longest_ns);
    else
      json_null (json, "max");
  }
}

static void
add_connections (struct json *json, const struct connections_totals *totals)
{
  JSON_OBJECT (json, "connections") {
    json_count (json, "clients", totals->clients);
    add_opens (json, &totals->all);
    json_count (json, "max_at_once", totals->most);
    json_count (json, "now", totals->now);
  }
}

static void
add_exports (struct json *json, const struct connections_totals *totals,
             enum extent extent)
{
  JSON_ARRAY (json, "exports") {
    for (unsigned i = 0; i < totals->nr_exports; i++) {
      const struct export_opens *export = &totals->exports[i];

      if (extent == NEWS && !opens_have_news (&export->opens))
        continue;
      JSON_OBJECT (json, NULL) {
        json_string (json, "name", export->name);
        json_bool (json, "cut", export->cut);
        add_opens (json, &export->opens);
      }
    }
  }
  if (extent == EVERYTHING || opens_have_news (&totals->other_exports))
    JSON_OBJECT (json, "other_exports")
      add_opens (json, &totals->other_exports);
}

static void
add_block_size (struct json *json, const struct connections_totals *totals)
{
  const struct block_sizes *sizes = &totals->block_sizes;

  if (sizes->preferred == 0) {
    json_null (json, "block_size");
    return;
  }
  JSON_OBJECT (json, "block_size") {
    json_count (json, "minimum", sizes->minimum);
    json_count (json, "preferred", sizes->preferred);
    json_count (json, "maximum", sizes->maximum);
    json_bool (json, "differ", totals->block_sizes_differ);
  }
}

/* Layers. */

/* The rest of what tells when a layer was active. */
static void
add_first_begin (struct json *json, const struct recorder_totals *totals,
                 const struct snapshot *snapshot)
{
  const uint64_t begin = totals->time.first_begin;

  if (begin)
    json_count (json, "first_begin_ns", clock_since (snapshot->start, begin));
  else
    json_null (json, "first_begin_ns");
}

static void
add_layer_times (struct json *json, size_t i,
                 const struct recorder_totals *totals)
{
  json_count (json, "layer", i + 1);
  json_count (json, "busy_ns", totals->time.busy_ns);
  json_count (json, "request_busy_ns", totals->time.request_busy_ns);
  json_count (json, "open_busy_ns", totals->time.open_busy_ns);
  json_count (json, "waiting_ns", totals->time.waiting_ns);
  json_count (json, "active_ns", layer_active_ns (totals));
}

/* The time of each state, where time tells which of them have news. */
static void
add_account (struct json *json, const uint64_t account[NR_STATES],
             const uint64_t time[NR_STATES], enum extent extent)
{
  JSON_OBJECT (json, "account") {
    for (unsigned state = 0; state < NR_STATES; state++) {
      if (extent == EVERYTHING || time[state])
        json_count (json, account_state_name (state), account[state]);
    }
  }
}

static void
add_layer (struct json *json, size_t i, const struct snapshot *snapshot,
           enum extent extent)
{
  const struct recorder_totals *totals = &snapshot->layers[i];

  add_layer_times (json, i, totals);
  add_first_begin (json, totals, snapshot);
  add_account (json, totals->time.account, totals->time.account, extent);
  if (extent == EVERYTHING || totals->time.gaps.tally.requests)
    json_gaps (json, &totals->time.gaps, snapshot->start);
  json_in_flight (json, layer_mean_in_flight (totals),
                  totals->time.request_busy_ns,
                  totals->time.most_in_flight, layer_in_flight (totals),
                  layer_in_flight_ns (totals));
  add_connections (json, &totals->connections);
  add_exports (json, &totals->connections, extent);
  if (extent == EVERYTHING)
    add_block_size (json, &totals->connections);
  JSON_OBJECT (json, "ops") {
    for (unsigned op = 0; op < NR_OPS; op++) {
      if (extent == EVERYTHING || op_has_news (totals, op))
        json_op (json, totals, op, snapshot);
    }
  }
  json_count (json, "unrecorded", totals->unrecorded);
}

static void
add_times (struct json *json, const struct snapshot *snapshot)
{
  const struct recorder_totals *first = snapshot->layers;
  const bool any = snapshot->nr_layers > 0;

  json_count (json, "elapsed_ns", snapshot->elapsed_ns);
  json_count (json, "active_ns", any ? layer_active_ns (first) : 0);
  json_count (json, "busy_ns", any ? first->time.busy_ns : 0);
}

static void
add_figures (struct json *json, const struct snapshot *snapshot,
             enum extent extent)
{
  add_times (json, snapshot);
  JSON_ARRAY (json, "layers") {
    for (size_t i = 0; i < snapshot->nr_layers; i++) {
      JSON_OBJECT (json, NULL)
        add_layer (json, i, snapshot, extent);
    }
  }
}

/* All since the start, in an interval: how much it is. */

static void
add_layer_totals (struct json *json, size_t i, const struct report *report)
{
  const struct recorder_totals *totals = &report->now->layers[i];
  const struct recorder_totals *interval = &report->interval->layers[i];

  add_layer_times (json, i, totals);
  add_account (json, totals->time.account, interval->time.account, NEWS);
  JSON_OBJECT (json, "ops") {
    for (unsigned op = 0; op < NR_OPS; op++) {
      if (op_has_news (interval, op))
        json_op_totals (json, totals, op);
    }
  }
}

static void
add_cumulative (struct json *json, const struct report *report)
{
  add_times (json, report->now);
  JSON_ARRAY (json, "layers") {
    for (size_t i = 0; i < report->now->nr_layers; i++) {
      JSON_OBJECT (json, NULL)
        add_layer_totals (json, i, report);
    }
  }
}

/* Diagnosis. */

static void
add_finding (struct json *json, const struct finding *finding)
{
  json_string (json, "code", finding->code);
  json_string (json, "text", finding->text);
  json_count (json, "layer", finding->layer + 1);
  add_name (json, "op", finding->op);
  JSON_OBJECT (json, "numbers") {
    for (unsigned i = 0; i < FINDING_NUMBERS; i++) {
      const struct finding_number *number = &finding->numbers[i];

      if (number->name)
        json_real (json, number->name, number->value);
    }
  }
}

static void
add_diagnosis (struct json *json, const struct snapshot *snapshot)
{
  struct finding findings[MAX_FINDINGS] = { { .code = NULL } };
  const size_t n = diagnose (snapshot, findings);

  JSON_ARRAY (json, "diagnosis") {
    for (size_t i = 0; i < n; i++) {
      JSON_OBJECT (json, NULL)
        add_finding (json, &findings[i]);
    }
  }
}

/* Which process, and when. */

/* RFC 3339, in UTC. */
static void
add_time (struct json *json, const char *key, const struct timespec *time)
{
  char seconds[64], all[96];
  struct tm tm;

  gmtime_r (&time->tv_sec, &tm);
  strftime (seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &tm);
  snprintf (all, sizeof all, "%s.%06ldZ", seconds, time->tv_nsec / 1000);
  json_string (json, key, all);
}

static void
add_thread_model (struct json *json, int thread_model)
{
  const char *name = thread_model_name (thread_model);

  if (name)
    json_string (json, "thread_model", name);
  else
    json_null (json, "thread_model");
}

/* What changes how the figures are told. */
static void
add_parameters (struct json *json, const struct report *report)
{
  const struct snapshot *snapshot = report->now;

  JSON_OBJECT (json, "parameters") {
    json_real (json, "threshold_percent",
               (double) snapshot->threshold / 1000);
    json_count (json, "block", snapshot->block);
    json_bool (json, "zero", snapshot->zero);
    json_string (json, "detail", report->full ? "full" : "brief");
  }
}

static uint64_t
since_epoch (const struct timespec *time)
{
  return (uint64_t) time->tv_sec * NS_PER_S + (uint64_t) time->tv_nsec;
}

static void
add_head (struct json *json, const struct report *report, const char *type)
{
  const struct snapshot *snapshot = report->now;

  json_count (json, "schema", SCHEMA);
  json_string (json, "type", type);
  json_string (json, "filter_version", PACKAGE_VERSION);
  json_string (json, "nbdkit_version", snapshot->nbdkit_version);
  add_name (json, "plugin", snapshot->plugin);
  add_name (json, "label", snapshot->label);
  json_count (json, "pid", (uint64_t) snapshot->pid);
  add_time (json, "start_time", &snapshot->start_time);
  add_time (json, "time", &snapshot->time);
  json_bool (json, "headed", report->headed);
}

/* What is the same in all reports of a process stands in the final one. */
static void
add_process (struct json *json, const struct report *report)
{
  const struct snapshot *snapshot = report->now;

  json_count (json, "start_time_ns", since_epoch (&snapshot->start_time));
  add_thread_model (json, snapshot->thread_model);
  add_parameters (json, report);
}

void
json_write_interval (FILE *fp, const struct report *report)
{
  struct json *json = &(struct json) { .fp = fp };

  JSON_OBJECT (json, NULL) {
    add_head (json, report, "interval");
    add_figures (json, report->interval, NEWS);
    JSON_OBJECT (json, "cumulative")
      add_cumulative (json, report);
  }
  fputc ('\n', fp);
}

void
json_write (FILE *fp, const struct report *report)
{
  struct json *json = &(struct json) { .fp = fp };

  JSON_OBJECT (json, NULL) {
    add_head (json, report, "final");
    add_process (json, report);
    add_figures (json, report->now, EVERYTHING);
    add_diagnosis (json, report->now);
  }
  fputc ('\n', fp);
}
