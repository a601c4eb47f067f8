/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Busy time is the length of the union of the requests' intervals, and
 * the most in flight is how many of them overlap.
 *
 * Here one thread plays nearly all parts, with times it makes up: several
 * logs, each one request at a time, and sweeps at any moment.  What comes
 * out must be, to the nanosecond, what sorting and merging all intervals
 * gives.  Only a request that tells its begin late may lose something.
 */

#include <config.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "busy.h"
#include "ops.h"
#include "timeline.h"
#include "unit.h"

#define NR_LOGS 6
#define MAX_REQUESTS 20000
#define EPOCH UINT64_C (1000000)        /* when each test begins */

/* The world that the timeline under test is told of. */
static struct timeline timeline;
static struct timeline_log logs[NR_LOGS];
static bool in_flight[NR_LOGS];
static struct interval requests[NR_LOGS]; /* in flight, or the last one */
static struct interval ended[MAX_REQUESTS];
static size_t nr_ended;
static uint64_t now;

/* When recent figures began, and what was in flight then. */
static uint64_t recent_since;
static unsigned recent_in_flight[NR_OPS];

static int
start (void **state)
{
  (void) state;
  memset (logs, 0, sizeof logs);
  memset (in_flight, 0, sizeof in_flight);
  memset (requests, 0, sizeof requests);
  memset (recent_in_flight, 0, sizeof recent_in_flight);
  nr_ended = 0;
  now = recent_since = EPOCH;
  timeline_init (&timeline);
  for (unsigned i = 0; i < NR_LOGS; i++)
    assert_int_equal (timeline_attach (&timeline, &logs[i]), 0);
  return 0;
}

static int
stop (void **state)
{
  (void) state;
  timeline_destroy (&timeline);
  return 0;
}

static void
begin_at (unsigned i, enum op op, uint64_t t)
{
  assert_false (in_flight[i]);
  in_flight[i] = true;
  requests[i] = (struct interval) {
    .begin = t, .op = (uint8_t) op, .succeeded = t % 8 != 0,
  };
  timeline_begin (&logs[i], op, t);
}

static void
end_at (unsigned i, uint64_t t)
{
  assert_true (in_flight[i]);
  in_flight[i] = false;
  requests[i].end = t;
  assert_true (nr_ended < MAX_REQUESTS);
  ended[nr_ended++] = requests[i];
  timeline_end (&timeline, &logs[i], requests[i]);
}

static void
request (unsigned i, enum op op, uint64_t begin, uint64_t end)
{
  begin_at (i, op, begin);
  end_at (i, end);
}

static struct timeline_totals
sweep_at (uint64_t t)
{
  struct timeline_totals totals;

  memset (&totals, 0xff, sizeof totals);
  timeline_sweep (&timeline, t, &totals);
  recent_since = t;
  memset (recent_in_flight, 0, sizeof recent_in_flight);
  for (unsigned i = 0; i < NR_LOGS; i++) {
    if (in_flight[i])
      recent_in_flight[requests[i].op]++;
  }
  return totals;
}

/* What must come out, worked out the slow way. */

static int
by_begin (const void *vp1, const void *vp2)
{
  const struct interval *i1 = vp1, *i2 = vp2;

  return i1->begin < i2->begin ? -1 : i1->begin > i2->begin;
}

/* The length of the union of the intervals of one operation, or of all
 * where op is NR_OPS; the array is in the order of the begins.
 */
static uint64_t
union_ns (const struct interval *sorted, size_t n, unsigned op)
{
  uint64_t sum = 0, begin = 0, end = 0;

  for (size_t i = 0; i < n; i++) {
    if (op != NR_OPS && sorted[i].op != op)
      continue;
    if (sorted[i].begin > end) {
      sum += end - begin;
      begin = sorted[i].begin;
      end = begin;
    }
    if (sorted[i].end > end)
      end = sorted[i].end;
  }
  return sum + (end - begin);
}

static int
by_number (const void *vp1, const void *vp2)
{
  const uint64_t *n1 = vp1, *n2 = vp2;

  return *n1 < *n2 ? -1 : *n1 > *n2;
}

/* How many intervals overlap at most, as of those that begin from since
 * on; of one operation or of all.  What ends when another begins does not
 * overlap it.
 */
static unsigned
most_since (const struct interval *sorted, size_t n, unsigned op,
            uint64_t since)
{
  static uint64_t ends[MAX_REQUESTS + NR_LOGS];
  size_t nr_ends = 0, gone = 0;
  int count = 0, most = 0;

  for (size_t i = 0; i < n; i++) {
    if (op == NR_OPS || sorted[i].op == op)
      ends[nr_ends++] = sorted[i].end;
  }
  qsort (ends, nr_ends, sizeof ends[0], by_number);
  for (size_t i = 0; i < n; i++) {
    if (op != NR_OPS && sorted[i].op != op)
      continue;
    for (; gone < nr_ends && ends[gone] <= sorted[i].begin; gone++)
      count--;
    count++;
    if (sorted[i].begin >= since && count > most)
      most = count;
  }
  return (unsigned) most;
}

static unsigned
max (unsigned a, unsigned b)
{
  return a > b ? a : b;
}

static void
expect_most (struct timeline_totals *totals, const struct interval *sorted,
             size_t n)
{
  unsigned before = 0;

  for (unsigned op = 0; op < NR_OPS; op++) {
    totals->op_most_in_flight[op] = most_since (sorted, n, op, 0);
    totals->op_recent_most[op] = max (recent_in_flight[op],
                                      most_since (sorted, n, op,
                                                  recent_since));
    before += recent_in_flight[op];
  }
  totals->most_in_flight = most_since (sorted, n, NR_OPS, 0);
  totals->recent_most = max (before, most_since (sorted, n, NR_OPS,
                                                 recent_since));
}

static struct timeline_totals
expected_at (uint64_t t)
{
  static struct interval all[MAX_REQUESTS + NR_LOGS];
  struct timeline_totals totals = { 0 };
  size_t n = nr_ended;

  memcpy (all, ended, nr_ended * sizeof ended[0]);
  for (unsigned i = 0; i < NR_LOGS; i++) {
    if (in_flight[i]) {
      totals.in_flight[requests[i].op]++;
      all[n] = requests[i];
      all[n++].end = UINT64_MAX;
    }
  }
  qsort (all, n, sizeof all[0], by_begin);
  expect_most (&totals, all, n);

  for (size_t i = 0; i < n; i++) {
    if (all[i].end == UINT64_MAX)
      all[i].end = t;           /* busy up to now */
    if (i == 0)
      totals.first_begin = all[i].begin;
    if (all[i].end > totals.last_end)
      totals.last_end = all[i].end;
    totals.in_flight_ns[all[i].op] += all[i].end - all[i].begin;
  }
  totals.busy_ns = union_ns (all, n, NR_OPS);
  for (unsigned op = 0; op < NR_OPS; op++)
    totals.op_busy_ns[op] = union_ns (all, n, op);
  return totals;
}

/* A request that took no time may or may not be the last to end. */
static uint64_t
last_end_at_least (uint64_t t)
{
  uint64_t last_end = 0;

  for (size_t i = 0; i < nr_ended; i++) {
    if (ended[i].end > ended[i].begin && ended[i].end > last_end)
      last_end = ended[i].end;
  }
  for (unsigned i = 0; i < NR_LOGS; i++) {
    if (in_flight[i] && t > requests[i].begin)
      last_end = t;
  }
  return last_end;
}

/* All but the most in flight. */
static void
check_times (const struct timeline_totals *got,
             const struct timeline_totals *expected, uint64_t t)
{
  assert_int_equal (got->busy_ns, expected->busy_ns);
  for (unsigned op = 0; op < NR_OPS; op++) {
    assert_int_equal (got->op_busy_ns[op], expected->op_busy_ns[op]);
    assert_int_equal (got->in_flight[op], expected->in_flight[op]);
    assert_int_equal (got->in_flight_ns[op], expected->in_flight_ns[op]);
  }
  assert_int_equal (got->first_begin, expected->first_begin);
  assert_in_range (got->last_end, last_end_at_least (t), expected->last_end);
}

/* Where no request came late, and none began or ended in the very moment
 * of a sweep: that sweep sees it in flight, if only for an instant.
 */
static void
check_most (const struct timeline_totals *got,
            const struct timeline_totals *expected)
{
  for (unsigned op = 0; op < NR_OPS; op++) {
    assert_int_equal (got->op_most_in_flight[op],
                      expected->op_most_in_flight[op]);
    assert_int_equal (got->op_recent_most[op], expected->op_recent_most[op]);
  }
  assert_int_equal (got->most_in_flight, expected->most_in_flight);
  assert_int_equal (got->recent_most, expected->recent_most);
}

static void
check_times_at (uint64_t t)
{
  const struct timeline_totals expected = expected_at (t);
  const struct timeline_totals got = sweep_at (t);

  check_times (&got, &expected, t);
}

static void
check_at (uint64_t t)
{
  const struct timeline_totals expected = expected_at (t);
  const struct timeline_totals got = sweep_at (t);

  check_times (&got, &expected, t);
  check_most (&got, &expected);
}

static uint64_t random_state = 1;

/* From 0 to n - 1. */
static unsigned
pick (unsigned n)
{
  return (unsigned) random_below (&random_state, n);
}

/* Often the same moment, mostly a little later, at times much later. */
static void
time_passes (void)
{
  const unsigned kind = pick (20);

  if (kind == 0)
    now += pick (1000000);
  else if (kind > 4)
    now += pick (100);
}

/* A request begins or ends in one of the logs. */
static void
random_event (unsigned nr_logs, unsigned eagerness)
{
  const unsigned i = pick (nr_logs);

  if (in_flight[i])
    end_at (i, now);
  else if (pick (100) < eagerness)
    begin_at (i, pick (NR_OPS), now);
}

static void
end_all (void)
{
  for (unsigned i = 0; i < NR_LOGS; i++) {
    if (in_flight[i])
      end_at (i, now);
  }
}

/* The tests. */

/* busy.h by itself: the intervals in its picture, and odd ones. */
static void
test_busy_add (void **state)
{
  static const struct {
    uint64_t begin, end;        /* this interval is added */
    uint64_t ns;                /* and the sum is then */
  } steps[] = {
    { 100, 110, 10 },
    { 103, 106, 10 },           /* within the one before */
    { 103, 110, 10 },           /* the same end */
    { 108, 117, 17 },           /* overlaps */
    { 117, 118, 18 },           /* touches */
    { 118, 118, 18 },           /* has no length */
    { 130, 135, 23 },           /* apart */
    { 90, 95, 23 },             /* late, and lost: never negative */
    { 90, 136, 24 },            /* late, with a part that is not */
    { 150, 140, 24 },           /* backwards: nothing */
    { UINT64_MAX - 5, UINT64_MAX, 29 },
  };
  struct busy busy = { 0 };

  (void) state;
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    busy_add (&busy, steps[i].begin, steps[i].end);
    assert_int_equal (busy.ns, steps[i].ns);
  }
}

/* Before the first request there is nothing, whatever the time. */
static void
test_nothing (void **state)
{
  (void) state;
  check_at (now);
  check_at (now + 1000);
  timeline_sweep (&timeline, now, NULL);
  check_at (now + 2000);
}

/* Sixteen parallel requests are busy once, and each operation for itself. */
static void
test_parallel (void **state)
{
  struct timeline_totals totals;

  (void) state;
  begin_at (0, OP_READ, now);
  begin_at (1, OP_READ, now + 10);
  begin_at (2, OP_WRITE, now + 20);
  end_at (0, now + 100);
  end_at (2, now + 120);
  end_at (1, now + 110);
  totals = sweep_at (now + 200);
  assert_int_equal (totals.busy_ns, 120);
  assert_int_equal (totals.op_busy_ns[OP_READ], 110);
  assert_int_equal (totals.op_busy_ns[OP_WRITE], 100);
  assert_int_equal (totals.op_busy_ns[OP_FLUSH], 0);
  assert_int_equal (totals.first_begin, now);
  assert_int_equal (totals.last_end, now + 120);
  check_at (now + 300);
}

/* A request in flight counts up to each sweep, and once. */
static void
test_in_flight (void **state)
{
  struct timeline_totals totals;

  (void) state;
  request (1, OP_READ, now, now + 10);
  begin_at (0, OP_FLUSH, now + 100);
  begin_at (2, OP_FLUSH, now + 150);
  for (unsigned i = 0; i < 5; i++) {
    totals = sweep_at (now + 200 + i);
    assert_int_equal (totals.busy_ns, 10 + 100 + i);
    assert_int_equal (totals.op_busy_ns[OP_FLUSH], 100 + i);
    assert_int_equal (totals.op_busy_ns[OP_READ], 10);
    assert_int_equal (totals.in_flight[OP_FLUSH], 2);
    assert_int_equal (totals.in_flight[OP_READ], 0);
    assert_int_equal (totals.last_end, now + 200 + i);
  }
  end_at (0, now + 300);
  check_at (now + 310);
  end_at (2, now + 320);
  check_at (now + 1000);
  check_at (now + 2000);
}

static void
check_now (bool time_stops)
{
  if (time_stops)
    check_times_at (now);
  else
    check_at (now++);
}

/* Logs and eagerness of all sorts, and sweeps that are frequent, rare or
 * left to the logs themselves.
 */
static void
random_round (unsigned round, bool time_stops)
{
  static const unsigned sweeps[] = { 2, 10, 100, 3000 };
  const unsigned one_in = sweeps[round % LENGTH (sweeps)];

  for (unsigned i = 0; i < 1500; i++) {
    time_passes ();
    random_event (1 + round % NR_LOGS, round % 2 ? 100 : 30);
    if (pick (one_in) == 0) {
      timeline_sweep (&timeline, now, NULL);
      now += !time_stops;
    }
    if (pick (one_in * 10) == 0)
      check_now (time_stops);
  }
  end_all ();
  check_now (time_stops);
}

static void
test_random (void **state)
{
  for (unsigned round = 0; round < 48; round++) {
    random_state = 1 + round;
    random_round (round, round / NR_LOGS % 2);
    stop (state);
    start (state);
  }
}

/* The latencies of those that succeeded, by how many were in flight when
 * each began.
 */

static unsigned
depth_of (const struct interval *interval)
{
  unsigned depth = 0;

  for (size_t i = 0; i < nr_ended; i++)
    depth += ended[i].begin <= interval->begin
      && ended[i].end > interval->begin;
  for (unsigned i = 0; i < NR_LOGS; i++)
    depth += in_flight[i] && requests[i].begin <= interval->begin;
  return depth;
}

static void
check_depths_at (uint64_t t)
{
  static struct depth_class expected[NR_OPS][DEPTH_CLASSES];
  const struct timeline_totals got = sweep_at (t);

  memset (expected, 0, sizeof expected);
  for (size_t i = 0; i < nr_ended; i++) {
    if (ended[i].succeeded) {
      struct depth_class *class
        = &expected[ended[i].op][depth_class_of (depth_of (&ended[i]))];

      class->requests++;
      class->latency_ns += ended[i].end - ended[i].begin;
    }
  }
  assert_memory_equal (got.depths, expected, sizeof expected);
}

static void
test_depths (void **state)
{
  for (unsigned round = 0; round < 12; round++) {
    random_state = 1 + round;
    for (unsigned i = 0; i < 1500; i++) {
      now++;                    /* no two begin at once */
      time_passes ();
      random_event (1 + round % NR_LOGS, 50);
      now++;
      if (pick (1 + round * round) == 0)
        timeline_sweep (&timeline, now, NULL);
    }
    check_depths_at (now++);
    end_all ();
    check_depths_at (now);
    stop (state);
    start (state);
  }
}

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

/* Logs go round several times and make room by themselves; a busy one
 * takes what is in the others, too.
 */
static void
test_wrap (void **state)
{
  (void) state;
  random_state = 1;
  for (unsigned i = 0; i < TIMELINE_LOG_SIZE * 3 + 7; i++) {
    now += 1 + pick (10);
    begin_at (0, i % NR_OPS, now);
    if (i % 100 == 0) {
      if (in_flight[1])
        end_at (1, now);
      else
        begin_at (1, OP_WRITE, now);
    }
    now += 1 + pick (10);
    end_at (0, now);
  }
  check_at (now);
  for (unsigned i = 0; i < TIMELINE_LOG_SIZE * 2; i++) {
    now += pick (10);
    random_event (NR_LOGS, 100);
  }
  end_all ();
  check_at (now);
}

/* While another thread sweeps, a log takes requests until it is full.
 * Then its owner waits.
 */

static void *
fill_log (void *vp)
{
  (void) vp;
  for (unsigned i = 0; i < TIMELINE_LOG_SIZE + 10; i++) {
    request (0, OP_READ, now, now + 3);
    now += 5;
  }
  return NULL;
}

static void
test_fill (void **state)
{
  pthread_t owner;

  (void) state;
  pthread_mutex_lock (&timeline.lock);
  assert_int_equal (pthread_create (&owner, NULL, fill_log, NULL), 0);
  while (atomic_load (&logs[0].head) < TIMELINE_LOG_SIZE)
    sched_yield ();
  /* It would go on now, if it did not wait. */
  for (unsigned i = 0; i < 1000; i++) {
    sched_yield ();
    assert_int_equal (atomic_load (&logs[0].head), TIMELINE_LOG_SIZE);
  }
  pthread_mutex_unlock (&timeline.lock);
  pthread_join (owner, NULL);
  for (unsigned i = 0; i < TIMELINE_LOG_SIZE; i++) {
    request (0, OP_WRITE, now, now + 3);
    now += 4;
  }
  check_at (now);
}

/* What a thread did stays when it goes, and its log may come again. */
static void
test_detach (void **state)
{
  (void) state;
  for (unsigned i = 0; i < 10; i++) {
    request (0, OP_READ, now + 1, now + 20);
    request (1, OP_WRITE, now + 10, now + 30);
    begin_at (2, OP_FLUSH, now + 15);
    timeline_detach (&timeline, &logs[i % 2], now + 31);
    end_at (2, now + 32);
    check_at (now + 33);
    timeline_attach (&timeline, &logs[i % 2]);
    now += 100;
  }
  check_at (now);
}

/* A thread reads the clock and is kept from telling it until a sweep has
 * passed.  It loses at most what lies before that sweep.
 */
static void
test_late (void **state)
{
  struct timeline_totals totals;

  (void) state;

  /* Nobody else was busy, so no sweep got past it: nothing is lost. */
  request (0, OP_READ, now + 10, now + 20);
  sweep_at (now + 100);
  request (1, OP_READ, now + 40, now + 150);
  check_times_at (now + 200);

  /* Another was busy all the time: nothing is lost of the sum of all, and
   * the operation has a watermark of its own.
   */
  now += 1000;
  begin_at (0, OP_READ, now);
  sweep_at (now + 100);
  begin_at (1, OP_WRITE, now + 40);
  end_at (0, now + 120);
  end_at (1, now + 150);
  check_times_at (now + 200);

  /* Another was busy in the end: lost is what is before that. */
  now += 1000;
  begin_at (0, OP_READ, now + 90);
  sweep_at (now + 100);
  begin_at (1, OP_READ, now + 40);
  end_at (1, now + 150);
  end_at (0, now + 160);
  totals = sweep_at (now + 200);
  assert_int_equal (totals.busy_ns, 120 + 150 + (160 - 90));
  assert_int_equal (totals.first_begin, EPOCH + 10);
  assert_int_equal (totals.last_end, now + 160);

  /* All of a request is late. */
  now += 1000;
  begin_at (0, OP_READ, now + 90);
  sweep_at (now + 100);
  request (1, OP_READ, now + 40, now + 60);
  end_at (0, now + 160);
  totals = sweep_at (now + 200);
  assert_int_equal (totals.busy_ns, 120 + 150 + (160 - 90) + (160 - 90));
}

/* It may be the first one of all. */
static void
test_late_first (void **state)
{
  struct timeline_totals totals;

  (void) state;
  request (0, OP_READ, now + 10, now + 20);
  sweep_at (now + 30);
  request (1, OP_READ, now + 5, now + 40);
  totals = sweep_at (now + 50);
  assert_int_equal (totals.first_begin, now + 5);
  assert_int_equal (totals.last_end, now + 40);
  assert_int_equal (totals.busy_ns, 10 + 20);
}

/* Late begins at random.  All that may be missing is the time by which they
 * came late; and never is there too much.
 */
static void
test_late_random (void **state)
{
  uint64_t late = 0, delay;
  struct timeline_totals totals, expected;

  (void) state;
  random_state = 1;
  for (unsigned i = 0; i < 10000; i++) {
    const unsigned log = pick (NR_LOGS);

    time_passes ();
    if (in_flight[log])
      end_at (log, now);
    else {
      /* A thread's requests come one after the other. */
      delay = pick (200);
      if (now - delay < requests[log].end || now - delay < EPOCH)
        delay = 0;
      late += delay;
      begin_at (log, pick (NR_OPS), now - delay);
    }
    if (pick (4) == 0)
      timeline_sweep (&timeline, now, NULL);
    if (i % 500 == 0) {
      totals = sweep_at (now);
      expected = expected_at (now);
      assert_in_range (totals.busy_ns,
                       late < expected.busy_ns ? expected.busy_ns - late : 0,
                       expected.busy_ns);
      for (unsigned op = 0; op < NR_OPS; op++)
        assert_true (totals.op_busy_ns[op] <= expected.op_busy_ns[op]);
      assert_true (totals.busy_ns <= now - EPOCH);
      assert_int_equal (totals.first_begin, expected.first_begin);
    }
  }
}

/* An end may come late, too: until then the request counts as in flight.
 * That never makes more than the time that passed.
 */
static void
test_late_end (void **state)
{
  struct timeline_totals totals;

  (void) state;
  begin_at (0, OP_READ, now);
  totals = sweep_at (now + 100);
  assert_int_equal (totals.busy_ns, 100);
  end_at (0, now + 60);
  totals = sweep_at (now + 200);
  assert_in_range (totals.busy_ns, 60, 100);
  assert_int_equal (totals.in_flight[OP_READ], 0);
  request (0, OP_READ, now + 70, now + 210);
  totals = sweep_at (now + 220);
  assert_in_range (totals.busy_ns, 200, 210);
}

/* A sweep tells what there was at its time, though it may see requests
 * that ended later.
 */
static void
test_ends_after_sweep (void **state)
{
  static const struct { uint64_t at, ns, ended; } steps[] = {
    { 0, 0, 0 }, { 40, 40, 0 }, { 30, 40, 0 }, { 60, 60, 0 },
    { 100, 100, 1 }, { 200, 100, 1 },
  };
  struct timeline_totals totals;

  (void) state;
  begin_at (0, OP_READ, now);
  requests[0].succeeded = true;
  end_at (0, now + 100);
  for (size_t i = 0; i < LENGTH (steps); i++) {
    totals = sweep_at (now + steps[i].at);
    assert_int_equal (totals.busy_ns, steps[i].ns);
    assert_int_equal (totals.in_flight_ns[OP_READ], steps[i].ns);
    assert_int_equal (totals.last_end, now + steps[i].ns);
    assert_int_equal (totals.depths[OP_READ][0].requests, steps[i].ended);
  }
  assert_int_equal (totals.depths[OP_READ][0].latency_ns, 100);
  assert_int_equal (totals.most_in_flight, 1);
  assert_int_equal (totals.recent_most, 0);
}

/* A thread may be preempted when it has put its request into the log and
 * not yet said that none is in flight: that request has ended all the same.
 */
static void
test_half_ended (void **state)
{
  uint64_t begun;

  (void) state;
  for (unsigned i = 0; i < 100; i++) {
    if (i % 3 == 0)
      begin_at (1, OP_WRITE, now);
    begin_at (0, i % NR_OPS, now + 10);
    if (i % 2)
      sweep_at (now + 15);
    begun = atomic_load (&logs[0].in_flight);
    end_at (0, now + 20);
    atomic_store (&logs[0].in_flight, begun);
    check_at (now + 30);
    check_at (now + 40);
    atomic_store (&logs[0].in_flight, 0);
    if (i % 3 == 0)
      end_at (1, now + 50);
    check_at (now + 60);
    now += 100;
  }
}

/* A request that takes no time is seen in flight, and the next one begins
 * in the same moment: they are two.
 */
static void
test_same_moment (void **state)
{
  struct timeline_totals totals;

  (void) state;
  begin_at (0, OP_READ, now);
  sweep_at (now);
  end_at (0, now);
  totals = sweep_at (now);
  assert_int_equal (totals.in_flight[OP_READ], 0);
  begin_at (0, OP_WRITE, now);
  totals = sweep_at (now + 10);
  assert_int_equal (totals.op_recent_most[OP_WRITE], 1);
  assert_int_equal (totals.in_flight_ns[OP_WRITE], 10);
  end_at (0, now + 20);
  totals = sweep_at (now + 30);
  assert_int_equal (totals.in_flight_ns[OP_WRITE], 20);
  assert_int_equal (totals.busy_ns, 20);
}

/* The sweeper itself may be kept waiting after it has read the clock, on
 * the lock at least.  What the others did meanwhile must not be lost.
 */
static void
test_old_sweep (void **state)
{
  (void) state;
  begin_at (0, OP_READ, now + 120);
  request (1, OP_READ, now + 150, now + 200);
  sweep_at (now + 100);
  end_at (0, now + 300);
  check_at (now + 400);
}

static void
test_old_sweep_random (void **state)
{
  (void) state;
  random_state = 1;
  for (unsigned i = 0; i < 10000; i++) {
    time_passes ();
    random_event (NR_LOGS, 50);
    if (pick (10) == 0)
      timeline_sweep (&timeline, now - pick (1000), NULL);
  }
  end_all ();
  check_at (now);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_busy_add),
    cmocka_unit_test_setup_teardown (test_nothing, start, stop),
    cmocka_unit_test_setup_teardown (test_parallel, start, stop),
    cmocka_unit_test_setup_teardown (test_in_flight, start, stop),
    cmocka_unit_test_setup_teardown (test_random, start, stop),
    cmocka_unit_test_setup_teardown (test_depths, start, stop),
    cmocka_unit_test (test_depth_classes),
    cmocka_unit_test_setup_teardown (test_wrap, start, stop),
    cmocka_unit_test_setup_teardown (test_fill, start, stop),
    cmocka_unit_test_setup_teardown (test_detach, start, stop),
    cmocka_unit_test_setup_teardown (test_late, start, stop),
    cmocka_unit_test_setup_teardown (test_late_first, start, stop),
    cmocka_unit_test_setup_teardown (test_late_random, start, stop),
    cmocka_unit_test_setup_teardown (test_late_end, start, stop),
    cmocka_unit_test_setup_teardown (test_ends_after_sweep, start, stop),
    cmocka_unit_test_setup_teardown (test_half_ended, start, stop),
    cmocka_unit_test_setup_teardown (test_same_moment, start, stop),
    cmocka_unit_test_setup_teardown (test_old_sweep, start, stop),
    cmocka_unit_test_setup_teardown (test_old_sweep_random, start, stop),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
