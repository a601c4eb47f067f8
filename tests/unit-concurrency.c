/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What happens at once, to the nanosecond, against counting at each moment
 * of a short world what is in flight then.
 *
 * Only what is told late may lose or gain something, and that no more than
 * the time by which it was late; and whatever happens, all figures fit
 * together.
 */

#include <config.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "concurrency.h"
#include "unit.h"

#define WORLD 20000             /* nanoseconds */
#define EPOCH UINT64_C (1000000) /* when it begins */
#define MAX_INTERVALS 2000

static struct concurrency c;
static uint64_t random_state;

/* How many are in flight at each moment of the world: of each kind, of all
 * requests, and of all; and clients that are connected.
 */
enum { REQUESTS = NR_KINDS, ALL, CLIENT, NR_COUNTS };
static unsigned counts[NR_COUNTS][WORLD + 1];

struct interval {
  uint64_t begin, end;          /* from the begin of the world */
  unsigned kind;
};

static struct interval intervals[MAX_INTERVALS];
static size_t nr_intervals;

/* The gaps that were told, by their begin. */
static uint64_t gaps[WORLD + 1];

/* Begins and ends, in the order in which they are told. */
struct event {
  uint64_t told, time;
  bool begins;
  const struct interval *interval;
};

static struct event events[2 * MAX_INTERVALS];

static int
start (void **state)
{
  (void) state;
  memset (counts, 0, sizeof counts);
  nr_intervals = 0;
  memset (gaps, 0, sizeof gaps);
  random_state = 1;
  concurrency_init (&c, EPOCH);
  return 0;
}

static uint64_t
pick (uint64_t n)
{
  return random_below (&random_state, n);
}

static void
add (unsigned kind, uint64_t begin, uint64_t end)
{
  assert_true (nr_intervals < MAX_INTERVALS && end <= WORLD);
  intervals[nr_intervals++] = (struct interval) { begin, end, kind };
  for (uint64_t t = begin; t < end; t++) {
    counts[kind][t]++;
    counts[REQUESTS][t] += kind < NR_OPS;
    counts[ALL][t] += kind < NR_KINDS;
  }
}

/* Threads with one request at a time, long and short, and breaks between. */
static void
add_thread (unsigned n, uint64_t longest, uint64_t longest_break)
{
  uint64_t now = pick (longest_break);

  for (unsigned i = 0; i < n; i++) {
    const uint64_t end = now + 1 + pick (longest);

    if (end >= WORLD)
      break;
    add ((unsigned) pick (NR_KINDS), now, end);
    now = end + pick (longest_break);
  }
}

/* Clients come and go. */
static void
add_clients (unsigned n, uint64_t longest)
{
  for (unsigned i = 0; i < n; i++) {
    const uint64_t begin = pick (WORLD - 1);
    const uint64_t end = begin + 1 + pick (longest);

    add (CLIENT, begin, end < WORLD ? end : WORLD);
  }
}

/* Of the same moment ends come first, then requests, then openings; but a
 * client comes before all of that, and goes after it.
 */
static int
rank (const struct event *event)
{
  const unsigned kind = event->interval->kind;

  if (kind == CLIENT)
    return event->begins ? -1 : NR_KINDS + 2;
  return event->begins ? 1 + (int) kind : 0;
}

static int
by_told (const void *vp1, const void *vp2)
{
  const struct event *e1 = vp1, *e2 = vp2;

  if (e1->told != e2->told)
    return e1->told < e2->told ? -1 : 1;
  return rank (e1) - rank (e2);
}

/* One in late_one_in is told late by up to late. */
static void
make_events (uint64_t late_one_in, uint64_t late)
{
  for (size_t i = 0; i < nr_intervals; i++) {
    struct event *begin = &events[2 * i], *end = begin + 1;

    *begin = (struct event) {
      .told = intervals[i].begin, .time = intervals[i].begin,
      .begins = true, .interval = &intervals[i],
    };
    *end = (struct event) {
      .told = intervals[i].end, .time = intervals[i].end,
      .interval = &intervals[i],
    };
    if (late && pick (late_one_in) == 0)
      begin->told += pick (late);
    if (late && pick (late_one_in) == 0)
      end->told += pick (late);
    if (end->told <= begin->told)
      end->told = begin->told + 1;
  }
  qsort (events, 2 * nr_intervals, sizeof events[0], by_told);
}

static void
tell_client (const struct event *event)
{
  if (event->begins)
    concurrency_connect (&c, EPOCH + event->time);
  else
    concurrency_disconnect (&c, EPOCH + event->time);
}

static void
tell (const struct event *event)
{
  const unsigned kind = event->interval->kind;
  struct gap gap;

  if (kind == CLIENT)
    tell_client (event);
  else if (event->begins) {
    gap = concurrency_begin (&c, kind, EPOCH + event->time);
    if (gap.ns)
      gaps[gap.begin - EPOCH] = gap.ns;
  }
  else
    concurrency_end (&c, kind, EPOCH + event->time);
}

static uint64_t
busy (unsigned kinds)
{
  return concurrency_busy_ns (&c, kinds);
}

/* What must come out, at the moment now. */

static uint64_t
busy_until (const unsigned count[WORLD + 1], uint64_t now)
{
  uint64_t ns = 0;

  for (uint64_t t = 0; t < now; t++)
    ns += count[t] > 0;
  return ns;
}

static uint64_t
sum_until (const unsigned count[WORLD + 1], uint64_t now)
{
  uint64_t ns = 0;

  for (uint64_t t = 0; t < now; t++)
    ns += count[t];
  return ns;
}

static unsigned
most_in (const unsigned count[WORLD + 1], uint64_t from, uint64_t to)
{
  unsigned most = 0;

  for (uint64_t t = from; t <= to; t++)
    most = count[t] > most ? count[t] : most;
  return most;
}

/* With nothing in flight, between the begins of the first request and of
 * the last.
 */
static uint64_t
waiting_until (uint64_t now)
{
  uint64_t first = UINT64_MAX, last = 0, ns = 0;

  for (size_t i = 0; i < nr_intervals; i++) {
    const uint64_t begin = intervals[i].begin;

    if (intervals[i].kind >= NR_OPS || begin > now)
      continue;
    first = begin < first ? begin : first;
    last = begin > last ? begin : last;
  }
  for (uint64_t t = first; t < last; t++)
    ns += counts[ALL][t] == 0;
  return ns;
}

/* When a request was first in flight from a moment on; 0: none was. */
static uint64_t
first_in (uint64_t from, uint64_t to)
{
  for (uint64_t t = from; t <= to; t++) {
    if (counts[REQUESTS][t] > 0)
      return EPOCH + t;
  }
  return 0;
}

static enum account_state
state_at (uint64_t t)
{
  unsigned state = ACCOUNT_WAITING, kinds = 0;

  for (unsigned kind = 0; kind < NR_KINDS; kind++) {
    if (counts[kind][t]) {
      state = kind;
      kinds++;
    }
  }
  if (kinds == 0 && counts[CLIENT][t] == 0)
    return ACCOUNT_NO_CLIENT;
  return kinds > 1 ? ACCOUNT_SEVERAL : state;
}

static void
check_account (uint64_t now)
{
  uint64_t account[NR_STATES], expected[NR_STATES] = { 0 };

  for (uint64_t t = 0; t < now; t++)
    expected[state_at (t)]++;
  concurrency_account (&c, account);
  assert_memory_equal (account, expected, sizeof account);
}

/* The gap that begins at t, or 0: something ends there, a client is there all
 * the time, and a request begins at its end.
 */
static uint64_t
gap_at (uint64_t t, uint64_t now)
{
  uint64_t end = t;

  if (t == 0 || counts[ALL][t - 1] == 0)
    return 0;
  while (end <= now && counts[ALL][end] == 0 && counts[CLIENT][end] > 0)
    end++;
  return end <= now && counts[REQUESTS][end] > 0 ? end - t : 0;
}

static void
check_gaps (uint64_t now)
{
  for (uint64_t t = 0; t <= now; t++)
    assert_int_equal (gaps[t], gap_at (t, now));
}

static void
check_at (uint64_t now, uint64_t before)
{
  concurrency_settle (&c, EPOCH + now);
  assert_int_equal (busy (SET_KINDS), busy_until (counts[ALL], now));
  assert_int_equal (busy (SET_REQUESTS), busy_until (counts[REQUESTS], now));
  assert_int_equal (c.requests, counts[REQUESTS][now]);
  for (unsigned kind = 0; kind < NR_KINDS; kind++) {
    assert_int_equal (busy (1u << kind), busy_until (counts[kind], now));
    assert_int_equal (c.n[kind], counts[kind][now]);
  }
  for (unsigned op = 0; op < NR_OPS; op++) {
    assert_int_equal (concurrency_in_flight_ns (&c, op, EPOCH + now),
                      sum_until (counts[op], now));
    assert_int_equal (c.op_most[op].run, most_in (counts[op], 0, now));
    assert_int_equal (c.op_most[op].recent,
                      most_in (counts[op], before, now));
  }
  assert_int_equal (c.most.run, most_in (counts[REQUESTS], 0, now));
  assert_int_equal (c.most.recent, most_in (counts[REQUESTS], before, now));
  assert_int_equal (concurrency_waiting_ns (&c), waiting_until (now));
  assert_int_equal (c.first_begin, first_in (0, now));
  assert_int_equal (c.recent_first, first_in (before, now));
  check_account (now);
  check_gaps (now);
  concurrency_forget_recent (&c);
}

/* Tell all, with a reading now and then. */
static void
check_all (uint64_t reading_each)
{
  uint64_t before = 0, next = pick (reading_each);
  size_t i = 0;

  make_events (0, 0);
  for (;;) {
    for (; i < 2 * nr_intervals && events[i].told <= next; i++)
      tell (&events[i]);
    check_at (next, before);
    if (next == WORLD)
      break;
    before = next;
    next += 1 + pick (reading_each);
    if (next > WORLD)
      next = WORLD;
  }
}

/* The tests. */

static void
test_nothing (void **state)
{
  (void) state;
  check_all (WORLD / 3);
  assert_int_equal (c.last_end, 0);
}

/* The picture on top of concurrency.h, and each kind for itself. */
static void
test_picture (void **state)
{
  (void) state;
  add (OP_READ, 100, 110);
  add (OP_READ, 103, 107);
  add (OP_WRITE, 107, 115);
  add (OP_FLUSH, 119, 124);
  check_all (10000);
  assert_int_equal (busy (SET_KINDS), 20);
  assert_int_equal (busy (1u << OP_READ), 10);
  assert_int_equal (c.most.run, 2);
  assert_int_equal (concurrency_waiting_ns (&c), 4);
  assert_int_equal (c.first_begin, EPOCH + 100);
  assert_int_equal (c.last_end, EPOCH + 124);
}

/* One ends when another begins: they are not in flight at once, and nothing
 * waited in between.
 */
static void
test_one_by_one (void **state)
{
  (void) state;
  for (uint64_t t = 0; t < 700; t += 10)
    add (t / 10 % NR_OPS, t, t + 10);
  check_all (50);
  assert_int_equal (c.most.run, 1);
  assert_int_equal (busy (SET_KINDS), 700);
  assert_int_equal (concurrency_waiting_ns (&c), 0);
}

/* An opening is busy time, and no request: it is not waited for, and it is
 * in no count of requests.
 */
static void
test_openings (void **state)
{
  (void) state;
  add (KIND_OPENING, 10, 100);
  add (KIND_OPENING, 50, 120);
  check_all (WORLD);
  assert_int_equal (c.first_begin, 0);
  assert_int_equal (concurrency_waiting_ns (&c), 0);

  start (state);
  add (KIND_OPENING, 10, 100);
  add (OP_READ, 200, 300);
  add (KIND_OPENING, 400, 500);
  add (OP_READ, 600, 700);
  add (KIND_OPENING, 800, 900);
  check_all (WORLD);
  assert_int_equal (c.first_begin, EPOCH + 200);
  assert_int_equal (c.last_end, EPOCH + 700);
  assert_int_equal (concurrency_waiting_ns (&c), 200);
  assert_int_equal (busy (SET_KINDS), 490);
  assert_int_equal (busy (SET_REQUESTS), 200);
  assert_int_equal (c.most.run, 1);
}

/* One that takes no time is in flight for an instant. */
static void
test_no_time (void **state)
{
  (void) state;
  concurrency_begin (&c, OP_READ, EPOCH + 10);
  concurrency_begin (&c, OP_READ, EPOCH + 15);
  concurrency_end (&c, OP_READ, EPOCH + 15);
  concurrency_end (&c, OP_READ, EPOCH + 20);
  concurrency_begin (&c, OP_FLUSH, EPOCH + 30);
  concurrency_end (&c, OP_FLUSH, EPOCH + 30);
  concurrency_settle (&c, EPOCH + 40);
  assert_int_equal (busy (SET_KINDS), 10);
  assert_int_equal (concurrency_waiting_ns (&c), 10);
  assert_int_equal (c.most.run, 2);
  assert_int_equal (c.op_most[OP_FLUSH].run, 1);
  assert_int_equal (busy (1u << OP_FLUSH), 0);
  assert_int_equal (c.last_end, EPOCH + 30);
}

/* Openings are in no number of requests. */
static void
test_depth (void **state)
{
  (void) state;
  for (unsigned i = 1; i <= 100; i++) {
    concurrency_begin (&c, i % NR_OPS, EPOCH + i);
    concurrency_begin (&c, KIND_OPENING, EPOCH + i);
    assert_int_equal (c.requests, i);
  }
}

/* Threads of all sorts, with readings that are rare or frequent. */
static void
test_random (void **state)
{
  static const uint64_t lengths[] = { 1, 20, 300, 5000 };
  static const uint64_t readings[] = { 20, 300, WORLD };

  for (unsigned round = 0; round < 60; round++) {
    const uint64_t length = lengths[round % LENGTH (lengths)];

    start (state);
    random_state = 1 + round;
    for (unsigned i = 0; i <= round % 7; i++)
      add_thread (1 + (unsigned) pick (200), length,
                  1 + lengths[round / 4 % LENGTH (lengths)]);
    add_clients ((unsigned) pick (20), 1 + length * pick (10));
    check_all (readings[round % LENGTH (readings)]);
  }
}

/* Late. */

/* Begins late, where nothing else was in flight, and nobody has read: it
 * counts from its true time.
 */
static void
test_late_begin (void **state)
{
  (void) state;
  concurrency_begin (&c, OP_READ, EPOCH + 10);
  concurrency_end (&c, OP_READ, EPOCH + 20);
  concurrency_begin (&c, OP_READ, EPOCH + 15);  /* late: it is 20 */
  concurrency_end (&c, OP_READ, EPOCH + 40);
  concurrency_settle (&c, EPOCH + 50);
  assert_int_equal (busy (SET_KINDS), 30);
  assert_int_equal (busy (1u << OP_READ), 30);
  assert_int_equal (concurrency_waiting_ns (&c), 0);

  /* What was read stays. */
  concurrency_begin (&c, OP_READ, EPOCH + 45);
  concurrency_end (&c, OP_READ, EPOCH + 60);
  concurrency_settle (&c, EPOCH + 60);
  assert_int_equal (busy (SET_KINDS), 40);
  assert_int_equal (concurrency_waiting_ns (&c), 10);
  assert_int_equal (concurrency_in_flight_ns (&c, OP_READ, EPOCH + 60),
                    10 + 25 + 15);
}

/* It may be the first one of all. */
static void
test_late_first (void **state)
{
  (void) state;
  concurrency_begin (&c, OP_READ, EPOCH + 10);
  concurrency_settle (&c, EPOCH + 30);
  concurrency_begin (&c, OP_WRITE, EPOCH + 5);
  concurrency_end (&c, OP_WRITE, EPOCH + 40);
  concurrency_end (&c, OP_READ, EPOCH + 35);
  assert_int_equal (c.first_begin, EPOCH + 5);
  assert_int_equal (c.last_end, EPOCH + 40);
  assert_int_equal (busy (SET_KINDS), 30);
}

/* An end that is late was in flight until then, for all that is known: what
 * others did meanwhile is not lost.
 */
static void
test_late_end (void **state)
{
  (void) state;
  concurrency_begin (&c, OP_READ, EPOCH + 10);
  concurrency_begin (&c, OP_WRITE, EPOCH + 30);
  concurrency_end (&c, OP_WRITE, EPOCH + 100);
  concurrency_end (&c, OP_READ, EPOCH + 20);
  concurrency_begin (&c, OP_TRIM, EPOCH + 150);
  concurrency_end (&c, OP_TRIM, EPOCH + 160);
  concurrency_settle (&c, EPOCH + 200);
  assert_int_equal (busy (1u << OP_READ), 90);
  assert_int_equal (busy (1u << OP_WRITE), 70);
  assert_int_equal (busy (SET_KINDS), 90 + 10);
  assert_int_equal (concurrency_waiting_ns (&c), 50);
}

/* No kind is longer in flight than all together, nor than requests are,
 * though what began last was told first.
 */
static void
test_late_parts (void **state)
{
  (void) state;
  concurrency_begin (&c, KIND_OPENING, EPOCH + 1);
  concurrency_begin (&c, OP_READ, EPOCH + 150);
  concurrency_begin (&c, OP_WRITE, EPOCH + 100);
  concurrency_end (&c, OP_READ, EPOCH + 200);
  concurrency_end (&c, OP_WRITE, EPOCH + 200);
  assert_true (busy (1u << OP_WRITE) <= busy (SET_REQUESTS));
  concurrency_end (&c, KIND_OPENING, EPOCH + 200);
  assert_int_equal (busy (SET_KINDS), 199);
}

struct reading {
  uint64_t moment, busy_ns, request_busy_ns, kind_ns[NR_KINDS], waiting_ns,
    account_ns;
};

static struct reading
read_at (uint64_t moment)
{
  struct reading reading = { .moment = moment };
  uint64_t account[NR_STATES];

  concurrency_settle (&c, EPOCH + moment);
  reading.busy_ns = busy (SET_KINDS);
  reading.request_busy_ns = busy (SET_REQUESTS);
  reading.waiting_ns = concurrency_waiting_ns (&c);
  for (unsigned kind = 0; kind < NR_KINDS; kind++)
    reading.kind_ns[kind] = busy (1u << kind);
  concurrency_account (&c, account);
  for (unsigned i = 0; i < NR_STATES; i++)
    reading.account_ns += account[i];
  return reading;
}

/* What holds between two readings, however late anything was. */
static void
check_between (const struct reading *a, const struct reading *b)
{
  const uint64_t elapsed = b->moment - a->moment;
  const uint64_t busy = b->busy_ns - a->busy_ns;
  const uint64_t requests = b->request_busy_ns - a->request_busy_ns;

  assert_in_range (busy, 0, elapsed);
  assert_in_range (requests, 0, busy);
  for (unsigned kind = 0; kind < NR_KINDS; kind++)
    assert_in_range (b->kind_ns[kind] - a->kind_ns[kind], 0,
                     kind < NR_OPS ? requests : busy);
  assert_true (b->waiting_ns >= a->waiting_ns);
  assert_true (b->busy_ns + b->waiting_ns <= b->moment);
  assert_int_equal (b->account_ns, b->moment);
}

/* How late all events were, taken together: each event against what had
 * been told, or read, before.
 */
static uint64_t
tell_late (uint64_t reading_each)
{
  struct reading last = { 0 }, reading;
  uint64_t latest = 0, lateness = 0, next = pick (reading_each);

  for (size_t i = 0; i < 2 * nr_intervals; i++) {
    for (; next < events[i].told; next += 1 + pick (reading_each)) {
      reading = read_at (next);
      check_between (&last, &reading);
      last = reading;
      latest = time_later (latest, next);
    }
    tell (&events[i]);
    if (events[i].time < latest)
      lateness += latest - events[i].time;
    latest = time_later (latest, events[i].time);
  }
  reading = read_at (latest + 1);
  check_between (&last, &reading);
  return lateness;
}

static void
check_near (uint64_t got, uint64_t expected, uint64_t lateness)
{
  assert_in_range (got, expected > lateness ? expected - lateness : 0,
                   expected + lateness);
}

static void
test_late_random (void **state)
{
  static const uint64_t lengths[] = { 5, 50, 1000 };
  static const uint64_t lates[] = { 1, 30, 500 };
  static const uint64_t readings[] = { 50, 1000, 10 * WORLD };

  for (unsigned round = 0; round < 108; round++) {
    uint64_t lateness;

    start (state);
    random_state = 1 + round;
    for (unsigned i = 0; i <= round % 4; i++)
      add_thread (1 + (unsigned) pick (200), lengths[round % 3],
                  lengths[round / 3 % 3]);
    make_events (1 + pick (10), lates[round / 9 % 3]);
    lateness = tell_late (readings[round / 27 % 3]);

    check_near (busy (SET_KINDS), busy_until (counts[ALL], WORLD), lateness);
    check_near (busy (SET_REQUESTS), busy_until (counts[REQUESTS], WORLD),
                lateness);
    for (unsigned op = 0; op < NR_OPS; op++) {
      check_near (busy (1u << op), busy_until (counts[op], WORLD), lateness);
      assert_int_equal (concurrency_in_flight_ns (&c, op, EPOCH + WORLD),
                        sum_until (counts[op], WORLD));
      assert_int_equal (c.n[op], 0);
    }
    check_near (concurrency_waiting_ns (&c), waiting_until (WORLD), lateness);
    assert_int_equal (c.first_begin, first_in (0, WORLD));
    assert_int_equal (c.set & SET_KINDS, 0);
  }
}

#define TEST(f) cmocka_unit_test_setup (f, start)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_nothing),
    TEST (test_picture),
    TEST (test_one_by_one),
    TEST (test_openings),
    TEST (test_no_time),
    TEST (test_depth),
    TEST (test_random),
    TEST (test_late_begin),
    TEST (test_late_first),
    TEST (test_late_end),
    TEST (test_late_parts),
    TEST (test_late_random),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
