/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* How many requests are in flight at once, against counting them at each
 * moment.  unit-busy.c has the same through the logs of threads.
 */

#include <config.h>

#include <stdbool.h>
#include <string.h>

#include "in_flight.h"
#include "unit.h"

#define MOMENTS 20000

/* What the code under test is told of, and beside it how many there are at
 * each moment, which is a nanosecond of a short world.
 */
static struct in_flight in_flight;
static unsigned at[MOMENTS], op_at[NR_OPS][MOMENTS];

static uint64_t random_state;

static int
start (void **state)
{
  (void) state;
  memset (&in_flight, 0, sizeof in_flight);
  memset (at, 0, sizeof at);
  memset (op_at, 0, sizeof op_at);
  random_state = 1;
  return in_flight_reserve (&in_flight, 64);
}

static int
stop (void **state)
{
  (void) state;
  in_flight_free (&in_flight);
  return 0;
}

static void
mark (enum op op, uint64_t begin, uint64_t end)
{
  for (uint64_t t = begin; t < end && t < MOMENTS; t++) {
    at[t]++;
    op_at[op][t]++;
  }
}

static void
add (enum op op, uint64_t begin, uint64_t end)
{
  const unsigned depth = in_flight_add (&in_flight, NULL, op, begin, end);

  mark (op, begin, end);
  if (end > begin && begin < MOMENTS)
    assert_int_equal (depth, at[begin]);
}

static unsigned
highest (const unsigned counts[MOMENTS], uint64_t since)
{
  unsigned most = 0;

  for (uint64_t t = since; t < MOMENTS; t++)
    most = counts[t] > most ? counts[t] : most;
  return most;
}

/* The highest counts of all, and the recent ones of since and later. */
static void
check_most (uint64_t since)
{
  assert_int_equal (in_flight.most, highest (at, 0));
  assert_int_equal (in_flight.recent_most, highest (at, since));
  for (unsigned op = 0; op < NR_OPS; op++) {
    assert_int_equal (in_flight.op_most[op], highest (op_at[op], 0));
    assert_int_equal (in_flight.op_recent_most[op],
                      highest (op_at[op], since));
  }
}

/* What is open now, as it is told at each moment. */
static void
check_open (uint64_t now)
{
  in_flight_until (&in_flight, now);
  assert_int_equal (in_flight.nr_open, at[now]);
  for (unsigned op = 0; op < NR_OPS; op++)
    assert_int_equal (in_flight.op_open[op], op_at[op][now]);
}

static void
test_nothing (void **state)
{
  (void) state;
  check_most (0);
  check_open (100);
  in_flight_end (&in_flight, NULL, 100);
  check_most (0);
}

/* One ends when another begins: they are not in flight at once. */
static void
test_one_by_one (void **state)
{
  (void) state;
  for (uint64_t t = 0; t < 100; t += 10)
    add (t / 10 % NR_OPS, t, t + 10);
  check_most (0);
  assert_int_equal (in_flight.most, 1);
}

/* One that takes no time is not in flight. */
static void
test_no_time (void **state)
{
  (void) state;
  add (OP_FLUSH, 10, 10);
  check_most (0);
  add (OP_READ, 10, 20);
  add (OP_READ, 15, 15);
  check_most (0);
  assert_int_equal (in_flight.most, 1);
}

/* One inside another, and all of one begin. */
static void
test_nested (void **state)
{
  (void) state;
  add (OP_READ, 100, 1000);
  add (OP_READ, 200, 300);
  add (OP_READ, 300, 400);
  add (OP_WRITE, 350, 360);
  check_most (0);
  assert_int_equal (in_flight.most, 3);
  for (unsigned i = 0; i < 20; i++)
    add (OP_WRITE, 2000, 2001 + i);
  check_most (0);
  assert_int_equal (in_flight.most, 20);
  for (uint64_t now = 2000; now < 2025; now++)
    check_open (now);
}

/* Intervals of all lengths in the order of their begins, with what is open
 * asked for at times, and recent figures begun again.
 */
static void
test_random (void **state)
{
  static const unsigned lengths[] = { 2, 20, 200 };

  for (unsigned round = 0; round < 30; round++) {
    const unsigned length = lengths[round % LENGTH (lengths)];
    uint64_t now = 0, since = 0;

    stop (state);
    start (state);
    random_state = 1 + round;
    for (unsigned i = 0; i < 500; i++) {
      now += random_below (&random_state, 1 + round);
      if (random_below (&random_state, 50) == 0) {
        check_most (since);
        check_open (now);
        in_flight_forget_recent (&in_flight);
        since = now;
      }
      if (in_flight.nr_open < 64)
        add (random_below (&random_state, NR_OPS), now,
             now + random_below (&random_state, length));
    }
    check_most (since);
  }
}

/* Requests that are open when they are added, and end later: that of the
 * owner and no other, whatever came after it.
 */
static void
test_open (void **state)
{
  int owner[3];

  (void) state;
  in_flight_add (&in_flight, &owner[0], OP_READ, 10, IN_FLIGHT_OPEN);
  in_flight_add (&in_flight, &owner[1], OP_WRITE, 20, IN_FLIGHT_OPEN);
  in_flight_add (&in_flight, &owner[2], OP_READ, 30, 40);
  assert_int_equal (in_flight.most, 3);
  assert_int_equal (in_flight.op_most[OP_READ], 2);

  in_flight_end (&in_flight, &owner[1], 50);
  in_flight_until (&in_flight, 60);
  assert_int_equal (in_flight.nr_open, 1);
  assert_int_equal (in_flight.op_open[OP_READ], 1);
  assert_int_equal (in_flight.op_open[OP_WRITE], 0);
  in_flight_end (&in_flight, &owner[0], 70);
  in_flight_until (&in_flight, 69);
  assert_int_equal (in_flight.nr_open, 1);
  in_flight_until (&in_flight, 70);
  assert_int_equal (in_flight.nr_open, 0);
  assert_int_equal (in_flight.most, 3);

  /* None is open: nothing happens. */
  in_flight_end (&in_flight, &owner[0], 80);
  assert_int_equal (in_flight.nr_open, 0);
  in_flight_add (&in_flight, &owner[0], OP_READ, 100, 200);
  in_flight_end (&in_flight, &owner[0], 150);
  in_flight_until (&in_flight, 199);
  assert_int_equal (in_flight.nr_open, 1);
}

/* Owners with one request at a time: each is added with its end, or first
 * as open and ended when time has come there.
 */

enum { OWNERS = 16, WORLD = 3000 };

static struct owner {
  bool busy, told;              /* the end, when it was added */
  enum op op;
  uint64_t end;
} owners[OWNERS];

static void
end_request (struct owner *owner)
{
  if (!owner->told)
    in_flight_end (&in_flight, owner, owner->end);
  owner->busy = false;
}

static void
begin_request (struct owner *owner, uint64_t now)
{
  const uint64_t end = now + 1 + random_below (&random_state, 200);

  *owner = (struct owner) {
    .busy = true, .told = random_below (&random_state, 2),
    .op = random_below (&random_state, NR_OPS),
    .end = end < WORLD ? end : WORLD,
  };
  in_flight_add (&in_flight, owner, owner->op, now,
                 owner->told ? owner->end : IN_FLIGHT_OPEN);
  mark (owner->op, now, owner->end);
}

static void
test_open_random (void **state)
{
  for (unsigned round = 0; round < 20; round++) {
    stop (state);
    start (state);
    memset (owners, 0, sizeof owners);
    random_state = 1 + round;
    for (uint64_t now = 0; now < WORLD; now++) {
      for (unsigned i = 0; i < OWNERS; i++) {
        if (owners[i].busy && now == owners[i].end)
          end_request (&owners[i]);
      }
      for (unsigned i = 0; i < OWNERS; i++) {
        if (!owners[i].busy && random_below (&random_state, 20 + round) == 0)
          begin_request (&owners[i], now);
      }
      check_open (now);
    }
    check_most (0);
  }
}

/* One that is told of too late counts from then on, if it still runs. */
static void
test_late (void **state)
{
  (void) state;
  add (OP_READ, 100, 200);
  in_flight_until (&in_flight, 150);
  in_flight_add (&in_flight, NULL, OP_WRITE, 50, 160);
  assert_int_equal (in_flight.most, 2);
  in_flight_until (&in_flight, 300);
  in_flight_add (&in_flight, NULL, OP_WRITE, 110, 190);
  in_flight_add (&in_flight, NULL, OP_WRITE, 120, 300);
  assert_int_equal (in_flight.nr_open, 0);
  in_flight_add (&in_flight, NULL, OP_TRIM, 120, 301);
  assert_int_equal (in_flight.nr_open, 1);
  assert_int_equal (in_flight.now, 300);
  assert_int_equal (in_flight.most, 2);
  assert_int_equal (in_flight.op_most[OP_TRIM], 1);
}

/* Time does not go back, and an end may lie behind it. */
static void
test_late_end (void **state)
{
  int owner;

  (void) state;
  in_flight_add (&in_flight, &owner, OP_READ, 10, IN_FLIGHT_OPEN);
  in_flight_until (&in_flight, 100);
  in_flight_until (&in_flight, 50);
  assert_int_equal (in_flight.now, 100);
  in_flight_end (&in_flight, &owner, 90);
  in_flight_until (&in_flight, 100);
  assert_int_equal (in_flight.nr_open, 0);
  assert_int_equal (in_flight.op_open[OP_READ], 0);
}

/* Recent figures begin with what is in flight then. */
static void
test_recent (void **state)
{
  (void) state;
  for (unsigned i = 0; i < 5; i++)
    add (OP_READ, 10, 100 + 10 * i);
  check_open (110);             /* the first two are off */
  in_flight_forget_recent (&in_flight);
  assert_int_equal (in_flight.recent_most, 3);
  assert_int_equal (in_flight.op_recent_most[OP_READ], 3);
  assert_int_equal (in_flight.op_recent_most[OP_WRITE], 0);
  add (OP_WRITE, 120, 200);
  assert_int_equal (in_flight.recent_most, 3);
  assert_int_equal (in_flight.op_recent_most[OP_WRITE], 1);
  check_most (110);
  assert_int_equal (in_flight.most, 5);
}

/* More than there is room for are left out; nothing is written beyond it,
 * and room grows with what is in it.
 */
static void
test_full (void **state)
{
  stop (state);
  memset (&in_flight, 0, sizeof in_flight);
  in_flight_add (&in_flight, NULL, OP_READ, 10, 20);
  assert_int_equal (in_flight.most, 0);
  assert_int_equal (in_flight_reserve (&in_flight, 1), 0);

  /* The next owner may come while the last one's request is not off. */
  in_flight_add (&in_flight, NULL, OP_READ, 10, 30);
  in_flight_add (&in_flight, NULL, OP_READ, 20, 30);
  assert_int_equal (in_flight.most, 2);
  for (unsigned i = 0; i < 10; i++)
    in_flight_add (&in_flight, NULL, OP_READ, 20, 30 + i);
  assert_int_equal (in_flight.most, in_flight.capacity);
  assert_int_equal (in_flight.op_open[OP_READ], in_flight.nr_open);
  assert_int_equal (in_flight_reserve (&in_flight, 1), 0);
  assert_int_equal (in_flight_reserve (&in_flight, 100), 0);
  for (unsigned i = 0; i < 10; i++)
    in_flight_add (&in_flight, NULL, OP_READ, 20, 30 + i);
  assert_true (in_flight.nr_open >= 12);
  in_flight_until (&in_flight, 39);
  assert_int_equal (in_flight.nr_open, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown (f, start, stop)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_nothing),
    TEST (test_one_by_one),
    TEST (test_no_time),
    TEST (test_nested),
    TEST (test_random),
    TEST (test_open),
    TEST (test_open_random),
    TEST (test_late),
    TEST (test_late_end),
    TEST (test_recent),
    TEST (test_full),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
