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

#include "diagnosis.h"
#include "json_op.h"
#include "json_tree.h"
#include "report.h"

/* Changes when a name goes or gets another meaning, not when one comes. */
#define SCHEMA 1

/* Connections. */

static void
add_opens (struct json_node to, const struct opens *opens)
{
  const uint64_t attempts = opens->opened + opens->failed;
  struct json_node ns;

  add_count (to, "opened", opens->opened);
  add_count (to, "failed", opens->failed);
  ns = add_object (to, "open_ns");
  add_count (ns, "sum", opens->ns);
  json_add_mean (ns, "mean", opens->ns, attempts);
  if (attempts)
    add_count (ns, "max", opens->longest_ns);
  else
    add_null (ns, "max");
}

static void
add_connections (struct json_node to, const struct connections_totals *totals)
{
  struct json_node connections = add_object (to, "connections");
  struct json_node exports = add_array (to, "exports");

  add_opens (connections, &totals->all);
  add_count (connections, "max_at_once", totals->most);
  add_count (connections, "now", totals->now);
  for (unsigned i = 0; i < totals->nr_exports; i++) {
    struct json_node export = add_object (exports, NULL);

    add_string (export, "name", totals->exports[i].name);
    add_opens (export, &totals->exports[i].opens);
  }
}

/* Layers. */

static void
add_layer (struct json_node layers, size_t i, const struct snapshot *snapshot)
{
  const struct recorder_totals *totals = &snapshot->layers[i];
  struct json_node layer = add_object (layers, NULL);
  struct json_node ops;

  add_count (layer, "layer", i + 1);
  add_count (layer, "busy_ns", totals->time.busy_ns);
  add_count (layer, "active_ns", layer_active_ns (totals));
  json_add_in_flight (layer, layer_mean_in_flight (totals),
                      totals->time.busy_ns, totals->time.most_in_flight,
                      layer_in_flight (totals));
  add_connections (layer, &totals->connections);
  ops = add_object (layer, "ops");
  for (unsigned op = 0; op < NR_OPS; op++)
    json_op_add (ops, totals, op, snapshot);
  add_count (layer, "unrecorded", totals->unrecorded);
}

/* All that is measured. */
static void
add_figures (struct json_node to, const struct snapshot *snapshot)
{
  const struct recorder_totals *first = snapshot->layers;
  const bool any = snapshot->nr_layers > 0;
  struct json_node layers;

  add_count (to, "elapsed_ns", snapshot->elapsed_ns);
  add_count (to, "active_ns", any ? layer_active_ns (first) : 0);
  add_count (to, "busy_ns", any ? first->time.busy_ns : 0);
  layers = add_array (to, "layers");
  for (size_t i = 0; i < snapshot->nr_layers; i++)
    add_layer (layers, i, snapshot);
}

/* Diagnosis. */

static void
add_finding (struct json_node to, const struct finding *finding)
{
  struct json_node numbers;

  add_string (to, "code", finding->code);
  add_string (to, "text", finding->text);
  add_count (to, "layer", finding->layer + 1);
  if (finding->op)
    add_string (to, "op", finding->op);
  else
    add_null (to, "op");
  numbers = add_object (to, "numbers");
  for (unsigned i = 0; i < FINDING_NUMBERS; i++) {
    if (finding->numbers[i].name)
      add_real (numbers, finding->numbers[i].name, finding->numbers[i].value);
  }
}

static void
add_diagnosis (struct json_node to, const struct snapshot *snapshot)
{
  struct finding findings[MAX_FINDINGS] = { { .code = NULL } };
  const size_t n = diagnose (snapshot, findings);
  struct json_node diagnosis = add_array (to, "diagnosis");

  for (size_t i = 0; i < n; i++)
    add_finding (add_object (diagnosis, NULL), &findings[i]);
}

/* Which process, and when. */

/* RFC 3339, in UTC. */
static void
add_time (struct json_node to, const char *key, const struct timespec *time)
{
  char seconds[64], all[96];
  struct tm tm;

  gmtime_r (&time->tv_sec, &tm);
  strftime (seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &tm);
  snprintf (all, sizeof all, "%s.%06ldZ", seconds, time->tv_nsec / 1000);
  add_string (to, key, all);
}

static void
add_head (struct json_node to, const struct snapshot *snapshot,
          const char *type)
{
  add_count (to, "schema", SCHEMA);
  add_string (to, "type", type);
  add_string (to, "filter_version", PACKAGE_VERSION);
  add_string (to, "nbdkit_version", snapshot->nbdkit_version);
  add_count (to, "pid", (uint64_t) snapshot->pid);
  add_time (to, "start_time", &snapshot->start_time);
  add_time (to, "time", &snapshot->time);
}

/* The diagnosis is always of the whole run so far, and stands beside the
 * figures that it was made from: few requests of one interval prove little.
 */
int
json_write (FILE *fp, const struct snapshot *snapshot,
            const struct snapshot *interval)
{
  struct json_tree tree;
  struct json_node root = json_tree_begin (&tree);
  struct json_node whole_run = root;

  add_head (root, snapshot, interval ? "interval" : "final");
  if (interval) {
    add_figures (root, interval);
    whole_run = add_object (root, "cumulative");
  }
  add_figures (whole_run, snapshot);
  add_diagnosis (whole_run, snapshot);
  return json_tree_write (&tree, fp);
}
