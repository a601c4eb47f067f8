/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The recorder under real threads, with a reader at the same time.
 *
 * UNIT_REQUESTS in the environment is how many requests each thread makes;
 * the default is enough for logs to be swept and short enough for a run
 * under a sanitizer.
 */

#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "ops.h"
#include "recorder.h"
#include "tally.h"
#include "unit-threads.h"
#include "wrap-alloc.h"

#define MAX_THREADS 16

static struct recorder *recorder;
static uint64_t started;
static unsigned requests_per_thread = 20000;

static int
start (void **state)
{
  const char *requests = getenv ("UNIT_REQUESTS");

  (void) state;
  if (requests)
    requests_per_thread = (unsigned) strtoul (requests, NULL, 10);
  started = clock_now ();
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

/* Each request of an operation has the same size, so that a reader can
 * tell whether requests and bytes belong together.  Each 7th fails.
 */
static uint32_t
size_of (enum op op)
{
  return 512u << op;
}

static bool
fails (unsigned i)
{
  return i % 7 == 6;
}

struct worker {
  pthread_t thread;
  uint64_t longest_ns;          /* of its requests, seen from within */
};

static void *
work (void *vp)
{
  struct worker *worker = vp;
  uint64_t begin, end;

  for (unsigned i = 0; i < requests_per_thread; i++) {
    const enum op op = i % NR_OPS;
    struct request request = { .op = op, .count = size_of (op) };

    recorder_begin (recorder, &request);
    begin = clock_now ();
    if (i % 1000 == 0)
      sched_yield ();
    end = clock_now ();
    recorder_end (&request, fails (i) ? EIO : 0);
    if (clock_since (begin, end) > worker->longest_ns)
      worker->longest_ns = clock_since (begin, end);
  }
  return NULL;
}

/* What holds at any moment, and from one read to the next. */
static void
check_read (const struct recorder_totals *totals,
            const struct recorder_totals *before, unsigned nr_threads)
{
  const uint64_t elapsed = clock_since (started, clock_now ());
  unsigned in_flight = 0;

  CHECK (totals->time.busy_ns <= elapsed);
  CHECK (totals->time.busy_ns >= before->time.busy_ns);
  CHECK (totals->unrecorded == 0);
  for (unsigned op = 0; op < NR_OPS; op++) {
    const struct tally *tally = &totals->ops[op].tally;
    const struct failure failed = failures_total (&totals->ops[op].failures);

    CHECK (tally->bytes == tally->requests * size_of (op));
    CHECK (tally->requests >= before->ops[op].tally.requests);
    CHECK (tally->latency_ns >= before->ops[op].tally.latency_ns);
    CHECK (failed.longest_ns <= failed.ns);
    CHECK (failed.ns <= failed.requests * failed.longest_ns);
    CHECK (totals->time.op_busy_ns[op] <= totals->time.busy_ns);
    CHECK (totals->time.op_busy_ns[op] >= before->time.op_busy_ns[op]);
    in_flight += totals->time.in_flight[op];
  }
  CHECK (in_flight <= nr_threads);
}

struct reader {
  pthread_t thread;
  unsigned nr_threads;
  atomic_bool stop;
  struct recorder_totals totals, before;
};

static void *
read_on (void *vp)
{
  struct reader *reader = vp;

  while (!reader->stop) {
    reader->before = reader->totals;
    recorder_read (recorder, clock_now (), &reader->totals);
    check_read (&reader->totals, &reader->before, reader->nr_threads);
  }
  return NULL;
}

/* The sums that all workers together must have made. */
static void
check_sums (const struct recorder_totals *totals, unsigned nr_threads)
{
  uint64_t succeeded[NR_OPS] = { 0 }, failed[NR_OPS] = { 0 };

  for (unsigned i = 0; i < requests_per_thread; i++) {
    if (fails (i))
      failed[i % NR_OPS] += nr_threads;
    else
      succeeded[i % NR_OPS] += nr_threads;
  }
  for (unsigned op = 0; op < NR_OPS; op++) {
    assert_int_equal (totals->ops[op].tally.requests, succeeded[op]);
    assert_int_equal (totals->ops[op].tally.bytes,
                      succeeded[op] * size_of (op));
    assert_int_equal (failures_total (&totals->ops[op].failures).requests,
                      failed[op]);
    assert_int_equal (totals->time.in_flight[op], 0);
  }
}

static void
run_threads (unsigned nr_threads)
{
  /* How late the begin of a request can come to a sweep on another core. */
  const uint64_t tolerance = 100000;
  static struct worker workers[MAX_THREADS];
  static struct reader reader;
  static struct recorder_totals totals;
  uint64_t longest_ns = 0;

  memset (workers, 0, sizeof workers);
  memset (&reader, 0, sizeof reader);
  reader.nr_threads = nr_threads;
  assert_int_equal (
    pthread_create (&reader.thread, NULL, read_on, &reader), 0);
  for (unsigned i = 0; i < nr_threads; i++)
    assert_int_equal (
      pthread_create (&workers[i].thread, NULL, work, &workers[i]), 0);
  for (unsigned i = 0; i < nr_threads; i++) {
    pthread_join (workers[i].thread, NULL);
    if (workers[i].longest_ns > longest_ns)
      longest_ns = workers[i].longest_ns;
  }
  reader.stop = true;
  pthread_join (reader.thread, NULL);

  recorder_read (recorder, clock_now (), &totals);
  check_read (&totals, &reader.totals, 0);
  assert_no_complaint ();
  check_sums (&totals, nr_threads);
  assert_true (totals.time.busy_ns + tolerance >= longest_ns);
}

static void
test_one_thread (void **state)
{
  (void) state;
  run_threads (1);
}

static void
test_four_threads (void **state)
{
  (void) state;
  run_threads (4);
}

static void
test_sixteen_threads (void **state)
{
  (void) state;
  run_threads (16);
}

/* Requests that all run at once are busy for as long as one of them. */

static pthread_barrier_t all_began, may_end;

static void *
one_of_many (void *vp)
{
  struct request request = { .op = OP_WRITE, .count = 512 };

  (void) vp;
  recorder_begin (recorder, &request);
  pthread_barrier_wait (&all_began);
  pthread_barrier_wait (&may_end);
  recorder_end (&request, 0);
  return NULL;
}

static void
test_all_at_once (void **state)
{
  static struct recorder_totals totals;
  pthread_t threads[MAX_THREADS];
  uint64_t all_began_at, may_end_at;

  (void) state;
  pthread_barrier_init (&all_began, NULL, MAX_THREADS + 1);
  pthread_barrier_init (&may_end, NULL, MAX_THREADS + 1);
  for (unsigned i = 0; i < MAX_THREADS; i++)
    assert_int_equal (
      pthread_create (&threads[i], NULL, one_of_many, NULL), 0);
  pthread_barrier_wait (&all_began);
  all_began_at = clock_now ();
  recorder_read (recorder, clock_now (), &totals);
  assert_int_equal (totals.time.in_flight[OP_WRITE], MAX_THREADS);
  assert_int_equal (totals.ops[OP_WRITE].tally.requests, 0);
  may_end_at = clock_now ();
  pthread_barrier_wait (&may_end);
  for (unsigned i = 0; i < MAX_THREADS; i++)
    pthread_join (threads[i], NULL);

  recorder_read (recorder, clock_now (), &totals);
  assert_int_equal (totals.time.in_flight[OP_WRITE], 0);
  assert_int_equal (totals.ops[OP_WRITE].tally.requests, MAX_THREADS);
  assert_in_range (totals.time.busy_ns, may_end_at - all_began_at,
                   clock_since (started, clock_now ()));
  assert_int_equal (totals.time.op_busy_ns[OP_WRITE], totals.time.busy_ns);
  assert_true (totals.ops[OP_WRITE].tally.latency_ns
               >= MAX_THREADS * (may_end_at - all_began_at));
  pthread_barrier_destroy (&all_began);
  pthread_barrier_destroy (&may_end);
}

/* Threads that come and go use the memory of those that went, and lose
 * nothing of what these counted.
 */

static void *
short_work (void *vp)
{
  (void) vp;
  for (unsigned i = 0; i < 3 * NR_OPS; i++) {
    const enum op op = i % NR_OPS;
    struct request request = { .op = op, .count = size_of (op) };

    recorder_begin (recorder, &request);
    recorder_end (&request, 0);
  }
  return NULL;
}

static void
test_churn (void **state)
{
  enum { ROUNDS = 200, AT_ONCE = 4 };
  static struct recorder_totals totals;
  pthread_t threads[AT_ONCE];
  unsigned long first, before = allocations;

  (void) state;
  short_work (NULL);
  first = allocations - before; /* of one thread: this one */
  assert_true (first > 0);
  for (unsigned i = 0; i < ROUNDS; i++) {
    for (unsigned j = 0; j < AT_ONCE; j++)
      assert_int_equal (
        pthread_create (&threads[j], NULL, short_work, NULL), 0);
    if (i % 10 == 0)
      recorder_read (recorder, clock_now (), &totals);
    for (unsigned j = 0; j < AT_ONCE; j++)
      pthread_join (threads[j], NULL);
  }
  assert_true (allocations - before <= (1 + AT_ONCE) * first);

  recorder_read (recorder, clock_now (), &totals);
  for (unsigned op = 0; op < NR_OPS; op++) {
    assert_int_equal (totals.ops[op].tally.requests,
                      3 * (1 + ROUNDS * AT_ONCE));
    assert_int_equal (totals.ops[op].tally.bytes,
                      totals.ops[op].tally.requests * size_of (op));
    assert_int_equal (totals.time.in_flight[op], 0);
  }
  assert_in_range (totals.time.busy_ns, 1,
                   clock_since (started, clock_now ()));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (test_one_thread, start, stop),
    cmocka_unit_test_setup_teardown (test_four_threads, start, stop),
    cmocka_unit_test_setup_teardown (test_sixteen_threads, start, stop),
    cmocka_unit_test_setup_teardown (test_all_at_once, start, stop),
    cmocka_unit_test_setup_teardown (test_churn, start, stop),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
