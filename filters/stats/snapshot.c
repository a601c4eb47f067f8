/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "snapshot.h"

const char *
thread_model_name (int thread_model)
{
  static const char *const names[] = {
    [THREADS_SERIALIZE_CONNECTIONS] = "serialize_connections",
    [THREADS_SERIALIZE_ALL_REQUESTS] = "serialize_all_requests",
    [THREADS_SERIALIZE_REQUESTS] = "serialize_requests",
    [THREADS_PARALLEL] = "parallel",
  };
  const int nr = (int) (sizeof names / sizeof names[0]);

  return thread_model >= 0 && thread_model < nr ? names[thread_model] : NULL;
}

int
snapshot_add_layer (struct snapshot *snapshot)
{
  struct recorder_totals *layers;

  layers = realloc (snapshot->layers,
                    (snapshot->nr_layers + 1) * sizeof *layers);
  if (layers == NULL)
    return -1;
  memset (&layers[snapshot->nr_layers], 0, sizeof *layers);
  snapshot->layers = layers;
  snapshot->nr_layers++;
  return 0;
}

void
snapshot_free (struct snapshot *snapshot)
{
  free (snapshot->layers);
  snapshot->layers = NULL;
  snapshot->nr_layers = 0;
}

void
snapshot_copy (struct snapshot *to, const struct snapshot *from)
{
  struct recorder_totals *layers = to->layers;

  memcpy (layers, from->layers, from->nr_layers * sizeof *layers);
  *to = *from;
  to->layers = layers;
}

static void
subtract_depths (struct depth_class *interval,
                 const struct depth_class *before)
{
  for (unsigned i = 0; i < DEPTH_CLASSES; i++) {
    interval[i].requests -= before[i].requests;
    interval[i].latency_ns -= before[i].latency_ns;
  }
}

static void
subtract_op_time (struct timeline_totals *interval,
                  const struct timeline_totals *before, enum op op)
{
  interval->op_busy_ns[op] -= before->op_busy_ns[op];
  interval->op_most_in_flight[op] = interval->op_recent_most[op];
  interval->sequential[op] -= before->sequential[op];
  interval->small_sequential[op] -= before->small_sequential[op];
  interval->overlapped[op] -= before->overlapped[op];
  interval->in_flight_ns[op] = clock_since (before->in_flight_ns[op],
                                            interval->in_flight_ns[op]);
  subtract_depths (interval->depths[op], before->depths[op]);
  for (unsigned k = 0; k < SIZE_CLASSES; k++)
    subtract_depths (interval->size_depths[op][k],
                     before->size_depths[op][k]);
}

static void
subtract_time (struct timeline_totals *interval,
               const struct timeline_totals *before)
{
  interval->busy_ns -= before->busy_ns;
  interval->request_busy_ns -= before->request_busy_ns;
  interval->most_in_flight = interval->recent_most;
  interval->open_busy_ns -= before->open_busy_ns;
  interval->waiting_ns -= before->waiting_ns;
  for (unsigned state = 0; state < NR_STATES; state++)
    interval->account[state] -= before->account[state];
  for (unsigned op = 0; op < NR_OPS; op++)
    subtract_op_time (interval, before, op);
  interval->first_begin = interval->recent_first;
}

static void
subtract_opens (struct opens *interval, const struct opens *before)
{
  interval->opened -= before->opened;
  interval->failed -= before->failed;
  interval->ns -= before->ns;
}

/* Exports only ever come at the end of the list. */
static void
subtract_connections (struct connections_totals *interval,
                      const struct connections_totals *before)
{
  subtract_opens (&interval->all, &before->all);
  subtract_opens (&interval->other_exports, &before->other_exports);
  interval->clients -= before->clients;
  interval->most = interval->recent_most;
  for (unsigned i = 0; i < before->nr_exports; i++)
    subtract_opens (&interval->exports[i].opens, &before->exports[i].opens);
}

/* Before there were several, all was that of the only one. */
static void
subtract_exports (struct recorder_totals *interval,
                  const struct recorder_totals *before)
{
  if (!layer_has_exports (interval))
    return;
  for (unsigned place = 0; place < EXPORT_PLACES; place++) {
    for (unsigned op = 0; op < NR_OPS; op++) {
      const struct export_op earlier = layer_export_op (before, place, op);
      struct export_op *export = &interval->by_export.ops[place][op];

      export->requests -= earlier.requests;
      export->bytes -= earlier.bytes;
      export->latency_ns -= earlier.latency_ns;
      export->failed -= earlier.failed;
      export->busy_ns -= earlier.busy_ns;
      export->p99_ns = 0;
    }
  }
}

static void
subtract_op (struct op_totals *interval, const struct op_totals *before,
             uint64_t begin)
{
  tally_subtract (&interval->tally, &before->tally);
  failures_subtract (&interval->failures, &before->failures);
  extremes_subtract (&interval->extremes, &before->extremes,
                     &interval->tally, begin);
}

void
snapshot_subtract (struct snapshot *interval, const struct snapshot *now,
                   const struct snapshot *before)
{
  const uint64_t begin = before->start + before->elapsed_ns;

  snapshot_copy (interval, now);
  interval->elapsed_ns = clock_since (before->elapsed_ns, now->elapsed_ns);
  for (size_t i = 0; i < now->nr_layers; i++) {
    struct recorder_totals *layer = &interval->layers[i];
    const struct recorder_totals *earlier = &before->layers[i];

    subtract_time (&layer->time, &earlier->time);
    subtract_op (&layer->time.gaps, &earlier->time.gaps, begin);
    subtract_connections (&layer->connections, &earlier->connections);
    subtract_exports (layer, earlier);
    for (unsigned op = 0; op < NR_OPS; op++)
      subtract_op (&layer->ops[op], &earlier->ops[op], begin);
    layer->unrecorded -= earlier->unrecorded;
  }
}

static bool
depths_have_news (const struct depth_class depths[DEPTH_CLASSES])
{
  for (unsigned i = 0; i < DEPTH_CLASSES; i++) {
    if (depths[i].requests)
      return true;
  }
  return false;
}

/* One that is in flight has news, too: its time. */
bool
op_has_news (const struct recorder_totals *interval, enum op op)
{
  const struct op_totals *totals = &interval->ops[op];
  const struct timeline_totals *time = &interval->time;

  return totals->tally.requests || totals->tally.extents.count
    || totals->tally.fast_zero_refused.requests
    || failures_total (&totals->failures).requests
    || time->op_busy_ns[op] || time->in_flight[op] || time->sequential[op]
    || depths_have_news (time->depths[op]);
}

bool
export_has_news (const struct recorder_totals *interval, unsigned place)
{
  const struct connections_totals *totals = &interval->connections;
  const struct opens *opens = place == PLACE_OF_OTHERS
    ? &totals->other_exports : &totals->exports[place].opens;

  if (opens->opened || opens->failed)
    return true;
  for (unsigned op = 0; op < NR_OPS; op++) {
    const struct export_op export = layer_export_op (interval, place, op);

    if (export_op_has_news (&export))
      return true;
  }
  return false;
}

static struct export_op
only_export_op (const struct recorder_totals *layer, enum op op)
{
  struct export_op export = export_op_of_layer (&layer->ops[op],
                                                layer->time.op_busy_ns[op]);

  export.p99_ns = op_percentile (&layer->ops[op], 99000);
  return export;
}

struct export_op
layer_export_op (const struct recorder_totals *layer, unsigned place,
                 enum op op)
{
  if (place == layer->by_export.only)
    return only_export_op (layer, op);
  return layer_has_exports (layer) ? layer->by_export.ops[place][op]
    : (struct export_op) { 0 };
}

bool
export_op_has_news (const struct export_op *export)
{
  return export->requests || export->failed || export->busy_ns;
}

bool
layer_has_exports (const struct recorder_totals *layer)
{
  return layer->by_export.only == PLACE_OF_SEVERAL;
}

uint64_t
layer_bytes_moved (const struct recorder_totals *layer)
{
  uint64_t bytes = 0;

  for (unsigned op = 0; op < NR_OPS; op++) {
    if (op_kind (op) == KIND_MOVED)
      bytes += layer->ops[op].tally.bytes;
  }
  return bytes;
}

uint64_t
layer_requests (const struct recorder_totals *layer)
{
  uint64_t requests = 0;

  for (unsigned op = 0; op < NR_OPS; op++)
    requests += layer->ops[op].tally.requests;
  return requests;
}

uint64_t
layer_failed (const struct recorder_totals *layer)
{
  uint64_t failed = 0;

  for (unsigned op = 0; op < NR_OPS; op++)
    failed += failures_total (&layer->ops[op].failures).requests;
  return failed;
}

uint64_t
layer_in_flight (const struct recorder_totals *layer)
{
  uint64_t in_flight = 0;

  for (unsigned op = 0; op < NR_OPS; op++)
    in_flight += layer->time.in_flight[op];
  return in_flight;
}

uint64_t
op_ended (const struct op_totals *op)
{
  return op->tally.requests + failures_total (&op->failures).requests
    + op->tally.fast_zero_refused.requests;
}

uint64_t
op_latency_ns (const struct op_totals *op)
{
  return op->tally.latency_ns + failures_total (&op->failures).ns
    + op->tally.fast_zero_refused.ns;
}

double
op_mean_in_flight (const struct recorder_totals *layer, enum op op)
{
  return ratio (layer->time.in_flight_ns[op], layer->time.op_busy_ns[op]);
}

uint64_t
layer_in_flight_ns (const struct recorder_totals *layer)
{
  uint64_t ns = 0;

  for (unsigned op = 0; op < NR_OPS; op++)
    ns += layer->time.in_flight_ns[op];
  return ns;
}

double
layer_mean_in_flight (const struct recorder_totals *layer)
{
  return ratio (layer_in_flight_ns (layer), layer->time.request_busy_ns);
}

double
op_mean_ns (const struct op_totals *op)
{
  return ratio (op->tally.latency_ns, op->tally.requests);
}

double
export_op_mean_ns (const struct export_op *export)
{
  return ratio (export->latency_ns, export->requests);
}

double
op_blocks_touched (const struct op_totals *op)
{
  uint64_t with_bytes = 0;

  for (unsigned i = 0; i < BLOCKS_TOUCHED; i++)
    with_bytes += op->tally.blocks.by_touched[i];
  return ratio (op->tally.blocks.touched, with_bytes);
}

uint64_t
op_percentile (const struct op_totals *op, unsigned thousandths)
{
  return histogram_percentile (op->tally.bins, thousandths,
                               op->extremes.min_ns, op->extremes.max_ns);
}

uint64_t
layer_active_ns (const struct recorder_totals *layer)
{
  return layer->time.first_begin == 0 ? 0
    : clock_since (layer->time.first_begin, layer->time.last_end);
}

double
per_second (uint64_t n, uint64_t ns)
{
  return ns ? (double) n * NS_PER_S / (double) ns : 0;
}

double
ratio (uint64_t a, uint64_t b)
{
  return b ? (double) a / (double) b : 0;
}

double
percent (uint64_t part, uint64_t whole)
{
  return 100 * ratio (part, whole);
}
