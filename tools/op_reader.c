/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <json.h>

#include "errno_name.h"
#include "histogram.h"
#include "op_reader.h"

/* What in an array is for: a class that a report cannot have is told, and
 * the place of another is used instead.
 */
static unsigned
checked_class (const struct input *object, unsigned class, unsigned classes)
{
  if (class < classes)
    return class;
  input_error (object, NULL, "is no class of a report");
  return 0;
}

/* Failures. */

/* The inverse of errno_name; MAX_FAILURES where none has that name. */
static unsigned
errno_of (const char *name)
{
  char buf[ERRNO_NAME_LEN];

  if (strcmp (name, errno_name (buf, FAILURE_OTHER)) == 0)
    return 0;
  for (unsigned error = 1; error < MAX_FAILURES; error++) {
    if (strcmp (name, errno_name (buf, error)) == 0)
      return error;
  }
  return MAX_FAILURES;
}

static void
read_failure (const struct input *by_errno, const char *name,
              struct failures *failures)
{
  const struct input object = input_object (by_errno, name);
  const unsigned i = errno_of (name);

  if (i == MAX_FAILURES) {
    input_error (&object, NULL, "is no errno");
    return;
  }
  failures->by_errno[i] = (struct failure) {
    .error = i ? i : FAILURE_OTHER,
    .requests = input_count (&object, "total"),
    .ns = input_count (&object, "ns"),
    .longest_ns = input_count_or_null (&object, "longest_ns"),
  };
}

static void
read_failures (const struct input *op, struct failures *failures)
{
  const struct input failed = input_object (op, "failed");
  const struct input by_errno = input_object (&failed, "by_errno");

  if (by_errno.value == NULL)
    return;
  json_object_object_foreach (by_errno.value, name, value) {
    (void) value;
    read_failure (&by_errno, name, failures);
  }
}

/* Latencies. */

static void
read_bins (const struct input *latency, uint64_t bins[HISTOGRAM_ALL])
{
  const struct input object = input_object (latency, "bins");

  if (object.value == NULL)
    return;
  json_object_object_foreach (object.value, key, value) {
    char *end;
    const uint64_t low = strtoull (key, &end, 10);

    (void) value;
    if (*end == '\0' && end != key && histogram_bin (low) < HISTOGRAM_BINS)
      bins[histogram_bin (low)] += input_count (&object, key);
    else
      input_error (&object, key, "is no bin");
  }
}

/* How many they are stands under key. */
static void
read_distribution (const struct input *object, const char *key,
                   struct op_totals *totals)
{
  const unsigned __int128 squares = input_large (object, "sum_squares");
  struct tally *tally = &totals->tally;

  tally->requests = input_count (object, key);
  tally->latency_ns = input_count (object, "sum");
  totals->extremes.squares_low = (uint64_t) squares;
  totals->extremes.squares_high = (uint64_t) (squares >> 64);
  totals->extremes.min_ns = input_count_or_null (object, "min");
  totals->extremes.max_ns = input_count_or_null (object, "max");
  read_bins (object, tally->bins);
  tally->bins[HISTOGRAM_OVERFLOW] += input_count (object, "overflow");
  if (histogram_count (tally->bins) != tally->requests)
    input_error (object, "bins", "do not add up to %s", key);
}

static void
read_latency (const struct input *op, struct op_totals *totals)
{
  const struct input latency = input_object (op, "lat_ns");
  const uint64_t requests = totals->tally.requests;

  read_distribution (&latency, "N", totals);
  if (totals->tally.requests != requests)
    input_error (&latency, "N", "is not total_ios");
}

/* Gaps before requests. */

void
read_gaps (const struct input *layer, struct op_totals *gaps, uint64_t start)
{
  const struct input object = input_object (layer, "gaps");
  const struct input list = input_list (&object, "longest");

  read_distribution (&object, "count", gaps);
  for (size_t i = 0; i < input_length (&list); i++) {
    const struct input gap = input_item (&list, i);

    gaps->extremes.slowest[checked_class (&gap, (unsigned) i, NR_SLOWEST)]
      = (struct slow_request) {
        .latency_ns = input_count (&gap, "ns"),
        .begin = start + input_count (&gap, "begin_ns"),
      };
  }
}

/* Requests in flight. */

static void
read_in_flight (const struct input *op, struct timeline_totals *time, enum op i)
{
  const struct input object = input_object (op, "in_flight");

  time->op_most_in_flight[i] = input_small (&object, "max");
  time->in_flight[i] = input_small (&object, "now");
  time->in_flight_ns[i] = input_count (&object, "ns");
}

static void
read_depths (const struct input *parent,
             struct depth_class depths[DEPTH_CLASSES])
{
  const struct input list = input_list (parent, "depths");

  for (size_t i = 0; i < input_length (&list); i++) {
    const struct input object = input_item (&list, i);
    const unsigned class
      = checked_class (&object,
                       depth_class_of (input_small (&object, "from")),
                       DEPTH_CLASSES);

    depths[class].requests = input_count (&object, "requests");
    depths[class].latency_ns = input_count (&object, "lat_ns_sum");
  }
}

/* Sizes and alignments. */

/* What was counted in classes is all that was counted under key. */
static void
check_sum (const struct input *list, unsigned __int128 sum, uint64_t all,
           const char *key)
{
  if (sum != all)
    input_error (list, NULL, "does not add up to %s", key);
}

static void
read_sizes (const struct input *op, struct recorder_totals *layer, enum op i)
{
  const struct input list = input_list (op, "sizes");
  struct tally *tally = &layer->ops[i].tally;
  unsigned __int128 requests = 0, bytes = 0;

  for (size_t j = 0; j < input_length (&list); j++) {
    const struct input object = input_item (&list, j);
    const unsigned class = size_class (input_small (&object, "from"));

    tally->sizes[class] = (struct size_class) {
      .requests = input_count (&object, "requests"),
      .bytes = input_count (&object, "bytes"),
      .latency_ns = input_count (&object, "lat_ns_sum"),
    };
    read_depths (&object, layer->time.size_depths[i][class]);
    requests += tally->sizes[class].requests;
    bytes += tally->sizes[class].bytes;
  }
  if (op_kind (i) == KIND_NONE)
    return;
  check_sum (&list, requests, tally->requests, "total_ios");
  check_sum (&list, bytes, tally->bytes, "io_bytes");
}

/* The place of a power of two; the last is of 0. */
static unsigned
alignment_place (uint64_t align, unsigned places)
{
  return align ? (unsigned) __builtin_ctzll (align) : places - 1;
}

static void
read_alignments (const struct input *alignment, const char *key,
                 uint64_t *requests, unsigned places, uint64_t total)
{
  const struct input list = input_list (alignment, key);
  unsigned __int128 sum = 0;

  for (size_t i = 0; i < input_length (&list); i++) {
    const struct input object = input_item (&list, i);
    const unsigned place = alignment_place (input_count (&object, "align"),
                                            places);
    const uint64_t n = input_count (&object, "requests");

    requests[checked_class (&object, place, places)] = n;
    sum += n;
  }
  check_sum (&list, sum, total, "total_ios");
}

static void
read_alignment (const struct input *object, struct tally *tally, enum op op)
{
  const struct input alignment = input_object (object, "alignment");
  const uint64_t total = op_kind (op) == KIND_NONE ? 0 : tally->requests;

  read_alignments (&alignment, "offset", tally->offset_alignment,
                   OFFSET_ALIGNMENTS, total);
  read_alignments (&alignment, "length", tally->length_alignment,
                   LENGTH_ALIGNMENTS, total);
  tally->misaligned = input_count (&alignment, "misaligned");
}

static void
read_block_fit (const struct input *op, struct tally *tally)
{
  static const char *const keys[BLOCKS_TOUCHED] = { "1", "2", "3", "more" };
  const struct input fit = input_object (op, "block_fit");
  const struct input by_touched = input_object (&fit, "by_touched");

  tally->blocks.aligned = input_count (&fit, "aligned");
  tally->blocks.smaller = input_count (&fit, "smaller");
  tally->blocks.touched = input_count (&fit, "touched");
  for (unsigned i = 0; i < BLOCKS_TOUCHED; i++)
    tally->blocks.by_touched[i] = input_count (&by_touched, keys[i]);
}

/* What kind of requests they were. */

static void
read_flags (const struct input *op, struct tally *tally)
{
  const struct input flags = input_object (op, "flags");
  const struct input refused = input_object (op, "fast_zero_refused");

  tally->flags[FLAG_FUA] = input_count (&flags, "fua");
  tally->flags[FLAG_MAY_TRIM] = input_count (&flags, "may_trim");
  tally->flags[FLAG_FAST_ZERO] = input_count (&flags, "fast_zero");
  tally->flags[FLAG_REQ_ONE] = input_count (&flags, "req_one");
  tally->fast_zero_refused.requests = input_count (&refused, "total");
  tally->fast_zero_refused.ns = input_count (&refused, "ns");
}

static void
read_slowest (const struct input *op, struct extremes *extremes,
              uint64_t start)
{
  const struct input list = input_list (op, "slowest");

  for (size_t i = 0; i < input_length (&list); i++) {
    const struct input object = input_item (&list, i);

    extremes->slowest[checked_class (&object, (unsigned) i, NR_SLOWEST)]
      = (struct slow_request) {
        .latency_ns = input_count (&object, "latency_ns"),
        .begin = start + input_count (&object, "begin_ns"),
        .offset = input_count (&object, "offset"),
        .count = input_count (&object, "size"),
      };
  }
}

static void
read_returned (const struct input *op, struct extents_tally *extents)
{
  const struct input returned = input_object (op, "returned");

  extents->count = input_count (&returned, "extents");
  extents->data = input_large (&returned, "data_bytes");
  extents->hole = input_large (&returned, "hole_bytes");
  extents->zero = input_large (&returned, "zero_bytes");
}

static void
read_tally (const struct input *object, struct tally *tally, enum op op)
{
  tally->requests = input_count (object, "total_ios");
  tally->bytes = input_count (object, "io_bytes");
  tally->zero_bytes = input_count_or_null (object, "zero_bytes");
  read_alignment (object, tally, op);
  if (input_has (object, "block_fit"))
    read_block_fit (object, tally);
  read_flags (object, tally);
  if (op_kind (op) == KIND_QUERY)
    read_returned (object, &tally->extents);
}

static void
read_time (const struct input *object, struct timeline_totals *time,
           enum op op)
{
  time->op_busy_ns[op] = input_count (object, "busy_ns");
  time->sequential[op] = input_count (object, "sequential_ios");
  time->small_sequential[op] = input_count (object, "small_sequential_ios");
  time->overlapped[op] = input_count (object, "overlapped_ios");
  read_in_flight (object, time, op);
  read_depths (object, time->depths[op]);

  /* What has no sizes has them all in one. */
  if (op_kind (op) == KIND_NONE)
    memcpy (time->size_depths[op][0], time->depths[op],
            sizeof time->depths[op]);
}

void
read_op (const struct input *object, struct recorder_totals *layer,
         enum op op, const struct snapshot *snapshot)
{
  read_tally (object, &layer->ops[op].tally, op);
  read_failures (object, &layer->ops[op].failures);
  read_latency (object, &layer->ops[op]);
  read_sizes (object, layer, op);
  read_slowest (object, &layer->ops[op].extremes, snapshot->start);
  read_time (object, &layer->time, op);
}
