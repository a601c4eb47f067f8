/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What follows from the order of requests, against comparing each with each:
 * latencies by size and depth, which overlapped, which were sequential.  The
 * times are those of unit-concurrency.c.
 */

#include <config.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "timeline.h"
#include "unit.h"

#define EPOCH UINT64_C (1000000)
#define THREADS 64
#define MAX_REQUESTS 4000

static struct timeline timeline;
static uint64_t random_state;

static struct {
  struct record record;
  struct in_order in_order;
} requests[MAX_REQUESTS];
static size_t nr_requests;

/* What the timeline is told to look in, and the same beside it. */
static struct sequence stream;
static uint64_t own_sequential, own_small;

static int
start (void **state)
{
  (void) state;
  nr_requests = 0;
  random_state = 1;
  memset (&stream, 0, sizeof stream);
  own_sequential = own_small = 0;
  timeline_init (&timeline, EPOCH);
  return 0;
}

static uint64_t
pick (uint64_t n)
{
  return random_below (&random_state, n);
}

static void
add (unsigned kind, uint64_t begin, uint64_t end, uint32_t count, bool failed)
{
  assert_true (nr_requests < MAX_REQUESTS);
  requests[nr_requests++].record = (struct record) {
    .kind = (uint8_t) kind, .begin = EPOCH + begin, .end = EPOCH + end,
    .count = count, .failed = failed,
  };
}

/* No two threads ever begin or end at once. */
static void
add_thread (unsigned id, unsigned n, uint64_t longest, uint64_t longest_break)
{
  uint64_t now = pick (longest_break);

  for (unsigned i = 0; i < n; i++) {
    const uint64_t end = now + 1 + pick (longest);

    add ((unsigned) pick (NR_KINDS), THREADS * now + id, THREADS * end + id,
         (uint32_t) (random_64 (&random_state) >> (32 + pick (32))),
         pick (5) == 0);
    now = end + 1 + pick (longest_break);
  }
}

struct event {
  uint64_t time;
  bool begins;
  size_t request;
};

static int
by_time (const void *vp1, const void *vp2)
{
  const struct event *e1 = vp1, *e2 = vp2;

  if (e1->time != e2->time)
    return e1->time < e2->time ? -1 : 1;
  return e1->begins - e2->begins;
}

static void
tell_opening (const struct record *record)
{
  concurrency_begin (&timeline.concurrency, KIND_OPENING, record->begin);
}

static void
tell_opened (const struct record *record)
{
  concurrency_end (&timeline.concurrency, KIND_OPENING, record->end);
}

static void
tell (const struct event *event)
{
  const struct record *record = &requests[event->request].record;
  struct in_order *in_order = &requests[event->request].in_order;

  if (record->kind >= NR_OPS)
    (event->begins ? tell_opening : tell_opened) (record);
  else if (event->begins)
    timeline_begin (&timeline, in_order, record);
  else
    timeline_end (&timeline, in_order, record);
}

/* Tell all, with readings in between that show nothing else. */
static void
tell_all (uint64_t reading_one_in)
{
  static struct event events[2 * MAX_REQUESTS];
  static struct timeline_totals totals;

  for (size_t i = 0; i < nr_requests; i++) {
    events[2 * i] = (struct event) { requests[i].record.begin, true, i };
    events[2 * i + 1] = (struct event) { requests[i].record.end, false, i };
  }
  qsort (events, 2 * nr_requests, sizeof events[0], by_time);
  for (size_t i = 0; i < 2 * nr_requests; i++) {
    tell (&events[i]);
    if (reading_one_in && pick (reading_one_in) == 0)
      timeline_read (&timeline, events[i].time, &totals);
  }
}

/* What must come out. */

static bool
is_request (size_t i)
{
  return requests[i].record.kind < NR_OPS;
}

static unsigned
depth_of (size_t i)
{
  const uint64_t begin = requests[i].record.begin;
  unsigned depth = 0;

  for (size_t j = 0; j < nr_requests; j++)
    depth += is_request (j) && requests[j].record.begin <= begin
      && requests[j].record.end > begin;
  return depth;
}

static bool
overlaps (size_t i)
{
  const struct record *a = &requests[i].record;

  for (size_t j = 0; j < nr_requests; j++) {
    const struct record *b = &requests[j].record;

    if (j != i && is_request (j) && b->begin < a->end && b->end > a->begin)
      return true;
  }
  return false;
}

static void
check_all (void)
{
  static struct timeline_totals expected, got;

  memset (&expected, 0, sizeof expected);
  for (size_t i = 0; i < nr_requests; i++) {
    const struct record *r = &requests[i].record;
    struct depth_class *class;

    if (!is_request (i))
      continue;
    expected.overlapped[r->kind] += overlaps (i);
    if (r->failed)
      continue;
    class = &expected.size_depths[r->kind][size_class (r->count)]
                                 [depth_class_of (depth_of (i))];
    class->requests++;
    class->latency_ns += r->end - r->begin;
    class = &expected.depths[r->kind][depth_class_of (depth_of (i))];
    class->requests++;
    class->latency_ns += r->end - r->begin;
  }
  memset (&got, 0xff, sizeof got);
  timeline_read (&timeline, EPOCH + (UINT64_C (1) << 40), &got);
  assert_memory_equal (got.depths, expected.depths, sizeof got.depths);
  assert_memory_equal (got.size_depths, expected.size_depths,
                       sizeof got.size_depths);
  assert_memory_equal (got.overlapped, expected.overlapped,
                       sizeof got.overlapped);
}

/* The tests. */

/* 1, 2, 3-4, 5-8 and so on, and the last takes the rest. */
static void
test_depth_classes (void **state)
{
  (void) state;
  assert_int_equal (depth_class_from (0), 1);
  for (unsigned class = 0; class < DEPTH_CLASSES; class++) {
    assert_int_equal (depth_class_of (depth_class_from (class)), class);
    if (class < DEPTH_CLASSES - 1)
      assert_int_equal (depth_class_of (depth_class_from (class + 1) - 1),
                        class);
  }
  assert_int_equal (depth_class_from (DEPTH_CLASSES - 1), 65);
  assert_int_equal (depth_class_of (UINT32_MAX), DEPTH_CLASSES - 1);
}

/* One after the other, and then beside one another.  An opening leaves a
 * request alone.
 */
static void
test_overlapped (void **state)
{
  (void) state;
  add (OP_READ, 10, 20, 512, false);
  add (OP_READ, 20, 30, 512, false);
  add (KIND_OPENING, 5, 40, 0, false);
  tell_all (1);
  check_all ();
  assert_int_equal (timeline.overlapped[OP_READ], 0);

  start (state);
  add (OP_READ, 10, 100, 512, false);   /* alone at its begin and its end */
  add (OP_WRITE, 20, 30, 512, true);
  add (OP_READ, 100, 110, 512, false);
  add (OP_READ, 120, 140, 512, false);
  add (OP_WRITE, 130, 150, 512, false);
  tell_all (1);
  check_all ();
  assert_int_equal (timeline.overlapped[OP_READ], 2);
  assert_int_equal (timeline.overlapped[OP_WRITE], 2);
}

static void
test_random (void **state)
{
  static const uint64_t lengths[] = { 1, 20, 1000 };

  for (unsigned round = 0; round < 36; round++) {
    start (state);
    random_state = 1 + round;
    for (unsigned i = 0; i < 1 + round % 12 * 2; i++)
      add_thread (i, 1 + (unsigned) pick (60), lengths[round % 3],
                  lengths[round / 3 % 3]);
    tell_all (round % 4);
    check_all ();
  }
}

/* More at once than the last class begins with. */
static void
test_deep (void **state)
{
  (void) state;
  for (unsigned i = 0; i < THREADS - 1; i++)
    add_thread (i, 20, 1000, 2);
  for (unsigned i = 1; i <= 100; i++)
    add (OP_FLUSH, 10 * THREADS * i - 1, 2000 * THREADS - 1, 0, false);
  tell_all (10);
  check_all ();
}

/* Sequential: as sequence.h finds in the order of the begins, when a request
 * ends that has not failed.
 */

static void
follow (size_t i, uint64_t offset)
{
  struct record *record = &requests[i].record;

  record->offset = offset;
  timeline_begin (&timeline, &requests[i].in_order, record);
  timeline_follow (&requests[i].in_order, offset, record->count, &stream);
}

/* It ends.  All that succeed are sequential, but for the first two, of which
 * one came before the other, which follows none.
 */
static void
end_in_stream (size_t i)
{
  const struct record *record = &requests[i].record;

  timeline_end (&timeline, &requests[i].in_order, record);
  if (record->failed)
    timeline_unfollow (&timeline, &requests[i].in_order, record, &stream);
  if (i > 1 && !record->failed) {
    own_sequential++;
    own_small += record->count < SEQUENCE_SMALL;
  }
}

static void
test_sequential (void **state)
{
  enum { AT_ONCE = 8, N = 100 * AT_ONCE };
  struct timeline_totals totals;
  uint64_t offsets[AT_ONCE], offset = 0, last = 0;

  (void) state;
  for (unsigned i = 0; i < N; i++)
    add (OP_READ, 10 * (i / AT_ONCE), 10 * (i / AT_ONCE) + 5,
         pick (2) ? 4096 : 65536, pick (10) == 0);
  for (unsigned i = 0; i < N; i += AT_ONCE) {
    for (unsigned j = 0; j < AT_ONCE; j++) {
      offsets[j] = offset;
      offset += requests[i + j].record.count;
    }
    /* They begin a little out of order, and end in another. */
    for (unsigned j = 0; j < AT_ONCE; j++)
      follow (i + (j ^ 1), offsets[j ^ 1]);
    timeline_read (&timeline, EPOCH + 10 * (i / AT_ONCE) + 1, &totals);
    assert_int_equal (totals.sequential[OP_READ], last);
    for (unsigned j = 0; j < AT_ONCE; j++)
      end_in_stream (i + (j ^ (i / AT_ONCE % 4)));
    timeline_read (&timeline, EPOCH + 10 * (i / AT_ONCE) + 6, &totals);
    assert_int_equal (totals.sequential[OP_READ], own_sequential);
    assert_int_equal (totals.small_sequential[OP_READ], own_small);
    assert_true (totals.sequential[OP_READ] >= last);
    last = totals.sequential[OP_READ];
  }
  assert_in_range (own_sequential, N / 2, N);
  assert_in_range (own_small, 1, own_sequential - 1);
}

/* One that came too early was counted, and told, before it failed: the figure
 * does not go back, and is right again with the next.
 */
static void
test_sequential_in_doubt (void **state)
{
  static const struct {
    uint64_t offset;
    bool failed;
    uint64_t sequential;        /* that are told after it */
  } ends[] = {
    { 0, false, 0 }, { 512, false, 2 }, { 1024, true, 2 }, { 1536, false, 2 },
    { 2048, false, 3 },
  };
  struct timeline_totals totals;

  (void) state;
  for (unsigned i = 0; i < LENGTH (ends); i++)
    add (OP_READ, i, 100 + i, 512, ends[i].failed);
  follow (0, ends[0].offset);
  follow (2, ends[2].offset);
  for (unsigned i = 1; i < LENGTH (ends); i += 1 + (i == 1))
    follow (i, ends[i].offset);
  for (unsigned i = 0; i < LENGTH (ends); i++) {
    end_in_stream (i);
    timeline_read (&timeline, EPOCH + 101 + i, &totals);
    assert_int_equal (totals.sequential[OP_READ], ends[i].sequential);
    assert_int_equal (totals.small_sequential[OP_READ], ends[i].sequential);
  }
}

/* Time in flight is never taken back, though an end may be told late. */
static void
test_late_end (void **state)
{
  static struct timeline_totals totals;

  (void) state;
  add (OP_READ, 100, 150, 512, false);
  timeline_begin (&timeline, &requests[0].in_order, &requests[0].record);
  timeline_read (&timeline, EPOCH + 200, &totals);
  assert_int_equal (totals.in_flight_ns[OP_READ], 100);
  assert_int_equal (totals.in_flight[OP_READ], 1);
  assert_int_equal (totals.last_end, EPOCH + 200);
  timeline_end (&timeline, &requests[0].in_order, &requests[0].record);
  timeline_read (&timeline, EPOCH + 300, &totals);
  assert_int_equal (totals.in_flight_ns[OP_READ], 100);
  assert_int_equal (totals.in_flight[OP_READ], 0);
  assert_int_equal (totals.busy_ns, 100);
  assert_int_equal (totals.depths[OP_READ][0].latency_ns, 50);
}

#define TEST(f) cmocka_unit_test_setup (f, start)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_depth_classes),
    TEST (test_overlapped),
    TEST (test_random),
    TEST (test_deep),
    TEST (test_sequential),
    TEST (test_sequential_in_doubt),
    TEST (test_late_end),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
