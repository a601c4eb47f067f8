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
 * Each request goes through two recorders, one inside the other, as through
 * two layers of the filter.  Whatever the reader reads of both is of one
 * moment: what has ended outside has ended inside.
 *
 * Threads leave their rings and change their connections now and then.
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
#include "unit-intervals.h"
#include "unit-threads.h"

#define NR_THREADS 16
#define BLOCK (64 * KiB)
#define MAX_FLAGS (1u << NR_FLAGS)

static const int errnos[] = { EIO, ENOSPC, EPERM, ENOTSUP, EOPNOTSUPP };

enum { OUTER, INNER, NR_LAYERS };

static struct settler *settler;
static struct recorder *recorders[NR_LAYERS];
static uint64_t requests_per_thread = 300000 / NR_THREADS;

static int
start (void **state)
{
  const char *requests = getenv ("NBDKIT_STATS_REQUESTS");

  (void) state;
  if (requests)
    requests_per_thread = strtoull (requests, NULL, 10) / NR_THREADS;
  settler = settler_new ();
  if (settler == NULL)
    return -1;
  for (unsigned layer = 0; layer < NR_LAYERS; layer++) {
    recorders[layer] = recorder_new (settler, BLOCK);
    if (recorders[layer] == NULL)
      return -1;
  }
  return settler_start (settler);
}

static int
stop (void **state)
{
  (void) state;
  if (!settler_free (settler))
    return -1;
  for (unsigned layer = 0; layer < NR_LAYERS; layer++)
    recorder_free (recorders[layer]);
  return 0;
}

/* What a thread did, by its own count.  Latencies, which the recorder alone
 * knows, are 0 here.
 */
struct own {
  struct tally tally;
  struct failures failures;
  struct sequence stream;
  uint64_t sequential, small;
  uint64_t end;                 /* of its last request */
};

static struct worker {
  pthread_t thread;
  uint64_t random;
  struct connection *connections[NR_LAYERS];
  struct own own[NR_OPS];
} workers[NR_THREADS];

/* Each second one goes on where the last of its kind ended. */
static struct request
random_request (struct worker *worker)
{
  uint64_t *random = &worker->random;
  const enum op op = random_below (random, NR_OPS);
  struct request request = {
    .kind = op, .flags = (uint32_t) random_below (random, MAX_FLAGS),
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

/* One that failed is in its place on the disk, too, but does not count. */
static void
count_sequential (struct own *own, const struct request *request, int error)
{
  struct sequence_found found;
  bool itself;

  sequence_add (&own->stream, request->offset, request->count, &found);
  itself = error != 0 && found.requests > 0;
  if (error != 0 && found.requests == 0)
    CHECK (!sequence_fail (&own->stream, own->stream.next - 1));
  own->sequential += found.requests - itself;
  own->small += found.small - (itself && request->count < SEQUENCE_SMALL);
}

static void
count_success (struct own *own, const struct record *record)
{
  tally_record (&own->tally, record, 0, BLOCK);
  tally_alignment (&own->tally, record, ALIGNED_TO);
}

static void
count (struct own *own, const struct request *request, int error, uint64_t i)
{
  const struct record record = {
    .kind = (uint8_t) request->kind, .count = request->count,
    .offset = request->offset, .flags = (uint8_t) request->flags,
    .zero_bytes = request->zero_bytes,
    .nr_extents = 1, .data = request->count, .hole = i, .zero = 3,
  };

  if (request->kind != OP_FLUSH)
    count_sequential (own, request, error);
  if (error == 0)
    count_success (own, &record);
  else if (is_refused (request, error))
    own->tally.fast_zero_refused.requests++;
  else
    failures_count (&own->failures, (unsigned) error, 0);
}

static struct ring *
begin (struct worker *worker, unsigned layer, const struct request *request)
{
  struct ring *ring = recorder_begin (recorders[layer],
                                      worker->connections[layer], request);

  CHECK (ring != NULL);
  return ring;
}

static void
end (struct ring *ring, const struct request *request, int error, uint64_t i)
{
  const pthread_key_t key = ring ? ring->recorder->key : 0;
  struct record *record;

  if (ring == NULL)
    return;
  recorder_stop (ring, ring_record (ring));
  record = ring_record (ring);
  record->nr_extents = 1;
  record->data = request->count;
  record->hole = i;
  record->zero = 3;
  recorder_end (ring, ring_record (ring), error);

  /* It was full, perhaps, and the thread has another. */
  ring = pthread_getspecific (key);
  CHECK (ring->head - ring->tail < ring->size);
}

static void
do_request (struct worker *worker, const struct request *request, int error,
            uint64_t i)
{
  struct ring *outer = begin (worker, OUTER, request);
  struct ring *inner = begin (worker, INNER, request);

  end (inner, request, error, i);
  end (outer, request, error, i);
}

/* Be as new: other rings, other connections. */
static void
come_anew (struct worker *worker)
{
  for (unsigned layer = 0; layer < NR_LAYERS; layer++) {
    struct connection **connection = &worker->connections[layer];

    if (worker->random % 2)
      recorder_leave (recorders[layer]);
    if (*connection)
      connection_closed (*connection);
    *connection = connection_new (&recorders[layer]->connections, "");
    CHECK (*connection != NULL);
    if (*connection)
      connection_opened (*connection);
  }
  for (unsigned op = 0; op < NR_OPS; op++)
    memset (&worker->own[op].stream, 0, sizeof worker->own[op].stream);
}

static void *
work (void *vp)
{
  static const struct request opening = { .kind = KIND_OPENING };
  struct worker *worker = vp;

  come_anew (worker);
  for (uint64_t i = 0; i < requests_per_thread && complaint == NULL; i++) {
    const struct request request = random_request (worker);
    const int error = random_below (&worker->random, 10) ? 0
      : errnos[random_below (&worker->random, LENGTH (errnos))];

    do_request (worker, &request, error, i);
    count (&worker->own[request.kind], &request, error, i);
    if (random_below (&worker->random, 100) == 0)
      do_request (worker, &opening, 0, i);
    if (random_below (&worker->random, 3000) == 0)
      come_anew (worker);
  }
  for (unsigned layer = 0; layer < NR_LAYERS; layer++) {
    if (worker->connections[layer])
      connection_closed (worker->connections[layer]);
  }
  return NULL;
}

/* The reader. */

static struct reader {
  pthread_t thread;
  atomic_bool stop;
  struct snapshot now, before, interval;
  struct recorder_totals sum[NR_LAYERS]; /* of all intervals */
  uint64_t intervals;
} reader;

/* No number here can be more than there ever were; of one that was taken
 * from a greater one that would be so.
 */
static bool
is_sane (uint64_t requests)
{
  return requests <= NR_THREADS * requests_per_thread;
}

/* All of a reading is of one moment, so what belongs together is together
 * in each interval.
 */
static void
check_op_interval (const struct recorder_totals *part, enum op op,
                   uint64_t elapsed_ns)
{
  const struct tally *tally = &part->ops[op].tally;
  struct size_class all = { 0 };
  uint64_t depths = 0;

  for (unsigned k = 0; k < SIZE_CLASSES; k++) {
    uint64_t of_size = 0;

    all.requests += tally->sizes[k].requests;
    all.bytes += tally->sizes[k].bytes;
    all.latency_ns += tally->sizes[k].latency_ns;
    for (unsigned i = 0; i < DEPTH_CLASSES; i++)
      of_size += part->time.size_depths[op][k][i].requests;
    CHECK (of_size == tally->sizes[k].requests);
  }
  for (unsigned i = 0; i < DEPTH_CLASSES; i++)
    depths += part->time.depths[op][i].requests;
  CHECK (depths == tally->requests);
  CHECK (all.requests == tally->requests);
  CHECK (all.bytes == tally->bytes);
  CHECK (all.latency_ns == tally->latency_ns);
  CHECK (histogram_count (tally->bins) == tally->requests);
  CHECK (is_sane (tally->requests));
  CHECK (is_sane (part->time.sequential[op]));
  CHECK (is_sane (part->time.small_sequential[op]));
  CHECK (part->time.overlapped[op] <= op_ended (&part->ops[op]));
  CHECK (part->time.op_busy_ns[op] <= part->time.busy_ns);
  CHECK (part->time.op_busy_ns[op] <= elapsed_ns);
  CHECK (op_percentile (&part->ops[op], 100000)
         <= part->ops[op].extremes.max_ns);
}

static void
check_interval (const struct recorder_totals *part, uint64_t elapsed_ns)
{
  CHECK (part->unrecorded == 0);
  CHECK (part->time.busy_ns <= elapsed_ns);
  CHECK (part->time.open_busy_ns <= part->time.busy_ns);
  CHECK (layer_in_flight (part) <= NR_THREADS);
  CHECK (part->time.most_in_flight <= NR_THREADS);
  for (unsigned op = 0; op < NR_OPS; op++)
    check_op_interval (part, op, elapsed_ns);
}

static uint64_t
ended (const struct recorder_totals *totals, enum op op)
{
  return totals->ops[op].tally.requests
    + totals->ops[op].tally.fast_zero_refused.requests
    + failures_total (&totals->ops[op].failures).requests;
}

/* What ended outside ended inside before, and what began inside began
 * outside before.
 */
static void
check_layers (const struct recorder_totals *outer,
              const struct recorder_totals *inner)
{
  for (unsigned op = 0; op < NR_OPS; op++) {
    CHECK (ended (outer, op) <= ended (inner, op));
    CHECK (ended (outer, op) + outer->time.in_flight[op]
           >= ended (inner, op) + inner->time.in_flight[op]);
  }
}

static void
read_interval (void)
{
  const uint64_t moment = settler_hold (settler);

  for (unsigned i = 0; i < NR_LAYERS; i++)
    recorder_read (recorders[i], moment, &reader.now.layers[i]);
  settler_release (settler);
  CHECK (moment >= reader.now.start);
  reader.now.elapsed_ns = moment - reader.now.start;
  CHECK (reader.now.elapsed_ns >= reader.before.elapsed_ns);
  check_layers (&reader.now.layers[OUTER], &reader.now.layers[INNER]);
  snapshot_subtract (&reader.interval, &reader.now, &reader.before);
  snapshot_copy (&reader.before, &reader.now);
  for (unsigned i = 0; i < NR_LAYERS; i++) {
    check_interval (&reader.interval.layers[i], reader.interval.elapsed_ns);
    add_layer (&reader.sum[i], &reader.interval.layers[i]);
  }
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
  for (unsigned i = 0; i < NR_LAYERS; i++) {
    assert_int_equal (snapshot_add_layer (&reader.now), 0);
    assert_int_equal (snapshot_add_layer (&reader.before), 0);
    assert_int_equal (snapshot_add_layer (&reader.interval), 0);
  }
  reader.now.start = clock_now ();
  assert_int_equal (pthread_create (&reader.thread, NULL, read_on, NULL), 0);
}

/* The end. */

static struct failure
failed_with (const struct failures *failures, int error)
{
  return failures->by_errno[error];
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
    add_failures (&all.failures, &workers[i].own[op].failures);
    all.sequential += workers[i].own[op].sequential;
    all.small += workers[i].own[op].small;
  }
  check_tally (&totals->ops[op].tally, &all.tally);
  for (size_t i = 0; i < LENGTH (errnos); i++)
    assert_int_equal (
      failed_with (&totals->ops[op].failures, errnos[i]).requests,
      failed_with (&all.failures, errnos[i]).requests);
  assert_int_equal (failures_total (&totals->ops[op].failures).requests,
                    failures_total (&all.failures).requests);
  assert_int_equal (totals->time.sequential[op], all.sequential);
  assert_int_equal (totals->time.small_sequential[op], all.small);
  /* A reader that waited in vain for a thread that was preempted at the end
   * of a request has told more, and what was told is not taken back.
   */
  assert_true (totals->time.in_flight_ns[op]
               >= op_latency_ns (&totals->ops[op]));
  assert_true (totals->time.in_flight_ns[op]
               - op_latency_ns (&totals->ops[op]) < S);
  for (unsigned i = 0; i < DEPTH_CLASSES; i++) {
    depth_requests += totals->time.depths[op][i].requests;
    depth_ns += totals->time.depths[op][i].latency_ns;
  }
  assert_int_equal (depth_requests, totals->ops[op].tally.requests);
  assert_int_equal (depth_ns, totals->ops[op].tally.latency_ns);
}

/* The intervals add up to the end. */
static void
check_intervals (const struct recorder_totals *sum,
                 const struct recorder_totals *totals)
{
  const struct timeline_totals *a = &sum->time, *b = &totals->time;

  for (unsigned op = 0; op < NR_OPS; op++) {
    assert_memory_equal (&sum->ops[op].tally, &totals->ops[op].tally,
                         sizeof sum->ops[op].tally);
    for (size_t i = 0; i < LENGTH (errnos); i++) {
      const struct failure f = failed_with (&sum->ops[op].failures, errnos[i]);
      const struct failure g = failed_with (&totals->ops[op].failures,
                                            errnos[i]);

      assert_int_equal (f.requests, g.requests);
      assert_int_equal (f.ns, g.ns);
    }
    /* A thread that is preempted before it can say that its request has
     * ended may have it in flight for longer in that interval.
     */
    assert_true (a->in_flight_ns[op] >= b->in_flight_ns[op]);
  }
  assert_memory_equal (a->op_busy_ns, b->op_busy_ns, sizeof a->op_busy_ns);
  assert_memory_equal (a->sequential, b->sequential, sizeof a->sequential);
  assert_memory_equal (a->small_sequential, b->small_sequential,
                       sizeof a->small_sequential);
  assert_memory_equal (a->overlapped, b->overlapped, sizeof a->overlapped);
  assert_memory_equal (a->depths, b->depths, sizeof a->depths);
  assert_memory_equal (a->size_depths, b->size_depths,
                       sizeof a->size_depths);
  assert_int_equal (a->busy_ns, b->busy_ns);
  assert_int_equal (a->waiting_ns, b->waiting_ns);
  assert_int_equal (a->open_busy_ns, b->open_busy_ns);
}

static void
test_sums (void **state)
{
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
  for (unsigned i = 0; i < NR_LAYERS; i++) {
    const struct recorder_totals *totals = &reader.now.layers[i];
    const struct recorder_totals *interval = &reader.interval.layers[i];

    assert_int_equal (layer_requests (interval), 0);
    assert_int_equal (interval->time.busy_ns, 0);
    assert_int_equal (interval->time.most_in_flight, 0);
    assert_int_equal (interval->time.first_begin, 0);
    for (unsigned op = 0; op < NR_OPS; op++)
      check_op (totals, op);
    check_intervals (&reader.sum[i], totals);
    assert_int_equal (layer_in_flight (totals), 0);
    assert_int_equal (recorders[i]->connections.stream_bytes, 0);
  }
  print_message ("%" PRIu64 " requests succeeded in %" PRIu64 " intervals\n",
                 layer_requests (&reader.now.layers[OUTER]),
                 reader.intervals);
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
