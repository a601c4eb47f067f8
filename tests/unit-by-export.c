/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Figures by export of random requests, against counting them one by one; and
 * their sums against what a layer counts of the same requests.
 *
 * What is told late, and what finds no memory, may cost a little busy time or
 * a percentile; the sums are exact all the same.
 */

#include <config.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "by_export.h"
#include "clock.h"
#include "unit.h"
#include "wrap-alloc.h"

#define NR_REQUESTS 3000
#define EPOCH (1 * S)           /* when the world begins, */
#define WORLD (10 * S)          /* and how long it lasts */

static uint64_t random_state;

struct request_of {
  unsigned place;
  struct record record;
};

static struct request_of requests[NR_REQUESTS];

/* Begins and ends, in the order in which they are told. */
struct event {
  uint64_t told;                /* as ring_next */
  bool begins;
  const struct request_of *request;
};

static struct event events[2 * NR_REQUESTS];

/* A layer, as the recorder has it. */
static struct concurrency layer;
static struct op_totals ops[NR_OPS];
static struct by_export *by;
static unsigned first, in_use;  /* places */
static bool several;            /* as connections say it */

static int
start (void **state)
{
  (void) state;
  random_state = 1;
  several = false;
  concurrency_init (&layer, EPOCH);
  memset (ops, 0, sizeof ops);
  by = calloc (1, sizeof *by);
  return by ? 0 : -1;
}

static int
stop (void **state)
{
  (void) state;
  allocations_left = -1;
  by_export_free (by);
  free (by);
  return 0;
}

static uint64_t
pick (uint64_t n)
{
  return random_below (&random_state, n);
}

/* All orders of magnitude are as likely. */
static uint64_t
pick_latency (void)
{
  return 1 + pick (UINT64_C (1) << (1 + pick (32)));
}

/* A place that few have is told right, too. */
static unsigned
pick_place (unsigned places)
{
  return pick (4) ? (unsigned) pick (places)
    : (unsigned) pick (1 + pick (places));
}

static struct record
pick_record (void)
{
  const bool failed = pick (10) == 0;
  struct record record = {
    .kind = (uint8_t) pick (NR_OPS), .failed = failed,
    .begin = EPOCH + 1 + pick (WORLD), .count = (uint32_t) pick (100000),
  };

  record.end = record.begin + pick_latency ();
  if (failed)
    record.error = pick (2) ? ENOTSUP : EIO;
  if (record.kind == OP_ZERO && pick (2))
    record.flags = 1 << FLAG_FAST_ZERO;
  return record;
}

static int
in_order (const void *a, const void *b)
{
  const struct event *x = a, *y = b;

  return x->told < y->told ? -1 : x->told > y->told;
}

/* Requests of so many exports, told up to so late.  One that is told late ends
 * as late, so that it never ends before it begins.
 */
static void
make_world (unsigned places, uint64_t late)
{
  in_use = places;
  for (unsigned i = 0; i < NR_REQUESTS; i++) {
    struct request_of *request = &requests[i];
    const uint64_t by_ns = late && pick (10) == 0 ? pick (late) : 0;
    const struct record *record = &request->record;

    request->place = pick_place (places);
    request->record = pick_record ();
    events[2 * i] = (struct event) {
      2 * (record->begin + by_ns) + 1, true, request
    };
    events[2 * i + 1] = (struct event) {
      2 * (record->end + by_ns), false, request
    };
  }
  qsort (events, 2 * NR_REQUESTS, sizeof events[0], in_order);
  first = events[0].request->place;
}

/* What the recorder does. */

static void
count_for_layer (const struct record *record)
{
  struct op_totals *op = &ops[record->kind];
  const uint64_t ns = record->end - record->begin;

  if (record->failed && !record_is_refused (record))
    failures_count (&op->failures, record->error, ns);
  if (record->failed)
    return;
  extremes_record (&op->extremes, record, ns, op->tally.requests);
  tally_record (&op->tally, record, ns, 0);
}

static void
tell (const struct event *event)
{
  const struct request_of *request = event->request;
  const struct record *record = &request->record;
  const uint64_t time = event->begins ? record->begin : record->end;

  several |= request->place != first;
  if (several && !by->counts)
    by_export_start (by, first, ops, &layer);
  if (event->begins)
    concurrency_begin (&layer, record->kind, time);
  else {
    concurrency_end (&layer, record->kind, time);
    count_for_layer (record);
  }
  if (by->counts && event->begins)
    by_export_begin (by, request->place, record, &layer);
  else if (by->counts)
    by_export_end (by, request->place, record, &layer);
}

static struct by_export_totals
read_at (uint64_t now)
{
  struct by_export_totals totals;

  memset (&totals, 0, sizeof totals);
  concurrency_settle (&layer, now);
  totals.only = first;
  by_export_read (by, now, ops, &totals);
  return totals;
}

/* What there must be. */

static void
check_sums (const struct by_export_totals *totals)
{
  for (unsigned op = 0; op < NR_OPS; op++) {
    struct export_op sum = { 0 };

    for (unsigned place = 0; place < EXPORT_PLACES; place++) {
      const struct export_op *export = &totals->ops[place][op];

      sum.requests += export->requests;
      sum.bytes += export->bytes;
      sum.latency_ns += export->latency_ns;
      sum.failed += export->failed;
    }
    assert_int_equal (sum.requests, ops[op].tally.requests);
    assert_int_equal (sum.bytes, ops[op].tally.bytes);
    assert_int_equal (sum.latency_ns, ops[op].tally.latency_ns);
    assert_int_equal (sum.failed, failures_total (&ops[op].failures).requests);
  }
}

/* One export's requests of an operation, up to a moment. */
static uint64_t latencies[NR_REQUESTS];

static int
by_value (const void *a, const void *b)
{
  const uint64_t *x = a, *y = b;

  return *x < *y ? -1 : *x > *y;
}

static bool
is_of (const struct request_of *request, unsigned place, enum op op)
{
  return request->place == place && request->record.kind == op;
}

/* Events are in the order of time: how many are in flight after each says how
 * long there was one.
 */
static uint64_t
busy_ns (unsigned place, enum op op, uint64_t now)
{
  uint64_t ns = 0, since = 0;
  unsigned in_flight = 0;

  for (unsigned i = 0; i < 2 * NR_REQUESTS && events[i].told / 2 <= now; i++) {
    const struct event *event = &events[i];

    if (!is_of (event->request, place, op))
      continue;
    if (event->begins && in_flight++ == 0)
      since = event->told / 2;
    else if (!event->begins && --in_flight == 0)
      ns += event->told / 2 - since;
  }
  return in_flight ? ns + now - since : ns;
}

static void
check_p99 (uint64_t p99, size_t n)
{
  uint64_t exact, error;

  if (n == 0) {
    assert_int_equal (p99, 0);
    return;
  }
  qsort (latencies, n, sizeof latencies[0], by_value);
  exact = latencies[(99 * n + 99) / 100 - 1];
  error = p99 > exact ? p99 - exact : exact - p99;
  assert_true (error <= 2 || error * 32 <= exact);
}

static void
check_export (const struct by_export_totals *totals, unsigned place,
              enum op op, uint64_t now)
{
  const struct export_op *export = &totals->ops[place][op];
  struct export_op exact = { 0 };

  for (unsigned i = 0; i < NR_REQUESTS; i++) {
    const struct record *record = &requests[i].record;
    const uint64_t ns = record->end - record->begin;

    if (!is_of (&requests[i], place, op) || record->end > now)
      continue;
    if (record->failed) {
      exact.failed += !record_is_refused (record);
      continue;
    }
    latencies[exact.requests++] = ns;
    exact.bytes += record->count;
    exact.latency_ns += ns;
  }
  assert_int_equal (export->requests, exact.requests);
  assert_int_equal (export->bytes, exact.bytes);
  assert_int_equal (export->latency_ns, exact.latency_ns);
  assert_int_equal (export->failed, exact.failed);
  assert_int_equal (export->busy_ns, busy_ns (place, op, now));
  check_p99 (export->p99_ns, exact.requests);
}

/* Tests. */

/* Told in order, every figure is exact, whenever the second export comes, and
 * at any moment.
 */
static void
test_in_order (void **state)
{
  /* So many find memory for all bins. */
  static const unsigned places[] = { 2, 5, 30 };

  for (unsigned world = 0; world < 3 * LENGTH (places); world++) {
    unsigned told = 0;

    make_world (places[world / 3], 0);
    while (told < 2 * NR_REQUESTS) {
      uint64_t now;

      for (unsigned n = 1 + (unsigned) pick (NR_REQUESTS);
           n > 0 && told < 2 * NR_REQUESTS; n--)
        tell (&events[told++]);
      now = events[told - 1].told / 2;
      while (told < 2 * NR_REQUESTS && events[told].told / 2 <= now)
        tell (&events[told++]);
      if (by->counts) {
        const struct by_export_totals totals = read_at (now);

        check_sums (&totals);
        for (unsigned place = 0; place < in_use; place++) {
          for (unsigned op = 0; op < NR_OPS; op++)
            check_export (&totals, place, op, now);
        }
      }
    }
    assert_true (by->counts);
    stop (state);
    start (state);
    random_state = world + 2;
  }
}

/* One export alone costs nothing: no figure and no memory. */
static void
test_only_one (void **state)
{
  const unsigned long before = allocations;

  (void) state;
  make_world (1, 0);
  for (unsigned i = 0; i < 2 * NR_REQUESTS; i++)
    tell (&events[i]);
  assert_false (by->counts);
  assert_int_equal (allocations, before);
  assert_int_equal (read_at (events[2 * NR_REQUESTS - 1].told / 2).only, 0);
}

/* The second export comes at every moment of the first requests, also while
 * several are in flight.
 */
static void
test_second_comes (void **state)
{
  for (unsigned at = 1; at < 200; at++) {
    const struct event *event = &events[at];

    make_world (1, 0);
    if (!event->begins)
      continue;
    requests[event->request - requests].place = 7;
    in_use = 8;
    for (unsigned i = 0; i < 2 * NR_REQUESTS; i++) {
      tell (&events[i]);
      if (i == at || i == 2 * NR_REQUESTS - 1) {
        const uint64_t now = events[i].told / 2;
        const struct by_export_totals totals = read_at (now);

        assert_int_equal (totals.only, PLACE_OF_SEVERAL);
        check_sums (&totals);
        if (i < 2 * NR_REQUESTS - 1 && events[i + 1].told / 2 == now)
          continue;
        for (unsigned op = 0; op < NR_OPS; op++) {
          check_export (&totals, 0, op, now);
          check_export (&totals, 7, op, now);
        }
      }
    }
    stop (state);
    start (state);
    random_state = at + 1;
  }
}

/* Told late, sums stay exact, and busy times never become less, nor more than
 * the time that passed, between two readings.
 */
static void
test_late (void **state)
{
  struct by_export_totals before = { 0 };
  uint64_t read = EPOCH;

  (void) state;
  make_world (EXPORT_PLACES, 200 * MS);
  for (unsigned i = 0; i < 2 * NR_REQUESTS; i++) {
    const uint64_t now = events[i].told / 2;

    tell (&events[i]);
    if (pick (20) || now <= read || !by->counts)
      continue;
    struct by_export_totals totals = read_at (now);

    check_sums (&totals);
    for (unsigned place = 0; place < EXPORT_PLACES; place++) {
      for (unsigned op = 0; op < NR_OPS; op++) {
        const uint64_t was = before.ops[place][op].busy_ns;
        const uint64_t is = totals.ops[place][op].busy_ns;

        assert_true (is >= was && is - was <= now - read);
      }
    }
    before = totals;
    read = now;
  }
}

/* Where no bins are, there is no percentile, and nothing else is missing. */
static void
test_no_memory (void **state)
{
  struct by_export_totals totals;
  uint64_t now;
  unsigned known = 0;

  (void) state;
  make_world (20, 0);
  for (unsigned i = 0; i < 2 * NR_REQUESTS; i++) {
    if (i == 0)
      allocations_left = 10;
    else if (i == NR_REQUESTS)
      allocations_left = -1;    /* too late for those that have begun */
    tell (&events[i]);
  }
  now = events[2 * NR_REQUESTS - 1].told / 2;
  totals = read_at (now);
  check_sums (&totals);
  for (unsigned place = 0; place < in_use; place++) {
    for (unsigned op = 0; op < NR_OPS; op++) {
      struct export_op *export = &totals.ops[place][op];

      known += export->p99_ns > 0;
      if (export->p99_ns > 0)
        check_export (&totals, place, op, now);
    }
  }
  assert_in_range (known, 10, 40);
}

/* All operations of all exports: as many have bins as there is memory for. */
static void
test_bound (void **state)
{
  const size_t bytes = COARSE_ALL * sizeof (uint64_t);
  struct by_export_totals totals;
  size_t known = 0;

  (void) state;
  by_export_start (by, 0, ops, &layer);
  for (unsigned place = 0; place < EXPORT_PLACES; place++) {
    for (unsigned op = 0; op < NR_OPS; op++) {
      const struct record record = {
        .kind = (uint8_t) op, .begin = EPOCH, .end = EPOCH + MS,
      };

      concurrency_begin (&layer, op, record.begin);
      by_export_begin (by, place, &record, &layer);
      concurrency_end (&layer, op, record.end);
      by_export_end (by, place, &record, &layer);
      count_for_layer (&record);
    }
  }
  totals = read_at (EPOCH + MS);
  check_sums (&totals);
  for (unsigned place = 0; place < EXPORT_PLACES; place++) {
    for (unsigned op = 0; op < NR_OPS; op++)
      known += totals.ops[place][op].p99_ns == MS;
  }
  assert_true (by->bin_bytes <= MAX_EXPORT_BIN_BYTES);
  assert_int_equal (known, MAX_EXPORT_BIN_BYTES / bytes);
}

#define TEST(f) cmocka_unit_test_setup_teardown (f, start, stop)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_in_order),
    TEST (test_only_one),
    TEST (test_second_comes),
    TEST (test_late),
    TEST (test_no_memory),
    TEST (test_bound),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
