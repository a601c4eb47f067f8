/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Minimum, maximum, standard deviation and the slowest requests, against
 * what a list of all requests gives.
 */

#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "extremes.h"
#include "tally.h"
#include "unit.h"

#define MAX_REQUESTS 100000

/* What the code under test is told of, and the list beside it. */
static struct extremes extremes;
static struct tally tally;
static struct slow_request list[MAX_REQUESTS];
static size_t nr_listed;
static uint64_t random_state;

static int
start (void **state)
{
  (void) state;
  memset (&extremes, 0, sizeof extremes);
  memset (&tally, 0, sizeof tally);
  nr_listed = 0;
  random_state = 1;
  return 0;
}

/* As the recorder does. */
static void
record (struct extremes *to, struct tally *beside, uint64_t latency_ns)
{
  const struct record request = {
    .kind = OP_WRITE, .begin = 1 + nr_listed, .offset = nr_listed * 4096,
    .count = (uint32_t) (1 + random_below (&random_state, MiB)),
  };

  extremes_record (to, &request, latency_ns, beside->requests);
  tally_record (beside, &request, latency_ns, 0);
  assert_true (nr_listed < MAX_REQUESTS);
  list[nr_listed++] = (struct slow_request) {
    .latency_ns = latency_ns, .begin = request.begin,
    .offset = request.offset, .count = request.count,
  };
}

static void
add (uint64_t latency_ns)
{
  record (&extremes, &tally, latency_ns);
}

/* The mean first, then the squares of the differences.  All are taken from
 * one of the latencies, so that nothing is lost where long double is no
 * longer than double, as in valgrind.
 */
static double
listed_stddev (void)
{
  long double mean = 0, squares = 0;

  for (size_t i = 0; i < nr_listed; i++)
    mean += (int64_t) (list[i].latency_ns - list[0].latency_ns);
  mean /= nr_listed;
  for (size_t i = 0; i < nr_listed; i++) {
    const long double x
      = (int64_t) (list[i].latency_ns - list[0].latency_ns) - mean;

    squares += x * x;
  }
  return (double) sqrtl (squares / nr_listed);
}

static void
assert_close (double got, double expected)
{
  if (!(fabs (got - expected) <= fabs (expected) * 1e-12 + 1e-9))
    fail_msg ("%.17g instead of %.17g", got, expected);
}

/* Slowest first; of those that took as long the one that came first. */
static int
by_latency (const void *vp1, const void *vp2)
{
  const struct slow_request *r1 = vp1, *r2 = vp2;

  if (r1->latency_ns != r2->latency_ns)
    return r1->latency_ns > r2->latency_ns ? -1 : 1;
  return r1->begin < r2->begin ? -1 : r1->begin > r2->begin;
}

static void
check_slowest (const struct extremes *got)
{
  static const struct slow_request none;

  qsort (list, nr_listed, sizeof list[0], by_latency);
  for (size_t i = 0; i < NR_SLOWEST; i++)
    assert_memory_equal (&got->slowest[i],
                         i < nr_listed && list[i].latency_ns ? &list[i]
                                                             : &none,
                         sizeof none);
}

static void
check_all (const struct extremes *got)
{
  check_slowest (got);
  assert_int_equal (got->min_ns, list[nr_listed - 1].latency_ns);
  assert_int_equal (got->max_ns, list[0].latency_ns);
  assert_close (extremes_stddev (got, tally.requests, tally.latency_ns),
                listed_stddev ());
}

/* Nothing. */
static void
test_none (void **state)
{
  (void) state;
  assert_true (extremes_stddev (&extremes, 0, 0) == 0);
  check_slowest (&extremes);
}

/* Fewer than there are places for, and just as many. */
static void
test_few (void **state)
{
  for (unsigned n = 1; n <= NR_SLOWEST + 2; n++) {
    start (state);
    for (unsigned i = 0; i < n; i++)
      add (1 + random_below (&random_state, 1000));
    check_all (&extremes);
  }
}

static void
test_random (void **state)
{
  static const uint64_t below[] = { 2, 20, 1000, MS, 100 * S, 7200 * S };

  for (size_t i = 0; i < LENGTH (below); i++) {
    start (state);
    for (unsigned n = 0; n < 20000; n++)
      add (random_below (&random_state, below[i]));
    check_all (&extremes);
  }
}

/* Each longer than all before, and each shorter. */
static void
test_sorted (void **state)
{
  for (unsigned up = 0; up <= 1; up++) {
    start (state);
    for (unsigned n = 0; n < 100; n++)
      add (up ? 1 + n : 100 - n);
    check_all (&extremes);
  }
}

/* The first of those that took as long stay. */
static void
test_ties (void **state)
{
  (void) state;
  for (unsigned n = 0; n < 30; n++)
    add (10 * MS);
  check_slowest (&extremes);
  for (unsigned n = 0; n < 5; n++)
    add (20 * MS);
  for (unsigned n = 0; n < 30; n++)
    add (10 * MS);
  check_slowest (&extremes);
}

/* A latency of 0 is a minimum like any other. */
static void
test_zero (void **state)
{
  (void) state;
  add (100);
  add (0);
  add (100);
  check_all (&extremes);
  assert_int_equal (extremes.min_ns, 0);

  start (state);
  add (0);
  add (100);
  check_all (&extremes);
  assert_int_equal (extremes.min_ns, 0);
}

/* They do not deviate at all, whatever rounding there is elsewhere. */
static void
test_constant (void **state)
{
  static const uint64_t latencies[] = {
    0, 1, 3, 333, 1000003, S + 1, 7200 * S - 1, UINT64_MAX / MAX_REQUESTS,
  };

  for (size_t i = 0; i < LENGTH (latencies); i++) {
    start (state);
    for (unsigned n = 0; n < 1000; n++) {
      add (latencies[i]);
      assert_true (extremes_stddev (&extremes, tally.requests,
                                    tally.latency_ns) == 0);
    }
  }
}

/* A nanosecond's difference between very long ones is still seen. */
static void
test_no_cancelling (void **state)
{
  (void) state;
  for (unsigned n = 0; n < 1000; n++)
    add (7200 * S + n % 2);
  assert_close (extremes_stddev (&extremes, tally.requests, tally.latency_ns),
                0.5);
}

/* A million of two hours and a million of none. */
static void
test_huge (void **state)
{
  const struct record request = { .kind = OP_READ };
  const uint64_t long_ns = 7200 * S, many = 1000000;

  (void) state;
  for (uint64_t n = 0; n < 2 * many; n++)
    extremes_record (&extremes, &request, n % 2 ? long_ns : 0, n);
  assert_int_equal (extremes.min_ns, 0);
  assert_int_equal (extremes.max_ns, long_ns);
  assert_close (extremes_stddev (&extremes, 2 * many, many * long_ns),
                (double) long_ns / 2);
}

/* Parts that are added give the whole, in any number, empty ones too:
 * parts that are alike, with many ties, or each slower than those before.
 */
static void
test_add (void **state)
{
  static const struct {
    uint64_t width, step;
  } table[] = { { MS, 0 }, { 7, 0 }, { 1000, 1000 } };

  for (size_t i = 0; i < LENGTH (table); i++) {
    struct extremes sum = { 0 };
    uint64_t requests = 0;

    start (state);
    for (unsigned part = 0; part < 20; part++) {
      const unsigned n = part % 3 == 0 ? 0 : 2 * part;
      struct extremes part_extremes = { 0 };
      struct tally part_tally = { 0 };

      for (unsigned j = 0; j < n; j++)
        record (&part_extremes, &part_tally, 1000 + part * table[i].step
                + random_below (&random_state, table[i].width));
      extremes_add (&sum, requests, &part_extremes, part_tally.requests);
      requests += part_tally.requests;
      tally_add (&tally, &part_tally);
    }
    assert_int_equal (requests, nr_listed);
    check_all (&sum);
  }
}

/* What came after a point: squares exactly, bounds within a bin, and of
 * the slowest those that ended since.
 */

static void
check_bounds (const struct extremes *interval, uint64_t min, uint64_t max)
{
  assert_true (interval->min_ns <= min);
  assert_true (interval->max_ns >= max);
  assert_int_equal (histogram_bin (interval->min_ns), histogram_bin (min));
  assert_int_equal (histogram_bin (interval->max_ns), histogram_bin (max));
}

static void
subtract (const struct extremes *before, const struct tally *tally_before,
          uint64_t begin)
{
  tally_subtract (&tally, tally_before);
  extremes_subtract (&extremes, before, &tally, begin);
}

static void
test_subtract (void **state)
{
  static const struct {
    uint64_t before, from, width;
  } table[] = {
    { 1000, 5000, 100 },        /* longer than all before */
    { 5000000, 100, 20 },       /* shorter than all */
    { 2000, 1, 100000 },        /* on both sides */
    { 1, 3 * 7200 * S, 100 },   /* in the overflow */
  };

  for (size_t i = 0; i < LENGTH (table); i++) {
    struct extremes before;
    struct tally tally_before;
    uint64_t min = UINT64_MAX, max = 0;

    start (state);
    for (unsigned n = 0; n < 100; n++)
      add (table[i].before + random_below (&random_state, 1000));
    before = extremes;
    tally_before = tally;
    for (unsigned n = 0; n < 100; n++)
      add (table[i].from + random_below (&random_state, table[i].width));

    memmove (list, &list[100], 100 * sizeof list[0]);
    nr_listed = 100;
    for (unsigned n = 0; n < 100; n++) {
      min = list[n].latency_ns < min ? list[n].latency_ns : min;
      max = list[n].latency_ns > max ? list[n].latency_ns : max;
    }
    subtract (&before, &tally_before, 0);
    check_bounds (&extremes, min, max);
    assert_close (extremes_stddev (&extremes, tally.requests,
                                   tally.latency_ns), listed_stddev ());
  }
}

/* Bounds of the run hold for each part of it. */
static void
test_subtract_same_bin (void **state)
{
  struct extremes before;
  struct tally tally_before;

  (void) state;
  add (5000);
  before = extremes;
  tally_before = tally;
  add (5001);
  assert_int_equal (histogram_bin (5000), histogram_bin (5001));
  subtract (&before, &tally_before, 0);
  assert_in_range (extremes.min_ns, 5000, 5001);
  assert_int_equal (extremes.max_ns, 5001);
}

static void
test_subtract_nothing (void **state)
{
  static const struct extremes none;
  const uint64_t latencies[] = { 100, 5, 1000 };
  struct extremes before;
  struct tally tally_before;

  (void) state;
  for (size_t i = 0; i < LENGTH (latencies); i++)
    add (latencies[i]);
  before = extremes;
  tally_before = tally;
  subtract (&before, &tally_before, 0);
  assert_memory_equal (&extremes, &none, sizeof none);
}

/* Of the slowest, those that ended from then on, in their order. */
static void
test_subtract_slowest (void **state)
{
  static const struct {
    uint64_t begin, latency_ns;
  } requests[] = {
    { 1000, 50 },
    { 1000, 99 },
    { 1000, 100 },              /* ends in that moment */
    { 500, 601 },               /* began before it */
    { 1100, 1 },
    { 1200, 700 },
    { 0, 1099 },                /* the slowest, and too early */
  };
  static const uint64_t kept[] = { 700, 601, 100, 1 };
  const struct extremes before = { 0 };

  (void) state;
  for (size_t i = 0; i < LENGTH (requests); i++) {
    const struct record request = { .begin = requests[i].begin };

    extremes_record (&extremes, &request, requests[i].latency_ns, i);
  }
  tally.requests = 1;
  tally.bins[1]++;
  extremes_subtract (&extremes, &before, &tally, 1100);
  for (size_t i = 0; i < NR_SLOWEST; i++)
    assert_int_equal (extremes.slowest[i].latency_ns,
                      i < LENGTH (kept) ? kept[i] : 0);
}

#define TEST(f) cmocka_unit_test_setup (f, start)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_none),
    TEST (test_few),
    TEST (test_random),
    TEST (test_sorted),
    TEST (test_ties),
    TEST (test_zero),
    TEST (test_constant),
    TEST (test_no_cancelling),
    TEST (test_huge),
    TEST (test_add),
    TEST (test_subtract),
    TEST (test_subtract_same_bin),
    TEST (test_subtract_nothing),
    TEST (test_subtract_slowest),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
