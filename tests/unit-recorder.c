/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What the recorder keeps of requests, of those that fail above all, and
 * what it does without memory.
 */

#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "ops.h"
#include "recorder.h"
#include "tally.h"
#include "unit.h"
#include "wrap-alloc.h"

static struct recorder *recorder;

static int
start (void **state)
{
  (void) state;
  recorder = recorder_new (0);
  return recorder ? 0 : -1;
}

static int
stop (void **state)
{
  (void) state;
  recorder_free (recorder);
  return 0;
}

static struct recorder_totals
read_totals (void)
{
  struct recorder_totals totals;

  memset (&totals, 0xff, sizeof totals);
  recorder_read (recorder, clock_now (), &totals);
  return totals;
}

static void
begin (struct recorder *to, struct request *request, enum op op,
       uint32_t count)
{
  *request = (struct request) { .op = op, .count = count };
  recorder_begin (to, request);
}

static void
do_request (enum op op, uint32_t count, int error)
{
  struct request request;

  begin (recorder, &request, op, count);
  recorder_end (&request, error);
}

static uint64_t
requests_of_all (const struct recorder_totals *totals)
{
  uint64_t requests = 0;

  for (unsigned op = 0; op < NR_OPS; op++)
    requests += totals->ops[op].tally.requests;
  return requests;
}

/* The requests that failed with one errno, or none. */
static struct failure
failed_with (const struct op_totals *totals, uint64_t error)
{
  for (unsigned i = 0; i < MAX_FAILURES; i++) {
    if (totals->failures.by_errno[i].error == error)
      return totals->failures.by_errno[i];
  }
  return (struct failure) { 0 };
}

static void
test_nothing (void **state)
{
  struct recorder_totals totals = read_totals ();

  (void) state;
  for (unsigned op = 0; op < NR_OPS; op++) {
    assert_int_equal (totals.ops[op].tally.requests, 0);
    assert_int_equal (totals.ops[op].tally.bytes, 0);
    assert_int_equal (totals.ops[op].tally.latency_ns, 0);
    assert_int_equal (failures_total (&totals.ops[op].failures).requests, 0);
    assert_int_equal (totals.time.op_busy_ns[op], 0);
    assert_int_equal (totals.time.in_flight[op], 0);
  }
  assert_int_equal (totals.time.busy_ns, 0);
  assert_int_equal (totals.time.first_begin, 0);
  assert_int_equal (totals.unrecorded, 0);
}

/* Each operation has figures of its own. */
static void
test_operations (void **state)
{
  const uint64_t before = clock_now ();
  struct recorder_totals totals;

  (void) state;
  for (unsigned op = 0; op < NR_OPS; op++) {
    for (unsigned i = 0; i <= op; i++)
      do_request (op, UINT32_MAX - op, 0);
  }
  totals = read_totals ();
  for (unsigned op = 0; op < NR_OPS; op++) {
    const struct tally *tally = &totals.ops[op].tally;

    assert_int_equal (tally->requests, op + 1);
    assert_int_equal (tally->bytes,
                      (op + 1) * (uint64_t) (UINT32_MAX - op));
    assert_true (tally->latency_ns > 0);
    assert_true (totals.time.op_busy_ns[op] > 0);
    assert_int_equal (totals.time.in_flight[op], 0);
  }
  assert_in_range (totals.time.first_begin, before, clock_now ());
  assert_in_range (totals.time.last_end, totals.time.first_begin,
                   clock_now ());
  assert_in_range (totals.time.busy_ns, 1, clock_since (before, clock_now ()));
}

static void
test_extents (void **state)
{
  const struct extents_returned returned[] = {
    { .count = 37, .data = 1224065024, .hole = 5218762752, .zero = 512 },
    { .count = 1, .data = 0, .hole = UINT64_C (1) << 60, .zero = 1 },
  };
  struct request request;
  struct recorder_totals totals;
  const struct tally *tally = &totals.ops[OP_EXTENTS].tally;

  (void) state;
  for (unsigned i = 0; i < 2; i++) {
    begin (recorder, &request, OP_EXTENTS, 4096);
    recorder_end (&request, 0);
    recorder_extents (&request, &returned[i]);
  }
  totals = read_totals ();
  assert_int_equal (tally->requests, 2);
  assert_int_equal (tally->bytes, 8192);
  assert_int_equal (tally->extents.count, 38);
  assert_int_equal (tally->extents.data, 1224065024);
  assert_int_equal (tally->extents.hole, (UINT64_C (1) << 60) + 5218762752);
  assert_int_equal (tally->extents.zero, 513);
}

/* All that a request says of itself is kept, and where it was slowest. */
static void
test_details (void **state)
{
  struct request request = {
    .op = OP_WRITE, .count = 8192, .offset = 5 * GiB + 512,
    .flags = 1 << FLAG_FUA, .zero_bytes = 1000,
  };
  struct recorder_totals totals;
  const struct op_totals *op = &totals.ops[OP_WRITE];

  stop (state);
  recorder = recorder_new (4096);
  assert_non_null (recorder);
  for (unsigned i = 0; i < 3; i++) {
    recorder_begin (recorder, &request);
    if (i == 2)
      usleep (1000);            /* the last is not the quickest */
    recorder_end (&request, 0);
    request.flags = 0;
  }
  totals = read_totals ();
  assert_int_equal (op->tally.sizes[14].requests, 3);
  assert_int_equal (op->tally.offset_alignment[9], 3);
  assert_int_equal (op->tally.length_alignment[13], 3);
  assert_int_equal (op->tally.blocks.touched, 9);
  assert_int_equal (op->tally.flags[FLAG_FUA], 1);
  assert_int_equal (op->tally.zero_bytes, 3000);
  assert_int_equal (histogram_count (op->tally.bins), 3);
  assert_in_range (op->tally.latency_ns, 3 * op->extremes.min_ns,
                   3 * op->extremes.max_ns);
  assert_int_equal (op->extremes.slowest[0].latency_ns, op->extremes.max_ns);
  assert_int_equal (op->extremes.slowest[0].offset, 5 * GiB + 512);
  assert_int_equal (op->extremes.slowest[0].count, 8192);
  assert_int_equal (op->extremes.slowest[2].latency_ns, op->extremes.min_ns);
  assert_int_equal (op->extremes.slowest[3].latency_ns, 0);
  assert_int_equal (totals.time.depths[OP_WRITE][0].requests, 3);
  assert_int_equal (totals.time.depths[OP_WRITE][0].latency_ns,
                    op->tally.latency_ns);
  assert_int_equal (totals.time.in_flight_ns[OP_WRITE],
                    op->tally.latency_ns);
}

/* A client that asked for a fast zero is ready to be refused. */
static void
test_fast_zero (void **state)
{
  static const struct {
    uint32_t flags;
    int error;
    uint64_t refused, failed;   /* so far */
  } steps[] = {
    { 1 << FLAG_FAST_ZERO, 0, 0, 0 },
    { 1 << FLAG_FAST_ZERO, ENOTSUP, 1, 0 },
    { 1 << FLAG_FAST_ZERO | 1 << FLAG_MAY_TRIM, EOPNOTSUPP, 2, 0 },
    { 1 << FLAG_FAST_ZERO, EIO, 2, 1 },
    { 1 << FLAG_MAY_TRIM, EOPNOTSUPP, 2, 2 },
  };
  struct recorder_totals totals;
  const struct tally *tally = &totals.ops[OP_ZERO].tally;

  (void) state;
  for (size_t i = 0; i < LENGTH (steps); i++) {
    struct request request = { .op = OP_ZERO, .flags = steps[i].flags };

    recorder_begin (recorder, &request);
    recorder_end (&request, steps[i].error);
    totals = read_totals ();
    assert_int_equal (tally->fast_zero_refused.requests, steps[i].refused);
    assert_int_equal (failures_total (&totals.ops[OP_ZERO].failures).requests,
                      steps[i].failed);
  }
  assert_int_equal (tally->requests, 1);
  assert_true (tally->fast_zero_refused.ns > 0);
  assert_int_equal (tally->flags[FLAG_FAST_ZERO], 1);
}

/* Which requests go on where another ended: each connection and operation
 * by itself, though one thread may run requests of several.
 */

static void
do_at (enum op op, uint64_t offset, struct sequence *streams, int error)
{
  struct request request = {
    .op = op, .count = op == OP_FLUSH ? 0 : 512, .offset = offset,
    .streams = streams,
  };

  recorder_begin (recorder, &request);
  recorder_end (&request, error);
}

static void
test_streams (void **state)
{
  const size_t size = NR_OPS * sizeof (struct sequence);
  struct sequence *streams[2];
  struct recorder_totals totals;

  (void) state;
  for (unsigned c = 0; c < 2; c++) {
    streams[c] = calloc (1, size);
    assert_non_null (streams[c]);
  }
  /* None of these goes on with one of its own. */
  for (unsigned i = 0; i < 100; i++) {
    do_at (OP_EXTENTS, i * 512, streams[i % 2], 0);
    do_at (OP_TRIM, i * 512, NULL, 0);
    do_at (OP_FLUSH, 0, streams[0], 0);
    do_at (OP_CACHE, i * 512, streams[1], EIO);
  }
  /* All but the first do. */
  for (unsigned c = 0; c < 2; c++) {
    for (unsigned i = 0; i < 500; i++) {
      do_at (OP_READ, i * 512, streams[c], 0);
      do_at (OP_WRITE, i * 512, streams[c], 0);
    }
  }

  /* The connections close: nothing more is looked up in their streams. */
  recorder_settle (recorder);
  for (unsigned c = 0; c < 2; c++) {
    memset (streams[c], 0, size);
    free (streams[c]);
  }
  do_request (OP_READ, 512, 0);
  totals = read_totals ();
  for (unsigned op = 0; op < NR_OPS; op++)
    assert_int_equal (totals.time.sequential[op],
                      op == OP_READ || op == OP_WRITE ? 2 * 499 : 0);
}

static void
test_connections (void **state)
{
  struct recorder_totals totals;

  (void) state;
  connections_opened (recorder_connections (recorder), "name", 5, false);
  connections_opened (recorder_connections (recorder), "", 7, true);
  totals = read_totals ();
  assert_int_equal (totals.connections.all.opened, 1);
  assert_int_equal (totals.connections.all.failed, 1);
  assert_int_equal (totals.connections.all.ns, 12);
  assert_int_equal (totals.connections.nr_exports, 2);
  connections_closed (recorder_connections (recorder));
}

/* Begun and not ended: known as in flight, and not yet counted. */
static void
test_in_flight (void **state)
{
  struct request request;
  struct recorder_totals totals, later;

  (void) state;
  begin (recorder, &request, OP_FLUSH, 0);
  totals = read_totals ();
  assert_int_equal (totals.time.in_flight[OP_FLUSH], 1);
  assert_int_equal (requests_of_all (&totals), 0);
  later = read_totals ();
  assert_true (later.time.busy_ns > totals.time.busy_ns);
  recorder_end (&request, 0);
  totals = read_totals ();
  assert_int_equal (totals.time.in_flight[OP_FLUSH], 0);
  assert_int_equal (totals.ops[OP_FLUSH].tally.requests, 1);
}

/* Failures have a count and a time by errno, and no part in the requests,
 * bytes and latencies of what succeeded.
 */
static void
test_failures (void **state)
{
  const uint64_t before = clock_now ();
  struct recorder_totals totals;
  struct failure failure;
  uint64_t elapsed;

  (void) state;
  do_request (OP_WRITE, 512, EIO);
  do_request (OP_WRITE, 512, ENOSPC);
  do_request (OP_WRITE, 512, EIO);
  do_request (OP_READ, 512, EIO);
  totals = read_totals ();
  elapsed = clock_since (before, clock_now ());
  assert_int_equal (requests_of_all (&totals), 0);
  assert_int_equal (totals.ops[OP_WRITE].tally.bytes, 0);
  assert_int_equal (totals.ops[OP_WRITE].tally.latency_ns, 0);

  do_request (OP_WRITE, 4096, 0);
  totals = read_totals ();
  assert_int_equal (requests_of_all (&totals), 1);
  assert_int_equal (totals.ops[OP_WRITE].tally.requests, 1);
  assert_int_equal (totals.ops[OP_WRITE].tally.bytes, 4096);

  failure = failed_with (&totals.ops[OP_WRITE], EIO);
  assert_int_equal (failure.requests, 2);
  assert_in_range (failure.longest_ns, 1, failure.ns - 1);
  assert_in_range (failure.ns, 2, elapsed);
  failure = failed_with (&totals.ops[OP_WRITE], ENOSPC);
  assert_int_equal (failure.requests, 1);
  assert_int_equal (failure.longest_ns, failure.ns);
  assert_int_equal (failed_with (&totals.ops[OP_READ], EIO).requests, 1);
  assert_int_equal (failed_with (&totals.ops[OP_READ], ENOSPC).requests, 0);

  /* The storage was busy with them, too. */
  assert_true (totals.time.op_busy_ns[OP_READ]
               >= failed_with (&totals.ops[OP_READ], EIO).ns);
}

/* Errno e fails e times.  Each thread meets the errnos in another order,
 * so that they are in other places of its own counters.  For trim they are
 * more than have a place of their own; for zero they are fewer.
 */
enum { NR_ERRNOS = 40, FEW_ERRNOS = 10, NR_THREADS = 3 };

static pthread_barrier_t all_began;

static void *
fail_in_all_ways (void *vp)
{
  const int *first = vp;

  /* While all are there, none can take over another's counters. */
  do_request (OP_READ, 1, 0);
  pthread_barrier_wait (&all_began);
  for (int i = 0; i < NR_ERRNOS; i++) {
    const int error = (*first + i) % NR_ERRNOS + 1;

    for (int j = 0; j < error; j++) {
      do_request (OP_TRIM, 1, error);
      if (error <= FEW_ERRNOS)
        do_request (OP_ZERO, 1, error);
    }
  }
  return NULL;
}

static void
test_many_errnos (void **state)
{
  static int first[NR_THREADS] = { 0, 7, 30 };
  const uint64_t sum = NR_THREADS * NR_ERRNOS * (NR_ERRNOS + 1) / 2;
  pthread_t threads[NR_THREADS];
  struct recorder_totals totals;
  uint64_t requests = 0, ns = 0, longest_ns = 0;
  unsigned others = 0;
  struct failure total;

  (void) state;
  pthread_barrier_init (&all_began, NULL, NR_THREADS);
  for (unsigned i = 0; i < NR_THREADS; i++)
    assert_int_equal (pthread_create (&threads[i], NULL, fail_in_all_ways,
                                      &first[i]), 0);
  for (unsigned i = 0; i < NR_THREADS; i++)
    pthread_join (threads[i], NULL);
  pthread_barrier_destroy (&all_began);

  totals = read_totals ();
  for (unsigned i = 0; i < MAX_FAILURES; i++) {
    const struct failure *f = &totals.ops[OP_TRIM].failures.by_errno[i];

    requests += f->requests;
    ns += f->ns;
    if (f->longest_ns > longest_ns)
      longest_ns = f->longest_ns;
    assert_true (f->longest_ns <= f->ns);
    if (f->error == FAILURE_OTHER)
      others++;
    else {
      assert_in_range (f->error, 1, NR_ERRNOS);
      /* Of each thread all of them, or all were put under "other". */
      assert_int_equal (f->requests % f->error, 0);
      assert_in_range (f->requests, 1, NR_THREADS * f->error);
    }
    for (unsigned j = 0; j < i; j++)
      assert_int_not_equal (
        f->error, totals.ops[OP_TRIM].failures.by_errno[j].error);
  }
  assert_int_equal (others, 1);
  assert_int_equal (
    totals.ops[OP_TRIM].failures.by_errno[MAX_FAILURES - 1].error,
    FAILURE_OTHER);
  assert_int_equal (requests, sum);

  total = failures_total (&totals.ops[OP_TRIM].failures);
  assert_int_equal (total.requests, sum);
  assert_int_equal (total.ns, ns);
  assert_int_equal (total.longest_ns, longest_ns);
  assert_int_equal (totals.ops[OP_TRIM].tally.requests, 0);

  for (uint64_t e = 1; e <= FEW_ERRNOS; e++)
    assert_int_equal (failed_with (&totals.ops[OP_ZERO], e).requests,
                      NR_THREADS * e);
}

/* With one errno less than there are places none of them is "other". */
static void
test_errnos_that_fit (void **state)
{
  struct recorder_totals totals;

  (void) state;
  for (int e = 1; e < MAX_FAILURES; e++) {
    for (int i = 0; i < e; i++)
      do_request (OP_ZERO, 1, e);
  }
  totals = read_totals ();
  for (int e = 1; e < MAX_FAILURES; e++)
    assert_int_equal (
      failed_with (&totals.ops[OP_ZERO], (uint64_t) e).requests, e);
  assert_int_equal (
    failed_with (&totals.ops[OP_ZERO], FAILURE_OTHER).requests, 0);
}

/* Two layers of the filter: a thread has a request in each of them. */
static void
test_two_recorders (void **state)
{
  struct recorder *outer = recorder, *inner = recorder_new (0);
  struct request request, inner_request;
  struct recorder_totals totals;

  (void) state;
  assert_non_null (inner);
  for (unsigned i = 0; i < 10; i++) {
    begin (outer, &request, OP_WRITE, 100);
    for (unsigned j = 0; j < 2; j++) {
      begin (inner, &inner_request, OP_WRITE, 50);
      recorder_end (&inner_request, 0);
    }
    recorder_end (&request, 0);
  }
  totals = read_totals ();
  assert_int_equal (totals.ops[OP_WRITE].tally.requests, 10);
  assert_int_equal (totals.ops[OP_WRITE].tally.bytes, 1000);
  recorder_read (inner, clock_now (), &totals);
  assert_int_equal (totals.ops[OP_WRITE].tally.requests, 20);
  assert_int_equal (totals.ops[OP_WRITE].tally.bytes, 1000);
  recorder_free (inner);
}

/* The data path allocates for a thread's first request of an operation. */
static void
test_no_allocation (void **state)
{
  const int error[] = { 0, EIO, ENOSPC, EOPNOTSUPP };
  const struct extents_returned returned = { .count = 1, .data = 1 };
  struct request request;
  unsigned long before;

  (void) state;
  for (unsigned op = 0; op < NR_OPS; op++)
    do_request (op, 512, 0);
  before = allocations;
  for (unsigned i = 0; i < 10000; i++) {
    begin (recorder, &request, i % NR_OPS, 512 + i);
    recorder_end (&request, error[i % 4]);
    recorder_extents (&request, &returned);
  }
  assert_int_equal (allocations, before);
}

/* Without memory a request is numbered and no more, and later ones are
 * recorded when there is memory again.  Each allocation fails in turn.
 */
static void
test_no_memory (void **state)
{
  const struct extents_returned returned = { .count = 1, .data = 4096 };
  struct request request;
  struct recorder_totals totals;
  uint64_t unrecorded = 0;

  (void) state;
  for (long left = 0; ; left++) {
    assert_true (left < 100);
    allocations_left = left;
    begin (recorder, &request, OP_EXTENTS, 4096);
    recorder_end (&request, 0);
    recorder_extents (&request, &returned);
    allocations_left = -1;

    totals = read_totals ();
    if (totals.ops[OP_EXTENTS].tally.requests == 1)
      break;
    unrecorded++;
    assert_int_equal (totals.unrecorded, unrecorded);
    assert_int_equal (requests_of_all (&totals), 0);
    assert_int_equal (totals.ops[OP_EXTENTS].tally.extents.count, 0);
    assert_int_equal (totals.time.in_flight[OP_EXTENTS], 0);
    assert_int_equal (totals.time.busy_ns, 0);
  }
  assert_true (unrecorded > 0);
  assert_int_equal (totals.unrecorded, unrecorded);
  assert_int_equal (totals.ops[OP_EXTENTS].tally.bytes, 4096);
  assert_int_equal (totals.ops[OP_EXTENTS].tally.extents.count, 1);

  /* A failed one is numbered only once, too. */
  allocations_left = 0;
  do_request (OP_CACHE, 4096, EIO);
  do_request (OP_EXTENTS, 4096, 0);
  allocations_left = -1;
  totals = read_totals ();
  assert_int_equal (totals.unrecorded, unrecorded + 1);
  assert_int_equal (failures_total (&totals.ops[OP_CACHE].failures).requests,
                    0);
  assert_int_equal (totals.ops[OP_EXTENTS].tally.requests, 2);
}

static void
test_new_without_memory (void **state)
{
  struct recorder *r;

  (void) state;
  for (long left = 0; ; left++) {
    assert_true (left < 100);
    errno = 0;
    allocations_left = left;
    r = recorder_new (0);
    allocations_left = -1;
    if (r)
      break;
    assert_int_equal (errno, ENOMEM);
  }
  recorder_free (r);
  recorder_free (NULL);
}

static void
test_new_without_key (void **state)
{
  enum { MANY = 4096 };
  static pthread_key_t keys[MANY];
  unsigned n = 0;
  struct recorder *r;

  (void) state;
  while (n < MANY && pthread_key_create (&keys[n], NULL) == 0)
    n++;
  if (n == MANY)
    skip ();
  errno = 0;
  r = recorder_new (0);
  assert_null (r);
  assert_int_equal (errno, EAGAIN);
  while (n > 0)
    pthread_key_delete (keys[--n]);
}

/* A thread that comes back after recorder_free finds all in its place.
 * Static, since what is kept is not a leak.
 */
static void
test_free_in_flight (void **state)
{
  static struct recorder *kept;
  struct request request;

  (void) state;
  kept = recorder_new (0);
  assert_non_null (kept);
  begin (kept, &request, OP_READ, 512);
  recorder_free (kept);
  recorder_end (&request, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (test_nothing, start, stop),
    cmocka_unit_test_setup_teardown (test_operations, start, stop),
    cmocka_unit_test_setup_teardown (test_extents, start, stop),
    cmocka_unit_test_setup_teardown (test_details, start, stop),
    cmocka_unit_test_setup_teardown (test_fast_zero, start, stop),
    cmocka_unit_test_setup_teardown (test_streams, start, stop),
    cmocka_unit_test_setup_teardown (test_connections, start, stop),
    cmocka_unit_test_setup_teardown (test_in_flight, start, stop),
    cmocka_unit_test_setup_teardown (test_failures, start, stop),
    cmocka_unit_test_setup_teardown (test_many_errnos, start, stop),
    cmocka_unit_test_setup_teardown (test_errnos_that_fit, start, stop),
    cmocka_unit_test_setup_teardown (test_two_recorders, start, stop),
    cmocka_unit_test_setup_teardown (test_no_allocation, start, stop),
    cmocka_unit_test_setup_teardown (test_no_memory, start, stop),
    cmocka_unit_test (test_new_without_memory),
    cmocka_unit_test (test_new_without_key),
    cmocka_unit_test (test_free_in_flight),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
