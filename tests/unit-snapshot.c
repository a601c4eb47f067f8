/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Snapshots: the intervals of a run add up to its end, and what follows
 * from the counters.
 */

#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "snapshot.h"
#include "unit-intervals.h"
#include "unit.h"
#include "wrap-alloc.h"

#define NR_LAYERS 2

static struct snapshot run, before, interval;
static uint64_t random_state;

static void
make_room (struct snapshot *snapshot)
{
  memset (snapshot, 0, sizeof *snapshot);
  for (unsigned i = 0; i < NR_LAYERS; i++)
    assert_int_equal (snapshot_add_layer (snapshot), 0);
}

static int
start (void **state)
{
  (void) state;
  random_state = 1;
  make_room (&run);
  make_room (&before);
  make_room (&interval);
  run.start = 1000 * S;
  return 0;
}

static int
stop (void **state)
{
  (void) state;
  snapshot_free (&run);
  snapshot_free (&before);
  snapshot_free (&interval);
  return 0;
}

/* A run: something happens in it. */

static void
random_depth (struct depth_class depths[DEPTH_CLASSES], uint64_t ns)
{
  struct depth_class *depth
    = &depths[random_below (&random_state, DEPTH_CLASSES)];

  depth->requests++;
  depth->latency_ns += ns;
}

static void
random_request (struct recorder_totals *layer)
{
  const struct record request = {
    .kind = random_below (&random_state, NR_OPS),
    .count = (uint32_t) random_64 (&random_state) >> 8,
    .offset = random_64 (&random_state) >> 1,
    .flags = (uint32_t) random_below (&random_state, 1 << NR_FLAGS),
    .begin = run.start + run.elapsed_ns,
  };
  struct op_totals *op = &layer->ops[request.kind];
  const uint64_t ns = random_64 (&random_state)
    >> (30 + random_below (&random_state, 20));

  run.elapsed_ns += ns / 2;
  layer->time.busy_ns += ns / 2;
  layer->time.request_busy_ns += ns / 2;
  layer->time.op_busy_ns[request.kind] += ns / 3;
  layer->time.in_flight_ns[request.kind] += ns;
  if (random_below (&random_state, 10) == 0) {
    failures_count (&op->failures,
                    1 + (int) random_below (&random_state, 12), ns);
    return;
  }
  if (random_below (&random_state, 10) == 0) {
    op->tally.fast_zero_refused.requests++;
    op->tally.fast_zero_refused.ns += ns;
    return;
  }
  extremes_record (&op->extremes, &request, ns, op->tally.requests);
  tally_record (&op->tally, &request, ns, 4096);
  op->tally.extents.data += request.count / 3;
  layer->time.sequential[request.kind] += random_below (&random_state, 2);
  layer->time.small_sequential[request.kind]
    += random_below (&random_state, 2);
  layer->time.overlapped[request.kind] += random_below (&random_state, 2);
  layer->time.waiting_ns += ns / 4;
  layer->time.open_busy_ns += ns / 5;
  random_depth (layer->time.depths[request.kind], ns);
  random_depth (layer->time.size_depths[request.kind]
                  [random_below (&random_state, SIZE_CLASSES)], ns);
}

static void
random_connection (struct recorder_totals *layer)
{
  static char names[4][2] = { "a", "b", "c", "d" };
  struct connections_totals *c = &layer->connections;
  const uint64_t ns = random_below (&random_state, S);
  unsigned i = (unsigned) random_below (&random_state, 4);

  if (i >= c->nr_exports && c->nr_exports < LENGTH (names)) {
    i = c->nr_exports++;
    c->exports[i].name = names[i];
  }
  c->clients += random_below (&random_state, 2);
  c->other_exports.ns += ns / 2;
  c->other_exports.failed += ns % 3;
  c->all.ns += ns;
  c->exports[i].opens.ns += ns;
  if (ns % 5 == 0) {
    c->all.failed++;
    c->exports[i].opens.failed++;
  }
  else {
    c->all.opened++;
    c->exports[i].opens.opened++;
  }
}

static void
something_happens (void)
{
  for (unsigned i = 0; i < NR_LAYERS; i++) {
    struct recorder_totals *layer = &run.layers[i];
    const uint64_t requests = random_below (&random_state, 200);

    for (uint64_t r = 0; r < requests; r++)
      random_request (layer);
    random_connection (layer);
    layer->unrecorded += random_below (&random_state, 3);
  }
}

static void
assert_opens_equal (const struct opens *a, const struct opens *b)
{
  assert_int_equal (a->opened, b->opened);
  assert_int_equal (a->failed, b->failed);
  assert_int_equal (a->ns, b->ns);
}

static void
assert_layer_equal (const struct recorder_totals *a,
                    const struct recorder_totals *b)
{
  for (unsigned op = 0; op < NR_OPS; op++) {
    assert_memory_equal (&a->ops[op].tally, &b->ops[op].tally,
                         sizeof a->ops[op].tally);
    for (unsigned i = 0; i < MAX_FAILURES; i++) {
      assert_int_equal (a->ops[op].failures.by_errno[i].requests,
                        b->ops[op].failures.by_errno[i].requests);
      assert_int_equal (a->ops[op].failures.by_errno[i].ns,
                        b->ops[op].failures.by_errno[i].ns);
    }
  }
  assert_memory_equal (&a->time, &b->time, sizeof a->time);
  assert_int_equal (a->connections.clients, b->connections.clients);
  assert_opens_equal (&a->connections.other_exports,
                      &b->connections.other_exports);
  assert_opens_equal (&a->connections.all, &b->connections.all);
  for (unsigned i = 0; i < a->connections.nr_exports; i++)
    assert_opens_equal (&a->connections.exports[i].opens,
                        &b->connections.exports[i].opens);
  assert_int_equal (a->unrecorded, b->unrecorded);
}

/* An operation without news would add nothing.  Returns how many have
 * none.
 */
static unsigned
check_no_news (const struct recorder_totals *layer)
{
  static const struct tally no_tally;
  static const struct depth_class no_depths[DEPTH_CLASSES];
  unsigned without = 0;

  for (unsigned op = 0; op < NR_OPS; op++) {
    if (op_has_news (layer, op))
      continue;
    assert_memory_equal (&layer->ops[op].tally, &no_tally, sizeof no_tally);
    assert_int_equal (failures_total (&layer->ops[op].failures).requests, 0);
    assert_int_equal (failures_total (&layer->ops[op].failures).ns, 0);
    assert_memory_equal (layer->time.depths[op], no_depths,
                         sizeof no_depths);
    assert_int_equal (layer->time.op_busy_ns[op], 0);
    assert_int_equal (layer->time.sequential[op], 0);
    assert_int_equal (layer->time.in_flight_ns[op], 0);
    assert_int_equal (layer->time.in_flight[op], 0);
    without++;
  }
  return without;
}

static void
test_intervals_add_up (void **state)
{
  static struct recorder_totals sum[NR_LAYERS];
  uint64_t elapsed_ns = 0;
  unsigned without_news = 0;

  (void) state;
  memset (sum, 0, sizeof sum);
  for (unsigned tick = 0; tick < 30; tick++) {
    if (tick % 7 != 3)          /* at times nothing happens */
      something_happens ();
    snapshot_subtract (&interval, &run, &before);
    snapshot_copy (&before, &run);
    elapsed_ns += interval.elapsed_ns;
    for (unsigned i = 0; i < NR_LAYERS; i++) {
      add_layer (&sum[i], &interval.layers[i]);
      without_news += check_no_news (&interval.layers[i]);
    }
  }
  assert_int_equal (elapsed_ns, run.elapsed_ns);
  assert_in_range (without_news, 4 * NR_LAYERS * NR_OPS,
                   26 * NR_LAYERS * NR_OPS);
  for (unsigned i = 0; i < NR_LAYERS; i++) {
    assert_int_equal (run.layers[i].connections.nr_exports, 4);
    assert_layer_equal (&run.layers[i], &sum[i]);
  }
}

/* What happens in a tick is of one export, after some ticks of another one. */
static void
give_to_export (struct recorder_totals *layer,
                const struct recorder_totals *earlier)
{
  const unsigned place = (unsigned) random_below (&random_state,
                                                  EXPORT_PLACES);

  for (unsigned op = 0; op < NR_OPS; op++) {
    struct export_op *export = &layer->by_export.ops[place][op];
    const struct export_op all
      = export_op_of_layer (&layer->ops[op], layer->time.op_busy_ns[op]);
    const struct export_op had
      = export_op_of_layer (&earlier->ops[op], earlier->time.op_busy_ns[op]);

    export->requests += all.requests - had.requests;
    export->bytes += all.bytes - had.bytes;
    export->latency_ns += all.latency_ns - had.latency_ns;
    export->failed += all.failed - had.failed;
    export->busy_ns += all.busy_ns - had.busy_ns;
    export->p99_ns = 1;
  }
}

static void
add_exports (struct export_op sum[EXPORT_PLACES][NR_OPS],
             const struct recorder_totals *part)
{
  for (unsigned place = 0; place < EXPORT_PLACES; place++) {
    for (unsigned op = 0; op < NR_OPS; op++) {
      const struct export_op export = layer_export_op (part, place, op);

      sum[place][op].requests += export.requests;
      sum[place][op].bytes += export.bytes;
      sum[place][op].latency_ns += export.latency_ns;
      sum[place][op].failed += export.failed;
      sum[place][op].busy_ns += export.busy_ns;
    }
  }
}

/* Also the interval in which the second one comes. */
static void
test_exports_add_up (void **state)
{
  enum { FIRST = 2, SECOND_COMES = 5 };
  static struct export_op sum[EXPORT_PLACES][NR_OPS];
  struct recorder_totals *layer = &run.layers[0];

  (void) state;
  memset (sum, 0, sizeof sum);
  layer->by_export.only = FIRST;
  for (unsigned tick = 0; tick < 30; tick++) {
    something_happens ();
    if (tick == SECOND_COMES) {
      layer->by_export.only = PLACE_OF_SEVERAL;
      for (unsigned op = 0; op < NR_OPS; op++)
        layer->by_export.ops[FIRST][op]
          = layer_export_op (&before.layers[0], FIRST, op);
    }
    if (tick >= SECOND_COMES)
      give_to_export (layer, &before.layers[0]);
    snapshot_subtract (&interval, &run, &before);
    snapshot_copy (&before, &run);
    add_exports (sum, &interval.layers[0]);
    assert_true (layer_has_exports (layer) == (tick >= SECOND_COMES));
    for (unsigned op = 0; tick >= SECOND_COMES && op < NR_OPS; op++)
      assert_int_equal (layer_export_op (&interval.layers[0], FIRST,
                                         op).p99_ns, 0);
  }
  for (unsigned place = 0; place < EXPORT_PLACES; place++) {
    for (unsigned op = 0; op < NR_OPS; op++) {
      const struct export_op *all = &layer->by_export.ops[place][op];

      assert_int_equal (sum[place][op].requests, all->requests);
      assert_int_equal (sum[place][op].bytes, all->bytes);
      assert_int_equal (sum[place][op].latency_ns, all->latency_ns);
      assert_int_equal (sum[place][op].failed, all->failed);
      assert_int_equal (sum[place][op].busy_ns, all->busy_ns);
    }
  }
}

/* The only export has what the layer has, and no other has anything. */
static void
test_only_export (void **state)
{
  struct recorder_totals *layer = &run.layers[0];

  (void) state;
  something_happens ();
  layer->by_export.only = 63;
  for (unsigned op = 0; op < NR_OPS; op++) {
    const struct export_op export = layer_export_op (layer, 63, op);
    const struct export_op other = layer_export_op (layer, 0, op);

    assert_int_equal (export.requests, layer->ops[op].tally.requests);
    assert_int_equal (export.busy_ns, layer->time.op_busy_ns[op]);
    assert_int_equal (export.p99_ns, op_percentile (&layer->ops[op], 99000));
    assert_true (export_op_mean_ns (&export) == op_mean_ns (&layer->ops[op]));
    assert_false (export_op_has_news (&other));
  }
  layer->by_export.only = NO_PLACE;
  assert_int_equal (layer_export_op (layer, 63, OP_READ).requests, 0);
}

/* Each of what a request may leave in an interval by itself. */
static void
test_news (void **state)
{
  static struct recorder_totals layer;
  struct op_totals *op = &layer.ops[OP_ZERO];
  struct timeline_totals *time = &layer.time;
  uint64_t *const counts[] = {
    &op->tally.requests, &op->tally.extents.count,
    &op->tally.fast_zero_refused.requests,
    &op->failures.by_errno[MAX_FAILURES - 1].requests,
    &time->op_busy_ns[OP_ZERO], &time->sequential[OP_ZERO],
    &time->depths[OP_ZERO][DEPTH_CLASSES - 1].requests,
  };
  struct opens *opens = &layer.connections.exports[3].opens;
  struct export_op *export = &layer.by_export.ops[3][OP_FLUSH];
  uint64_t *const counts_of_export[] = {
    &opens->opened, &opens->failed, &export->requests, &export->failed,
    &export->busy_ns,
  };

  (void) state;
  assert_false (op_has_news (&layer, OP_ZERO));
  for (size_t i = 0; i < LENGTH (counts); i++) {
    *counts[i] = 1;
    assert_true (op_has_news (&layer, OP_ZERO));
    assert_false (op_has_news (&layer, OP_ZERO - 1));
    assert_false (op_has_news (&layer, OP_ZERO + 1));
    *counts[i] = 0;
  }
  time->in_flight[OP_ZERO] = 1;
  assert_true (op_has_news (&layer, OP_ZERO));

  opens->longest_ns = 1;
  layer.by_export.only = PLACE_OF_SEVERAL;
  assert_false (export_has_news (&layer, 3));
  for (size_t i = 0; i < LENGTH (counts_of_export); i++) {
    *counts_of_export[i] = 1;
    assert_true (export_has_news (&layer, 3));
    assert_false (export_has_news (&layer, 4));
    *counts_of_export[i] = 0;
  }
}

/* Bounds are within those of the run, and of its slowest requests none is
 * told that ended before.
 */
static void
check_extremes (const struct op_totals *part, const struct op_totals *all,
                uint64_t begin)
{
  const struct slow_request *slowest = part->extremes.slowest;

  if (part->tally.requests == 0)
    return;
  assert_in_range (part->extremes.min_ns, all->extremes.min_ns,
                   part->extremes.max_ns);
  assert_true (part->extremes.max_ns <= all->extremes.max_ns);
  for (unsigned i = 0; i < NR_SLOWEST && slowest[i].latency_ns; i++)
    assert_true (slowest[i].begin + slowest[i].latency_ns >= begin);
}

static void
test_interval_extremes (void **state)
{
  (void) state;
  for (unsigned tick = 0; tick < 20; tick++) {
    something_happens ();
    snapshot_subtract (&interval, &run, &before);
    for (unsigned i = 0; i < NR_LAYERS; i++) {
      for (unsigned op = 0; op < NR_OPS; op++)
        check_extremes (&interval.layers[i].ops[op], &run.layers[i].ops[op],
                        before.start + before.elapsed_ns);
    }
    snapshot_copy (&before, &run);
  }
}

/* What is no sum. */
static void
test_interval_most (void **state)
{
  struct timeline_totals *now = &run.layers[1].time;
  const struct timeline_totals *got = &interval.layers[1].time;

  (void) state;
  run.elapsed_ns = 5 * S;
  snapshot_subtract (&interval, &run, &before);
  assert_int_equal (got->first_begin, 0);

  now->first_begin = now->recent_first = 1001 * S;
  now->last_end = 1002 * S;
  now->most_in_flight = now->recent_most = 16;
  now->op_most_in_flight[OP_READ] = now->op_recent_most[OP_READ] = 9;
  now->in_flight[OP_READ] = 3;
  run.layers[1].connections.most = run.layers[1].connections.recent_most = 4;
  snapshot_subtract (&interval, &run, &before);
  assert_int_equal (got->first_begin, 1001 * S);
  assert_int_equal (got->most_in_flight, 16);
  snapshot_copy (&before, &run);

  now->recent_first = 1005 * S;
  now->last_end = 1007 * S;
  now->recent_most = 5;
  now->op_recent_most[OP_READ] = 2;
  run.layers[1].connections.recent_most = 1;
  run.elapsed_ns = 7 * S;
  snapshot_subtract (&interval, &run, &before);
  assert_int_equal (interval.elapsed_ns, 2 * S);
  assert_int_equal (got->most_in_flight, 5);
  assert_int_equal (got->op_most_in_flight[OP_READ], 2);
  assert_int_equal (got->in_flight[OP_READ], 3);
  assert_int_equal (interval.layers[1].connections.most, 1);
  assert_int_equal (got->first_begin, 1005 * S);
  assert_int_equal (layer_active_ns (&interval.layers[1]), 2 * S);
  assert_int_equal (run.layers[1].time.most_in_flight, 16);

  /* Nothing happened, and time stood still. */
  now->recent_first = 0;
  snapshot_copy (&before, &run);
  snapshot_subtract (&interval, &run, &before);
  assert_int_equal (interval.elapsed_ns, 0);
  assert_int_equal (layer_active_ns (&interval.layers[1]), 0);
}

/* All of a snapshot is copied, and layers into the other's own room. */
static void
test_copy (void **state)
{
  struct recorder_totals *room = before.layers;

  (void) state;
  something_happens ();
  run.nbdkit_version = "1.2.3";
  run.start_time.tv_sec = 1;
  run.time.tv_nsec = 2;
  run.pid = 3;
  run.threshold = 4;
  run.block = 5;
  run.zero = true;
  snapshot_copy (&before, &run);
  assert_ptr_equal (before.layers, room);
  assert_memory_equal (before.layers, run.layers,
                       NR_LAYERS * sizeof *room);
  before.layers = run.layers;
  assert_memory_equal (&before, &run, sizeof run);
  before.layers = room;
}

static void
test_layers (void **state)
{
  struct snapshot snapshot = { .nr_layers = 0 };
  static const struct recorder_totals zeroed;

  (void) state;
  for (unsigned i = 0; i < 10; i++) {
    allocations_left = 0;
    assert_int_equal (snapshot_add_layer (&snapshot), -1);
    allocations_left = -1;
    assert_int_equal (snapshot.nr_layers, i);
    assert_int_equal (snapshot_add_layer (&snapshot), 0);
    assert_int_equal (snapshot.nr_layers, i + 1);
    assert_memory_equal (&snapshot.layers[i], &zeroed, sizeof zeroed);
    memset (&snapshot.layers[i], 1 + (int) i, sizeof zeroed);
    assert_int_equal (*(unsigned char *) &snapshot.layers[i / 2], 1 + i / 2);
  }
  snapshot_free (&snapshot);
  assert_int_equal (snapshot.nr_layers, 0);
  assert_null (snapshot.layers);
  snapshot_free (&snapshot);
}

/* What follows from the counters. */

static void
assert_close (double got, double expected)
{
  if (!(fabs (got - expected) <= fabs (expected) * 1e-12))
    fail_msg ("%.17g instead of %.17g", got, expected);
}

static void
test_rates (void **state)
{
  (void) state;
  assert_close (per_second (5, 0), 0);
  assert_close (per_second (0, 5), 0);
  assert_close (per_second (5, S), 5);
  assert_close (per_second (5, 2 * S), 2.5);
  assert_close (per_second (1, 3600 * S), 1.0 / 3600);
  assert_close (per_second (UINT64_MAX, 1), 1.8446744073709551615e28);
  assert_close (per_second (1, UINT64_MAX), 1e9 / 1.8446744073709551615e19);

  assert_close (ratio (5, 0), 0);
  assert_close (ratio (0, 5), 0);
  assert_close (ratio (5, 4), 1.25);
  assert_close (ratio (UINT64_MAX, 1), 1.8446744073709551615e19);

  assert_close (percent (5, 0), 0);
  assert_close (percent (0, 5), 0);
  assert_close (percent (1, 3), 100.0 / 3);
  assert_close (percent (UINT64_MAX, UINT64_MAX), 100);
  assert_close (percent (2, 1), 200);
}

/* Without a request every figure is 0, and none is nan. */
static void
test_nothing (void **state)
{
  const struct recorder_totals *layer = &run.layers[0];

  (void) state;
  assert_int_equal (layer_bytes_moved (layer), 0);
  assert_int_equal (layer_requests (layer), 0);
  assert_int_equal (layer_failed (layer), 0);
  assert_int_equal (layer_in_flight (layer), 0);
  assert_int_equal (layer_active_ns (layer), 0);
  assert_close (layer_mean_in_flight (layer), 0);
  for (unsigned op = 0; op < NR_OPS; op++) {
    assert_close (op_mean_in_flight (layer, op), 0);
    assert_close (op_mean_ns (&layer->ops[op]), 0);
    assert_close (op_blocks_touched (&layer->ops[op]), 0);
    assert_int_equal (op_ended (&layer->ops[op]), 0);
    assert_int_equal (op_latency_ns (&layer->ops[op]), 0);
    assert_int_equal (op_percentile (&layer->ops[op], 99000), 0);
  }
}

/* Sums over the seven operations.  Data is what reads and writes moved. */
static void
test_sums (void **state)
{
  struct recorder_totals *layer = &run.layers[0];

  (void) state;
  for (unsigned op = 0; op < NR_OPS; op++) {
    const uint64_t digit = UINT64_C (1) << (8 * op);

    layer->ops[op].tally.requests = digit;
    layer->ops[op].tally.bytes = 2 * digit;
    layer->ops[op].failures.by_errno[op].requests = 3 * digit;
    layer->ops[op].failures.by_errno[MAX_FAILURES - 1].requests = digit;
    layer->time.in_flight[op] = op + 1;
  }
  assert_int_equal (layer_requests (layer), 0x01010101010101);
  assert_int_equal (layer_failed (layer), 0x04040404040404);
  assert_int_equal (layer_in_flight (layer), 28);
  assert_int_equal (layer_bytes_moved (layer), 0x0202);
  assert_int_equal (OP_READ, 0);
  assert_int_equal (OP_WRITE, 1);
}

/* Little's law: requests in flight on average, times the time in which
 * there were any, is the time of all of them, also of those that failed.
 */
static void
test_in_flight (void **state)
{
  struct recorder_totals *layer = &run.layers[0];
  uint64_t all_ns = 0;

  (void) state;
  something_happens ();
  for (unsigned op = 0; op < NR_OPS; op++) {
    const struct op_totals *totals = &layer->ops[op];
    uint64_t ns = totals->tally.latency_ns + totals->tally.fast_zero_refused.ns;
    uint64_t ended = totals->tally.requests
      + totals->tally.fast_zero_refused.requests;

    for (unsigned i = 0; i < MAX_FAILURES; i++) {
      ns += totals->failures.by_errno[i].ns;
      ended += totals->failures.by_errno[i].requests;
    }
    assert_int_equal (op_ended (totals), ended);
    assert_int_equal (op_latency_ns (totals), ns);
    assert_close (op_mean_in_flight (layer, op)
                  * (double) layer->time.op_busy_ns[op], (double) ns);
    assert_close (op_mean_ns (totals) * (double) totals->tally.requests,
                  (double) totals->tally.latency_ns);
    all_ns += ns;
  }
  assert_close (layer_mean_in_flight (layer)
                * (double) layer->time.request_busy_ns, (double) all_ns);
}

/* A request without bytes touches no block and is not in the mean. */
static void
test_blocks_touched (void **state)
{
  struct op_totals *op = &run.layers[0].ops[OP_TRIM];
  struct record request = { .kind = OP_TRIM, .count = 12288 };

  (void) state;
  tally_record (&op->tally, &request, MS, 4096);
  request.count = 4096;
  tally_record (&op->tally, &request, MS, 4096);
  assert_close (op_blocks_touched (op), 2);
  request.count = 0;
  tally_record (&op->tally, &request, MS, 4096);
  assert_close (op_blocks_touched (op), 2);
}

static void
test_active (void **state)
{
  struct recorder_totals *layer = &run.layers[0];

  (void) state;
  layer->time.first_begin = 5 * S;
  layer->time.last_end = 7 * S;
  assert_int_equal (layer_active_ns (layer), 2 * S);
  layer->time.last_end = 4 * S;
  assert_int_equal (layer_active_ns (layer), 0);
}

static void
test_percentile (void **state)
{
  const struct record request = { .kind = OP_READ };
  struct op_totals *op = &run.layers[0].ops[OP_READ];

  (void) state;
  for (uint64_t ns = 1; ns <= 1000; ns++) {
    extremes_record (&op->extremes, &request, ns * MS, ns - 1);
    tally_record (&op->tally, &request, ns * MS, 0);
  }
  assert_in_range (op_percentile (op, 50000), 495 * MS, 505 * MS);
  assert_in_range (op_percentile (op, 99900), 990 * MS, 1000 * MS);
  assert_in_range (op_percentile (op, 1), 1 * MS, 1010 * US);

  /* Never outside the bounds, so one alone is told exactly. */
  for (uint64_t ns = 1000000; ns < 1020000; ns += 997) {
    op = &run.layers[0].ops[OP_WRITE];
    memset (op, 0, sizeof *op);
    extremes_record (&op->extremes, &request, ns, 0);
    tally_record (&op->tally, &request, ns, 0);
    assert_int_equal (op_percentile (op, 50000), ns);
  }
}

#define TEST(f) cmocka_unit_test_setup_teardown (f, start, stop)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_intervals_add_up),
    TEST (test_exports_add_up),
    TEST (test_only_export),
    TEST (test_news),
    TEST (test_interval_extremes),
    TEST (test_interval_most),
    TEST (test_copy),
    TEST (test_layers),
    TEST (test_rates),
    TEST (test_nothing),
    TEST (test_sums),
    TEST (test_in_flight),
    TEST (test_blocks_touched),
    TEST (test_active),
    TEST (test_percentile),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
