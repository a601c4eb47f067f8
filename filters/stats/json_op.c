/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <math.h>
#include <stdio.h>

#include "clock.h"
#include "errno_name.h"
#include "histogram.h"
#include "json_op.h"

void
json_mean (struct json *json, const char *key, uint64_t sum, uint64_t n)
{
  json_real (json, key, n ? (double) sum / (double) n : NAN);
}

void
json_rate (struct json *json, const char *key, uint64_t n, uint64_t ns)
{
  json_real (json, key, ns ? per_second (n, ns) : NAN);
}

void
json_in_flight (struct json *json, double mean, uint64_t busy_ns,
                uint64_t most, uint64_t now, uint64_t ns)
{
  JSON_OBJECT (json, "in_flight") {
    json_real (json, "mean", busy_ns ? mean : NAN);
    json_count (json, "max", most);
    json_count (json, "now", now);
    json_count (json, "ns", ns);
  }
}

/* Failures. */

static void
add_failure (struct json *json, const struct failure *failure)
{
  json_count (json, "total", failure->requests);
  json_count (json, "ns", failure->ns);
  if (failure->requests)
    json_count (json, "longest_ns", failure->longest_ns);
  else
    json_null (json, "longest_ns");
}

static void
add_failures_by_errno (struct json *json, const struct failures *failures)
{
  char name[ERRNO_NAME_LEN];

  for (unsigned i = 0; i < MAX_FAILURES; i++) {
    const struct failure *failure = &failures->by_errno[i];

    if (failure->requests)
      JSON_OBJECT (json, errno_name (name, failure->error))
        add_failure (json, failure);
  }
}

static void
add_failures (struct json *json, const struct failures *failures)
{
  const struct failure total = failures_total (failures);

  JSON_OBJECT (json, "failed") {
    add_failure (json, &total);
    JSON_OBJECT (json, "by_errno")
      add_failures_by_errno (json, failures);
  }
}

/* Latencies. */

void
json_percentiles (struct json *json, const struct op_totals *op)
{
  /* Those of fio, in thousandths of a percent. */
  static const unsigned percentiles[] = {
    1000, 5000, 10000, 20000, 30000, 40000, 50000, 60000, 70000, 80000,
    90000, 95000, 99000, 99500, 99900, 99950, 99990,
  };
  char key[16];

  if (op->tally.requests == 0)
    return;
  for (size_t i = 0; i < sizeof percentiles / sizeof percentiles[0]; i++) {
    snprintf (key, sizeof key, "%u.%03u000", percentiles[i] / 1000,
              percentiles[i] % 1000);
    json_count (json, key, op_percentile (op, percentiles[i]));
  }
}

static void
add_bins (struct json *json, const uint64_t bins[HISTOGRAM_ALL])
{
  char key[JSON_DIGITS_LEN];

  for (unsigned bin = 0; bin < HISTOGRAM_BINS; bin++) {
    if (bins[bin])
      json_count (json, json_digits (key, histogram_low (bin)), bins[bin]);
  }
}

static void
add_bounds (struct json *json, const struct op_totals *op)
{
  if (op->tally.requests) {
    json_count (json, "min", op->extremes.min_ns);
    json_count (json, "max", op->extremes.max_ns);
  }
  else {
    json_null (json, "min");
    json_null (json, "max");
  }
}

/* How many they are, under this key, and how long they took.  The sum is
 * left to the caller.
 */
static void
add_distribution (struct json *json, const char *key,
                  const struct op_totals *op)
{
  const uint64_t n = op->tally.requests;

  add_bounds (json, op);
  json_real (json, "mean", n ? op_mean_ns (op) : NAN);
  json_real (json, "stddev",
             n ? extremes_stddev (&op->extremes, n, op->tally.latency_ns)
               : NAN);
  json_count (json, key, n);
  JSON_OBJECT (json, "percentile")
    json_percentiles (json, op);
  JSON_OBJECT (json, "bins")
    add_bins (json, op->tally.bins);
  json_count (json, "overflow", op->tally.bins[HISTOGRAM_OVERFLOW]);
  json_count (json, "sum_squares",
              (unsigned __int128) op->extremes.squares_high << 64
              | op->extremes.squares_low);
}

/* By how many requests were in flight at the begin. */

static void
add_depth (struct json *json, unsigned class,
           const struct depth_class *depth)
{
  JSON_OBJECT (json, NULL) {
    json_count (json, "from", depth_class_from (class));
    if (class < DEPTH_CLASSES - 1)
      json_count (json, "to", depth_class_from (class + 1) - 1);
    else
      json_null (json, "to");
    json_count (json, "requests", depth->requests);
    json_mean (json, "lat_ns_mean", depth->latency_ns, depth->requests);
    json_count (json, "lat_ns_sum", depth->latency_ns);
  }
}

static void
add_depths (struct json *json,
            const struct depth_class depths[DEPTH_CLASSES])
{
  JSON_ARRAY (json, "depths") {
    for (unsigned class = 0; class < DEPTH_CLASSES; class++) {
      if (depths[class].requests)
        add_depth (json, class, &depths[class]);
    }
  }
}

/* Sizes and alignments.  A flush has none. */

static void
add_size (struct json *json, unsigned class, const struct size_class *size,
          const struct depth_class depths[DEPTH_CLASSES])
{
  const uint64_t from = class ? UINT64_C (1) << (class - 1) : 0;

  JSON_OBJECT (json, NULL) {
    json_count (json, "from", from);
    json_count (json, "to", class ? 2 * from - 1 : 0);
    json_count (json, "requests", size->requests);
    json_count (json, "bytes", size->bytes);
    json_mean (json, "lat_ns_mean", size->latency_ns, size->requests);
    json_count (json, "lat_ns_sum", size->latency_ns);
    add_depths (json, depths);
  }
}

static void
add_sizes (struct json *json, const struct recorder_totals *layer, enum op op,
           bool has_sizes)
{
  const struct size_class *sizes = layer->ops[op].tally.sizes;

  JSON_ARRAY (json, "sizes") {
    for (unsigned class = 0; has_sizes && class < SIZE_CLASSES; class++) {
      if (sizes[class].requests)
        add_size (json, class, &sizes[class],
                  layer->time.size_depths[op][class]);
    }
  }
}

/* The last place is of what is 0. */
static void
add_alignments (struct json *json, const char *key,
                const uint64_t *requests, unsigned places)
{
  JSON_ARRAY (json, key) {
    for (unsigned k = 0; k < places; k++) {
      if (requests[k] == 0)
        continue;
      JSON_OBJECT (json, NULL) {
        json_count (json, "align", k < places - 1 ? UINT64_C (1) << k : 0);
        json_count (json, "requests", requests[k]);
      }
    }
  }
}

static void
add_alignment (struct json *json, const struct tally *tally, bool has_sizes)
{
  JSON_OBJECT (json, "alignment") {
    add_alignments (json, "offset", tally->offset_alignment,
                    has_sizes ? OFFSET_ALIGNMENTS : 0);
    add_alignments (json, "length", tally->length_alignment,
                    has_sizes ? LENGTH_ALIGNMENTS : 0);
    json_count (json, "misaligned", tally->misaligned);
  }
}

static void
add_block_fit (struct json *json, const struct tally *tally, uint64_t block)
{
  static const char *const keys[BLOCKS_TOUCHED] = { "1", "2", "3", "more" };

  if (block == 0) {
    json_null (json, "block_fit");
    return;
  }
  JSON_OBJECT (json, "block_fit") {
    json_count (json, "block", block);
    json_count (json, "aligned", tally->blocks.aligned);
    json_count (json, "smaller", tally->blocks.smaller);
    json_count (json, "touched", tally->blocks.touched);
    JSON_OBJECT (json, "by_touched") {
      for (unsigned i = 0; i < BLOCKS_TOUCHED; i++)
        json_count (json, keys[i], tally->blocks.by_touched[i]);
    }
  }
}

/* What kind of requests they were. */

static void
add_flags (struct json *json, const struct tally *tally)
{
  JSON_OBJECT (json, "flags") {
    json_count (json, "fua", tally->flags[FLAG_FUA]);
    json_count (json, "may_trim", tally->flags[FLAG_MAY_TRIM]);
    json_count (json, "fast_zero", tally->flags[FLAG_FAST_ZERO]);
    json_count (json, "req_one", tally->flags[FLAG_REQ_ONE]);
  }
  JSON_OBJECT (json, "fast_zero_refused") {
    json_count (json, "total", tally->fast_zero_refused.requests);
    json_count (json, "ns", tally->fast_zero_refused.ns);
  }
}

static void
add_slow (struct json *json, const struct slow_request *slow, uint64_t start)
{
  JSON_OBJECT (json, NULL) {
    json_count (json, "size", slow->count);
    json_count (json, "offset", slow->offset);
    json_count (json, "latency_ns", slow->latency_ns);
    json_count (json, "begin_ns", clock_since (start, slow->begin));
  }
}

static void
add_slowest (struct json *json, const struct extremes *extremes,
             uint64_t start)
{
  const struct slow_request *slow = extremes->slowest;

  JSON_ARRAY (json, "slowest") {
    for (unsigned i = 0; i < NR_SLOWEST && slow[i].latency_ns; i++)
      add_slow (json, &slow[i], start);
  }
}

static void
add_returned (struct json *json, const struct tally *tally)
{
  JSON_OBJECT (json, "returned") {
    json_count (json, "extents", tally->extents.count);
    json_count (json, "data_bytes", tally->extents.data);
    json_count (json, "hole_bytes", tally->extents.hole);
    json_count (json, "zero_bytes", tally->extents.zero);
  }
}

static void
add_amounts (struct json *json, const struct tally *tally, uint64_t busy_ns)
{
  json_count (json, "total_ios", tally->requests);
  json_count (json, "io_bytes", tally->bytes);
  json_count (json, "busy_ns", busy_ns);
}

static void
add_rates (struct json *json, const struct tally *tally, uint64_t busy_ns,
           uint64_t active_ns, uint64_t elapsed_ns)
{
  json_rate (json, "bw_bytes", tally->bytes, elapsed_ns);
  json_rate (json, "active_bw_bytes", tally->bytes, active_ns);
  json_rate (json, "busy_bw_bytes", tally->bytes, busy_ns);
  json_rate (json, "iops", tally->requests, elapsed_ns);
  json_rate (json, "active_iops", tally->requests, active_ns);
}

static void
add_op (struct json *json, const struct recorder_totals *layer, enum op op,
        const struct snapshot *snapshot)
{
  const struct op_totals *totals = &layer->ops[op];
  const struct timeline_totals *time = &layer->time;
  const bool has_sizes = op_kind (op) != KIND_NONE;

  add_amounts (json, &totals->tally, time->op_busy_ns[op]);
  add_rates (json, &totals->tally, time->op_busy_ns[op],
             layer_active_ns (layer), snapshot->elapsed_ns);
  add_failures (json, &totals->failures);
  JSON_OBJECT (json, "lat_ns") {
    add_distribution (json, "N", totals);
    json_count (json, "sum", totals->tally.latency_ns);
  }
  json_in_flight (json, op_mean_in_flight (layer, op), time->op_busy_ns[op],
                  time->op_most_in_flight[op], time->in_flight[op],
                  time->in_flight_ns[op]);
  add_depths (json, time->depths[op]);
  add_sizes (json, layer, op, has_sizes);
  add_alignment (json, &totals->tally, has_sizes);
  add_block_fit (json, &totals->tally, has_sizes ? snapshot->block : 0);
  json_count (json, "sequential_ios", time->sequential[op]);
  json_count (json, "small_sequential_ios", time->small_sequential[op]);
  json_count (json, "overlapped_ios", time->overlapped[op]);
  add_flags (json, &totals->tally);
  if (snapshot->zero && op == OP_WRITE)
    json_count (json, "zero_bytes", totals->tally.zero_bytes);
  else
    json_null (json, "zero_bytes");
  add_slowest (json, &totals->extremes, snapshot->start);
  if (op_kind (op) == KIND_QUERY)
    add_returned (json, &totals->tally);
}

void
json_op (struct json *json, const struct recorder_totals *layer, enum op op,
         const struct snapshot *snapshot)
{
  JSON_OBJECT (json, op_name (op))
    add_op (json, layer, op, snapshot);
}

void
json_op_totals (struct json *json, const struct recorder_totals *layer,
                enum op op)
{
  JSON_OBJECT (json, op_name (op)) {
    add_amounts (json, &layer->ops[op].tally, layer->time.op_busy_ns[op]);
    add_failures (json, &layer->ops[op].failures);
  }
}

/* Gaps. */

static void
add_longest (struct json *json, const struct slow_request *longest,
             uint64_t start)
{
  JSON_ARRAY (json, "longest") {
    for (unsigned i = 0; i < NR_SLOWEST && longest[i].latency_ns; i++) {
      JSON_OBJECT (json, NULL) {
        json_count (json, "begin_ns", clock_since (start, longest[i].begin));
        json_count (json, "ns", longest[i].latency_ns);
      }
    }
  }
}

void
json_gaps (struct json *json, const struct op_totals *gaps, uint64_t start)
{
  JSON_OBJECT (json, "gaps") {
    json_count (json, "sum", gaps->tally.latency_ns);
    add_distribution (json, "count", gaps);
    add_longest (json, gaps->extremes.slowest, start);
  }
}
