/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "clock.h"
#include "errno_name.h"
#include "histogram.h"
#include "json_op.h"

/* A key that is a number. */
#define KEY_LEN 24

void
json_add_mean (struct json_node to, const char *key, uint64_t sum, uint64_t n)
{
  add_real (to, key, n ? (double) sum / (double) n : NAN);
}

void
json_add_rate (struct json_node to, const char *key, uint64_t n, uint64_t ns)
{
  add_real (to, key, ns ? per_second (n, ns) : NAN);
}

void
json_add_in_flight (struct json_node to, double mean, uint64_t busy_ns,
                    uint64_t most, uint64_t now)
{
  struct json_node in_flight = add_object (to, "in_flight");

  add_real (in_flight, "mean", busy_ns ? mean : NAN);
  add_count (in_flight, "max", most);
  add_count (in_flight, "now", now);
}

/* Failures. */

static void
add_failure (struct json_node failed, const struct failure *failure)
{
  add_count (failed, "total", failure->requests);
  add_count (failed, "ns", failure->ns);
  if (failure->requests)
    add_count (failed, "longest_ns", failure->longest_ns);
  else
    add_null (failed, "longest_ns");
}

static void
add_failures (struct json_node to, const struct failures *failures)
{
  const struct failure total = failures_total (failures);
  struct json_node failed = add_object (to, "failed");
  struct json_node by_errno;

  add_failure (failed, &total);
  by_errno = add_object (failed, "by_errno");
  for (unsigned i = 0; i < MAX_FAILURES; i++) {
    const struct failure *failure = &failures->by_errno[i];
    char name[ERRNO_NAME_LEN];

    if (failure->requests)
      add_failure (add_object (by_errno, errno_name (name, failure->error)),
                   failure);
  }
}

/* Latencies. */

static void
add_percentiles (struct json_node latency, const struct op_totals *op)
{
  /* Those of fio, in thousandths of a percent. */
  static const unsigned percentiles[] = {
    1000, 5000, 10000, 20000, 30000, 40000, 50000, 60000, 70000, 80000,
    90000, 95000, 99000, 99500, 99900, 99950, 99990,
  };
  struct json_node percentile = add_object (latency, "percentile");
  char key[KEY_LEN];

  if (op->tally.requests == 0)
    return;
  for (size_t i = 0; i < sizeof percentiles / sizeof percentiles[0]; i++) {
    snprintf (key, sizeof key, "%u.%03u000", percentiles[i] / 1000,
              percentiles[i] % 1000);
    add_count (percentile, key, op_percentile (op, percentiles[i]));
  }
}

static void
add_bins (struct json_node latency, const uint64_t bins[HISTOGRAM_ALL])
{
  struct json_node to = add_object (latency, "bins");
  char key[KEY_LEN];

  for (unsigned bin = 0; bin < HISTOGRAM_BINS; bin++) {
    if (bins[bin] == 0)
      continue;
    snprintf (key, sizeof key, "%" PRIu64, histogram_low (bin));
    add_count (to, key, bins[bin]);
  }
  add_count (latency, "overflow", bins[HISTOGRAM_OVERFLOW]);
}

static void
add_bounds (struct json_node latency, const struct op_totals *op)
{
  if (op->tally.requests) {
    add_count (latency, "min", op->extremes.min_ns);
    add_count (latency, "max", op->extremes.max_ns);
  }
  else {
    add_null (latency, "min");
    add_null (latency, "max");
  }
}

static void
add_latency (struct json_node to, const struct op_totals *op)
{
  const uint64_t n = op->tally.requests;
  struct json_node latency = add_object (to, "lat_ns");

  add_bounds (latency, op);
  add_real (latency, "mean", n ? op_mean_ns (op) : NAN);
  add_real (latency, "stddev",
            n ? extremes_stddev (&op->extremes, n, op->tally.latency_ns)
              : NAN);
  add_count (latency, "N", n);
  add_percentiles (latency, op);
  add_bins (latency, op->tally.bins);
}

/* By how many requests were in flight at the begin. */
static void
add_depths (struct json_node to,
            const struct depth_class depths[DEPTH_CLASSES])
{
  struct json_node node = add_array (to, "depths");

  for (unsigned i = 0; i < DEPTH_CLASSES; i++) {
    struct json_node class;

    if (depths[i].requests == 0)
      continue;
    class = add_object (node, NULL);
    add_count (class, "from", depth_class_from (i));
    if (i < DEPTH_CLASSES - 1)
      add_count (class, "to", depth_class_from (i + 1) - 1);
    else
      add_null (class, "to");
    add_count (class, "requests", depths[i].requests);
    json_add_mean (class, "lat_ns_mean", depths[i].latency_ns,
                   depths[i].requests);
  }
}

/* Sizes and alignments.  A flush has none. */

static void
add_sizes (struct json_node to, const struct tally *tally, bool has_sizes)
{
  struct json_node sizes = add_array (to, "sizes");

  for (unsigned k = 0; has_sizes && k < SIZE_CLASSES; k++) {
    const struct size_class *size = &tally->sizes[k];
    const uint64_t from = k ? UINT64_C (1) << (k - 1) : 0;
    struct json_node class;

    if (size->requests == 0)
      continue;
    class = add_object (sizes, NULL);
    add_count (class, "from", from);
    add_count (class, "to", k ? 2 * from - 1 : 0);
    add_count (class, "requests", size->requests);
    add_count (class, "bytes", size->bytes);
    json_add_mean (class, "lat_ns_mean", size->latency_ns, size->requests);
  }
}

/* The last place is of what is 0. */
static void
add_alignments (struct json_node to, const char *key,
                const uint64_t *requests, unsigned places)
{
  struct json_node alignments = add_array (to, key);

  for (unsigned k = 0; k < places; k++) {
    struct json_node alignment;

    if (requests[k] == 0)
      continue;
    alignment = add_object (alignments, NULL);
    add_count (alignment, "align", k < places - 1 ? UINT64_C (1) << k : 0);
    add_count (alignment, "requests", requests[k]);
  }
}

static void
add_alignment (struct json_node to, const struct tally *tally,
               bool has_sizes)
{
  struct json_node alignment = add_object (to, "alignment");

  add_alignments (alignment, "offset", tally->offset_alignment,
                  has_sizes ? OFFSET_ALIGNMENTS : 0);
  add_alignments (alignment, "length", tally->length_alignment,
                  has_sizes ? LENGTH_ALIGNMENTS : 0);
}

static void
add_block_fit (struct json_node to, const struct tally *tally,
               uint64_t block)
{
  static const char *const keys[BLOCKS_TOUCHED] = { "1", "2", "3", "more" };
  struct json_node fit, by_touched;

  if (block == 0) {
    add_null (to, "block_fit");
    return;
  }
  fit = add_object (to, "block_fit");
  add_count (fit, "block", block);
  add_count (fit, "aligned", tally->blocks.aligned);
  add_count (fit, "smaller", tally->blocks.smaller);
  add_count (fit, "touched", tally->blocks.touched);
  by_touched = add_object (fit, "by_touched");
  for (unsigned i = 0; i < BLOCKS_TOUCHED; i++)
    add_count (by_touched, keys[i], tally->blocks.by_touched[i]);
}

/* What kind of requests they were. */

static void
add_flags (struct json_node to, const struct tally *tally)
{
  struct json_node flags = add_object (to, "flags");
  struct json_node refused;

  add_count (flags, "fua", tally->flags[FLAG_FUA]);
  add_count (flags, "may_trim", tally->flags[FLAG_MAY_TRIM]);
  add_count (flags, "fast_zero", tally->flags[FLAG_FAST_ZERO]);
  add_count (flags, "req_one", tally->flags[FLAG_REQ_ONE]);

  refused = add_object (to, "fast_zero_refused");
  add_count (refused, "total", tally->fast_zero_refused.requests);
  add_count (refused, "ns", tally->fast_zero_refused.ns);
}

static void
add_slowest (struct json_node to, const struct extremes *extremes,
             uint64_t start)
{
  struct json_node slowest = add_array (to, "slowest");

  for (unsigned i = 0; i < NR_SLOWEST; i++) {
    const struct slow_request *slow = &extremes->slowest[i];
    struct json_node request;

    if (slow->latency_ns == 0)
      break;
    request = add_object (slowest, NULL);
    add_count (request, "size", slow->count);
    add_count (request, "offset", slow->offset);
    add_count (request, "latency_ns", slow->latency_ns);
    add_count (request, "begin_ns", clock_since (start, slow->begin));
  }
}

static void
add_returned (struct json_node to, const struct tally *tally)
{
  struct json_node returned = add_object (to, "returned");

  add_count (returned, "extents", tally->extents.count);
  add_count (returned, "data_bytes", tally->extents.data);
  add_count (returned, "hole_bytes", tally->extents.hole);
  add_count (returned, "zero_bytes", tally->extents.zero);
}

static void
add_amounts (struct json_node to, const struct tally *tally,
             uint64_t busy_ns, uint64_t elapsed_ns)
{
  add_count (to, "total_ios", tally->requests);
  add_count (to, "io_bytes", tally->bytes);
  add_count (to, "busy_ns", busy_ns);
  json_add_rate (to, "bw_bytes", tally->bytes, elapsed_ns);
  json_add_rate (to, "busy_bw_bytes", tally->bytes, busy_ns);
  json_add_rate (to, "iops", tally->requests, elapsed_ns);
}

void
json_op_add (struct json_node to, const struct recorder_totals *layer,
             enum op op, const struct snapshot *snapshot)
{
  const struct op_totals *totals = &layer->ops[op];
  const struct timeline_totals *time = &layer->time;
  const bool has_sizes = op_kind (op) != KIND_NONE;
  struct json_node node = add_object (to, op_name (op));

  add_amounts (node, &totals->tally, time->op_busy_ns[op],
               snapshot->elapsed_ns);
  add_failures (node, &totals->failures);
  add_latency (node, totals);
  json_add_in_flight (node, op_mean_in_flight (layer, op),
                      time->op_busy_ns[op], time->op_most_in_flight[op],
                      time->in_flight[op]);
  add_depths (node, time->depths[op]);
  add_sizes (node, &totals->tally, has_sizes);
  add_alignment (node, &totals->tally, has_sizes);
  add_block_fit (node, &totals->tally, has_sizes ? snapshot->block : 0);
  add_count (node, "sequential_ios", time->sequential[op]);
  add_flags (node, &totals->tally);
  if (snapshot->zero && op == OP_WRITE)
    add_count (node, "zero_bytes", totals->tally.zero_bytes);
  else
    add_null (node, "zero_bytes");
  add_slowest (node, &totals->extremes, snapshot->start);
  if (op_kind (op) == KIND_QUERY)
    add_returned (node, &totals->tally);
}
