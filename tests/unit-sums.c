/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Nothing is lost and nothing is counted twice: sixteen threads make
 * requests of all kinds, each beside a tally of its own, while a reader
 * takes snapshots without a pause.  In the end every sum must be exact, and
 * so must be the sum over the reader's intervals.
 *
 * NBDKIT_STATS_REQUESTS in the environment is how many requests there are
 * altogether.  The default takes about a second, a hundred million half a
 * minute:
 *
 *   NBDKIT_STATS_REQUESTS=100000000 tests/unit-sums
 */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "ops.h"
#include "recorder.h"
#include "sequence.h"
#include "snapshot.h"
#include "tally.h"
#include "unit-threads.h"

#define NR_THREADS 16
#define BLOCK (64 * KiB)
#define MAX_FLAGS (1u << NR_FLAGS)

/* A thread that is preempted may tell so late that its request has begun:
 * part of it then counts in the next interval.
 */
#define LATE (500 * MS)

static const int errnos[] = { EIO, ENOSPC, EPERM, ENOTSUP, EOPNOTSUPP };

static struct recorder *recorder;
static uint64_t requests_per_thread = 300000 / NR_THREADS;

static int
start (void **state)
{
  const char *requests = getenv ("NBDKIT_STATS_REQUESTS");

  (void) state;
  if (requests)
    requests_per_thread = strtoull (requests, NULL, 10) / NR_THREADS;
  recorder = recorder_new (BLOCK);
  return recorder ? 0 : -1;
}

static int
stop (void **state)
{
  (void) state;
  recorder_free (recorder);
  return 0;
}

/* What a thread did, by its own count.  Latencies, which the recorder alone
 * knows, are 0 here.
 */
struct own {
  struct tally tally;
  struct failures failures;
  struct sequence stream;
  uint64_t sequential;
  uint64_t end;                 /* of its last request */
};

static struct worker {
  pthread_t thread;
  uint64_t random;
  struct sequence streams[NR_OPS]; /* of the thread's connection */
  struct own own[NR_OPS];
} workers[NR_THREADS];

/* Each second one goes on where the last of its kind ended. */
static struct request
random_request (struct worker *worker)
{
  uint64_t *random = &worker->random;
  const enum op op = random_below (random, NR_OPS);
  struct request request = {
    .op = op, .streams = worker->streams,
    .flags = (uint32_t) random_below (random, MAX_FLAGS),
  };

  if (op_kind (op) == KIND_NONE)
    return request;
  request.count = (uint32_t) (random_64 (random) >> 32)
    >> random_below (random, 32);
  if (random_below (random, 2))
    request.offset = worker->own[op].end;
  else
    request.offset = random_64 (random) >> random_below (random, 50) >> 2;
  if (op == OP_WRITE)
    request.zero_bytes = (uint32_t) random_below (random,
                                                  request.count + 1u);
  worker->own[op].end = request.offset + request.count;
  return request;
}

static bool
is_refused (const struct request *request, int error)
{
  return request->flags & 1 << FLAG_FAST_ZERO
    && (error == ENOTSUP || error == EOPNOTSUPP);
}

static void
count (struct own *own, const struct request *request, int error)
{
  if (error == 0) {
    tally_request (&own->tally, request, 0, BLOCK);
    if (request->op != OP_FLUSH)
      own->sequential += sequence_add (&own->stream, request->offset,
                                       request->count);
  }
  else if (is_refused (request, error))
    own->tally.fast_zero_refused.requests++;
  else
    failures_count (&own->failures, error, 0);
}

static void *
work (void *vp)
{
  struct worker *worker = vp;

  for (uint64_t i = 0; i < requests_per_thread; i++) {
    struct request request = random_request (worker);
    struct own *own = &worker->own[request.op];
    const int error = random_below (&worker->random, 10) ? 0
      : errnos[random_below (&worker->random, LENGTH (errnos))];

    recorder_begin (recorder, &request);
    recorder_end (&request, error);
    count (own, &request, error);
    if (request.op == OP_EXTENTS && error == 0) {
      const struct extents_returned returned = {
        .count = 1, .data = request.count, .hole = i, .zero = 3,
      };

      recorder_extents (&request, &returned);
      own->tally.extents.count += returned.count;
      own->tally.extents.data += returned.data;
      own->tally.extents.hole += returned.hole;
      own->tally.extents.zero += returned.zero;
    }
  }
  return NULL;
}

/* The reader. */

static struct reader {
  pthread_t thread;
  atomic_bool stop;
  struct snapshot now, before, interval;
  struct recorder_totals sum;   /* of all intervals */
  uint64_t intervals;
} reader;

static void
add_interval (struct recorder_totals *sum, const struct recorder_totals *part)
{
  for (unsigned op = 0; op < NR_OPS; op++) {
    tally_add (&sum->ops[op].tally, &part->ops[op].tally);
    failures_add (&sum->ops[op].failures, &part->ops[op].failures);
    sum->time.op_busy_ns[op] += part->time.op_busy_ns[op];
    sum->time.in_flight_ns[op] += part->time.in_flight_ns[op];
    sum->time.sequential[op] += part->time.sequential[op];
    for (unsigned i = 0; i < DEPTH_CLASSES; i++) {
      sum->time.depths[op][i].requests += part->time.depths[op][i].requests;
      sum->time.depths[op][i].latency_ns
        += part->time.depths[op][i].latency_ns;
    }
  }
  sum->time.busy_ns += part->time.busy_ns;
}

/* Each operation's figures of a thread are read between two requests, so
 * what belongs together is together in each interval.
 */
static void
check_interval (const struct recorder_totals *part, uint64_t elapsed_ns)
{
  CHECK (part->unrecorded == 0);
  CHECK (part->time.busy_ns <= elapsed_ns + LATE);
  CHECK (layer_in_flight (part) <= NR_THREADS);
  CHECK (part->time.most_in_flight <= NR_THREADS);
  for (unsigned op = 0; op < NR_OPS; op++) {
    const struct tally *tally = &part->ops[op].tally;
    struct size_class all = { 0 };

    for (unsigned k = 0; k < SIZE_CLASSES; k++) {
      all.requests += tally->sizes[k].requests;
      all.bytes += tally->sizes[k].bytes;
      all.latency_ns += tally->sizes[k].latency_ns;
    }
    CHECK (all.requests == tally->requests);
    CHECK (all.bytes == tally->bytes);
    CHECK (all.latency_ns == tally->latency_ns);
    CHECK (histogram_count (tally->bins) == tally->requests);
    CHECK (tally->requests <= NR_THREADS * requests_per_thread);
    CHECK (part->time.op_busy_ns[op] <= elapsed_ns + LATE);
    CHECK (op_percentile (&part->ops[op], 100000)
           <= part->ops[op].extremes.max_ns);
  }
}

static void
read_interval (void)
{
  struct recorder_totals *totals = &reader.now.layers[0];
  uint64_t moment;

  recorder_hold (recorder);
  moment = clock_now ();
  recorder_take_times (recorder, moment, totals);
  recorder_release (recorder);
  recorder_take_counters (recorder, totals);
  reader.now.elapsed_ns = moment - reader.now.start;
  snapshot_subtract (&reader.interval, &reader.now, &reader.before);
  snapshot_copy (&reader.before, &reader.now);
  check_interval (&reader.interval.layers[0], reader.interval.elapsed_ns);
  add_interval (&reader.sum, &reader.interval.layers[0]);
  reader.intervals++;
}

static void *
read_on (void *vp)
{
  (void) vp;
  while (!reader.stop)
    read_interval ();
  return NULL;
}

static void
start_reader (void)
{
  memset (&reader, 0, sizeof reader);
  assert_int_equal (snapshot_add_layer (&reader.now), 0);
  assert_int_equal (snapshot_add_layer (&reader.before), 0);
  assert_int_equal (snapshot_add_layer (&reader.interval), 0);
  reader.now.start = clock_now ();
  assert_int_equal (pthread_create (&reader.thread, NULL, read_on, NULL), 0);
}

/* The end. */

static struct failure
failed_with (const struct failures *failures, int error)
{
  for (unsigned i = 0; i < MAX_FAILURES; i++) {
    if (failures->by_errno[i].error == (uint64_t) error)
      return failures->by_errno[i];
  }
  return (struct failure) { 0 };
}

/* All but the latencies. */
static void
check_tally (const struct tally *got, const struct tally *own)
{
  struct tally without = *got;

  assert_int_equal (histogram_count (got->bins), got->requests);
  without.latency_ns = 0;
  without.fast_zero_refused.ns = 0;
  memcpy (without.bins, own->bins, sizeof without.bins);
  for (unsigned k = 0; k < SIZE_CLASSES; k++)
    without.sizes[k].latency_ns = 0;
  assert_memory_equal (&without, own, sizeof without);
}

static void
check_op (const struct recorder_totals *totals, enum op op)
{
  static struct own all;
  uint64_t depth_requests = 0, depth_ns = 0;

  memset (&all, 0, sizeof all);
  for (unsigned i = 0; i < NR_THREADS; i++) {
    tally_add (&all.tally, &workers[i].own[op].tally);
    failures_add (&all.failures, &workers[i].own[op].failures);
    all.sequential += workers[i].own[op].sequential;
  }
  check_tally (&totals->ops[op].tally, &all.tally);
  for (size_t i = 0; i < LENGTH (errnos); i++)
    assert_int_equal (
      failed_with (&totals->ops[op].failures, errnos[i]).requests,
      failed_with (&all.failures, errnos[i]).requests);
  assert_int_equal (failures_total (&totals->ops[op].failures).requests,
                    failures_total (&all.failures).requests);
  assert_int_equal (totals->time.sequential[op], all.sequential);
  assert_int_equal (totals->time.in_flight_ns[op],
                    op_latency_ns (&totals->ops[op]));
  for (unsigned i = 0; i < DEPTH_CLASSES; i++) {
    depth_requests += totals->time.depths[op][i].requests;
    depth_ns += totals->time.depths[op][i].latency_ns;
  }
  assert_int_equal (depth_requests, totals->ops[op].tally.requests);
  assert_int_equal (depth_ns, totals->ops[op].tally.latency_ns);
}

/* The intervals add up to the end. */
static void
check_intervals (const struct recorder_totals *totals)
{
  const struct recorder_totals *sum = &reader.sum;

  for (unsigned op = 0; op < NR_OPS; op++) {
    assert_memory_equal (&sum->ops[op].tally, &totals->ops[op].tally,
                         sizeof sum->ops[op].tally);
    for (size_t i = 0; i < LENGTH (errnos); i++) {
      const struct failure a = failed_with (&sum->ops[op].failures, errnos[i]);
      const struct failure b = failed_with (&totals->ops[op].failures,
                                            errnos[i]);

      assert_int_equal (a.requests, b.requests);
      assert_int_equal (a.ns, b.ns);
    }
    assert_int_equal (sum->time.op_busy_ns[op], totals->time.op_busy_ns[op]);
    /* A thread that is preempted before it can say that its request has
     * ended has it in flight for longer in that interval.
     */
    assert_true (sum->time.in_flight_ns[op]
                 >= totals->time.in_flight_ns[op]);
    assert_int_equal (sum->time.sequential[op], totals->time.sequential[op]);
  }
  assert_memory_equal (sum->time.depths, totals->time.depths,
                       sizeof sum->time.depths);
  assert_int_equal (sum->time.busy_ns, totals->time.busy_ns);
}

static void
test_sums (void **state)
{
  const struct recorder_totals *totals;

  (void) state;
  memset (workers, 0, sizeof workers);
  start_reader ();
  for (unsigned i = 0; i < NR_THREADS; i++) {
    workers[i].random = 1 + i;
    assert_int_equal (
      pthread_create (&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (unsigned i = 0; i < NR_THREADS; i++)
    pthread_join (workers[i].thread, NULL);
  reader.stop = true;
  pthread_join (reader.thread, NULL);
  read_interval ();
  read_interval ();             /* nothing happens any more */
  assert_no_complaint ();
  assert_int_equal (layer_requests (&reader.interval.layers[0]), 0);
  assert_int_equal (reader.interval.layers[0].time.busy_ns, 0);
  assert_int_equal (reader.interval.layers[0].time.most_in_flight, 0);

  totals = &reader.now.layers[0];
  for (unsigned op = 0; op < NR_OPS; op++)
    check_op (totals, op);
  check_intervals (totals);
  assert_int_equal (layer_in_flight (totals), 0);
  print_message ("%" PRIu64 " requests succeeded in %" PRIu64 " intervals\n",
                 layer_requests (totals), reader.intervals);
  snapshot_free (&reader.now);
  snapshot_free (&reader.before);
  snapshot_free (&reader.interval);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (test_sums, start, stop),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
