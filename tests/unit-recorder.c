/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What the recorder keeps of requests, of those that fail above all; many
 * threads at once, with a reader beside them; and no memory.
 *
 * UNIT_REQUESTS in the environment is how many requests each thread makes;
 * the default is enough for rings to go round and short enough for a run
 * under a sanitizer.
 */

#include <config.h>

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "ops.h"
#include "recorder.h"
#include "settler.h"
#include "tally.h"
#include "unit-threads.h"
#include "wrap-alloc.h"

static struct settler *settler;
static struct recorder *recorder;
static struct connection *connection;
static uint64_t started;
static unsigned requests_per_thread = 20000;

static int
start_blocks (uint64_t block)
{
  const char *requests = getenv ("UNIT_REQUESTS");

  if (requests)
    requests_per_thread = (unsigned) strtoul (requests, NULL, 10);
  started = clock_now ();
  settler = settler_new ();
  recorder = settler ? recorder_new (settler, block) : NULL;
  connection = recorder ? connection_new (&recorder->connections, "") : NULL;
  if (connection == NULL)
    return -1;
  connection_opened (connection);
  return 0;
}

static int
start (void **state)
{
  (void) state;
  return start_blocks (0);
}

static int
stop (void **state)
{
  (void) state;
  recorder_leave (recorder);
  connection_closed (connection);
  if (!settler_free (settler))
    return -1;
  recorder_free (recorder);
  return 0;
}

/* As the filter has it. */
static int
start_with_thread (void **state)
{
  return start (state) ? -1 : settler_start (settler);
}

static void
read_into (struct recorder *from, struct recorder_totals *totals)
{
  const uint64_t moment = settler_hold (settler);

  memset (totals, 0xff, sizeof *totals);
  recorder_read (from, moment, totals);
  settler_release (settler);
}

static struct recorder_totals
read_totals (void)
{
  struct recorder_totals totals;

  read_into (recorder, &totals);
  return totals;
}

static struct ring *
begin (struct recorder *to, enum op op, uint32_t count)
{
  return recorder_begin (to, connection, &(struct request) {
    .kind = op, .count = count,
  });
}

/* Returns how long it took, 0 for one that is only numbered. */
static uint64_t
end (struct ring *ring, int error)
{
  if (ring == NULL)
    return 0;
  recorder_stop (ring, ring_record (ring));
  return recorder_end (ring, ring_record (ring), error);
}

static void
send_request (const struct request *request, int error)
{
  end (recorder_begin (recorder, connection, request), error);
}

static void
do_request (enum op op, uint32_t count, int error)
{
  send_request (&(struct request) { .kind = op, .count = count }, error);
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
  return totals->failures.by_errno[error == FAILURE_OTHER ? 0 : error];
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

/* What extents returned is in the record before it ends. */
static void
test_extents (void **state)
{
  static const struct record returned[] = {
    { .nr_extents = 37, .data = 1224065024, .hole = 5218762752, .zero = 512 },
    { .nr_extents = 1, .data = 0, .hole = UINT64_C (1) << 60, .zero = 1 },
    { .nr_extents = 0 },
  };
  struct recorder_totals totals;
  const struct tally *tally = &totals.ops[OP_EXTENTS].tally;

  (void) state;
  for (unsigned i = 0; i < 3; i++) {
    struct ring *ring = begin (recorder, OP_EXTENTS, 4096);
    struct record *record;

    if (ring == NULL)
      break;
    recorder_stop (ring, ring_record (ring));
    record = ring_record (ring);
    record->nr_extents = returned[i].nr_extents;
    record->data = returned[i].data;
    record->hole = returned[i].hole;
    record->zero = returned[i].zero;
    recorder_end (ring, ring_record (ring), 0);
    do_request (OP_READ, 512, 0);
  }
  totals = read_totals ();
  assert_int_equal (tally->requests, 3);
  assert_int_equal (tally->bytes, 3 * 4096);
  assert_int_equal (tally->extents.count, 38);
  assert_true (tally->extents.data == 1224065024);
  assert_true (tally->extents.hole == (UINT64_C (1) << 60) + 5218762752);
  assert_true (tally->extents.zero == 513);
  assert_int_equal (totals.ops[OP_READ].tally.extents.count, 0);
}

static int
start_with_blocks (void **state)
{
  (void) state;
  return start_blocks (4096);
}

/* All that a request says of itself is kept, and where it was slowest. */
static void
test_details (void **state)
{
  struct request request = {
    .kind = OP_WRITE, .count = 8192, .offset = 5 * GiB + 512,
    .flags = 1 << FLAG_FUA, .zero_bytes = 1000,
  };
  struct recorder_totals totals;
  const struct op_totals *op = &totals.ops[OP_WRITE];
  uint64_t told_ns = 0;

  (void) state;
  for (unsigned i = 0; i < 3; i++) {
    struct ring *ring = recorder_begin (recorder, connection, &request);

    if (i == 2)
      usleep (1000);            /* the last is not the quickest */
    told_ns += end (ring, 0);
    request.flags = 0;
  }
  totals = read_totals ();
  assert_int_equal (op->tally.latency_ns, told_ns);
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
  assert_int_equal (totals.time.size_depths[OP_WRITE][14][0].requests, 3);
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
    send_request (&(struct request) {
      .kind = OP_ZERO, .flags = steps[i].flags,
    }, steps[i].error);
    totals = read_totals ();
    assert_int_equal (tally->fast_zero_refused.requests, steps[i].refused);
    assert_int_equal (failures_total (&totals.ops[OP_ZERO].failures).requests,
                      steps[i].failed);
  }
  assert_int_equal (tally->requests, 1);
  assert_true (tally->fast_zero_refused.ns > 0);
  assert_int_equal (tally->flags[FLAG_FAST_ZERO], 1);
}

/* Opening is busy time of its own kind, and no request. */
static void
test_opening (void **state)
{
  static const struct request opening = { .kind = KIND_OPENING };
  struct recorder_totals totals;
  struct ring *ring;
  uint64_t ns = 0;

  (void) state;
  for (unsigned i = 0; i < 3; i++) {
    ring = recorder_begin (recorder, NULL, &opening);
    usleep (100);
    totals = read_totals ();
    assert_int_equal (totals.time.in_flight[OP_READ], 0);
    assert_true (totals.time.open_busy_ns > ns);
    ns += end (ring, i == 1 ? EIO : 0);
  }
  totals = read_totals ();
  assert_int_equal (requests_of_all (&totals), 0);
  assert_int_equal (totals.time.open_busy_ns, ns);
  assert_int_equal (totals.time.busy_ns, ns);
  assert_int_equal (totals.time.request_busy_ns, 0);
  assert_int_equal (totals.time.first_begin, 0);
  assert_int_equal (totals.time.most_in_flight, 0);

  do_request (OP_READ, 512, 0);
  totals = read_totals ();
  assert_int_equal (totals.time.open_busy_ns, ns);
  assert_int_equal (totals.time.busy_ns,
                    ns + totals.ops[OP_READ].tally.latency_ns);
}

/* Which requests go on where another ended: each connection and operation
 * by itself, though one thread may run requests of several.
 */

static void
do_at (enum op op, uint64_t offset, struct connection *of, int error)
{
  end (recorder_begin (recorder, of, &(struct request) {
    .kind = op, .count = op == OP_FLUSH ? 0 : 512, .offset = offset,
  }), error);
}

static void
test_streams (void **state)
{
  struct connection *of[2];
  struct recorder_totals totals;

  (void) state;
  for (unsigned c = 0; c < 2; c++) {
    of[c] = connection_new (&recorder->connections, "");
    assert_non_null (of[c]);
    connection_opened (of[c]);
  }
  /* None of these goes on with one of its own. */
  for (unsigned i = 0; i < 100; i++) {
    do_at (OP_EXTENTS, i * 512, of[i % 2], 0);
    do_at (OP_FLUSH, 0, of[0], 0);
    do_at (OP_CACHE, i * 512, of[1], EIO);
  }
  /* All but the first do. */
  for (unsigned c = 0; c < 2; c++) {
    for (unsigned i = 0; i < 500; i++) {
      do_at (OP_READ, i * 512, of[c], 0);
      do_at (OP_WRITE, i * 512, of[c], 0);
    }
  }
  for (unsigned c = 0; c < 2; c++)
    connection_closed (of[c]);
  do_request (OP_READ, 512, 0);
  totals = read_totals ();
  for (unsigned op = 0; op < NR_OPS; op++) {
    const uint64_t expected = op == OP_READ || op == OP_WRITE ? 2 * 499 : 0;

    assert_int_equal (totals.time.sequential[op], expected);
    assert_int_equal (totals.time.small_sequential[op], expected);
  }
}

/* What came too early and failed does not go on where the next one ended. */
static void
test_streams_failed (void **state)
{
  struct recorder_totals totals;

  (void) state;
  for (enum op op = OP_READ; op <= OP_WRITE; op++) {
    do_at (op, 0, connection, 0);
    do_at (op, 1024, connection, op == OP_WRITE ? EIO : 0);
    do_at (op, 512, connection, 0);
  }
  do_at (OP_FLUSH, 0, connection, EIO);
  totals = read_totals ();
  assert_int_equal (totals.time.sequential[OP_READ], 2);
  assert_int_equal (totals.time.sequential[OP_WRITE], 1);
}

/* It makes no difference whether a request was seen in flight, also where it
 * fails; and no figure ever goes back.
 */
static void
test_streams_seen (void **state)
{
  struct recorder_totals totals;
  uint64_t last = 0, sequential[2];

  for (unsigned seen = 0; seen < 2; seen++) {
    for (unsigned i = 0; i < 100; i++) {
      struct ring *ring = recorder_begin (recorder, connection,
                                          &(struct request) {
        .kind = OP_READ, .count = 512, .offset = 512 * i,
      });

      if (seen) {
        totals = read_totals ();
        assert_true (totals.time.sequential[OP_READ] >= last);
        last = totals.time.sequential[OP_READ];
      }
      end (ring, i % 3 == 1 ? EIO : 0);
    }
    totals = read_totals ();
    sequential[seen] = totals.time.sequential[OP_READ];
    stop (state);
    start (state);
    last = 0;
  }
  assert_int_equal (sequential[0], 99 - 33);
  assert_int_equal (sequential[1], 99 - 33);
}

static void
test_connections (void **state)
{
  struct recorder_totals totals;

  (void) state;
  connection_ask (connection);
  connection_asked (connection, 5, false);
  connection_answered (connection);
  totals = read_totals ();
  assert_int_equal (totals.connections.all.opened, 1);
  assert_int_equal (totals.connections.all.ns, 5);
  assert_int_equal (totals.connections.nr_exports, 1);
  assert_int_equal (totals.connections.now, 1);
}

/* Begun and not ended: known as in flight, and not yet counted. */
static void
test_in_flight (void **state)
{
  struct recorder_totals totals, later;
  struct ring *ring;

  (void) state;
  ring = begin (recorder, OP_FLUSH, 0);
  totals = read_totals ();
  assert_int_equal (totals.time.in_flight[OP_FLUSH], 1);
  assert_int_equal (requests_of_all (&totals), 0);
  later = read_totals ();
  assert_true (later.time.busy_ns > totals.time.busy_ns);
  end (ring, 0);
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

/* Errno e fails e times: each has its count, exactly, and what is no errno
 * that has a place has one together.
 */
static void
test_errnos (void **state)
{
  const int others[] = { (int) NR_ERRNOS, 4000, INT_MAX, -1 };
  struct recorder_totals totals;

  (void) state;
  for (int e = 1; e < (int) NR_ERRNOS; e++) {
    for (int i = 0; i < e; i++)
      do_request (OP_TRIM, 1, e);
  }
  for (size_t i = 0; i < LENGTH (others); i++)
    do_request (OP_TRIM, 1, others[i]);
  totals = read_totals ();
  for (uint64_t e = 1; e < NR_ERRNOS; e++) {
    assert_int_equal (failed_with (&totals.ops[OP_TRIM], e).requests, e);
    assert_int_equal (failed_with (&totals.ops[OP_TRIM], e).error, e);
  }
  assert_int_equal (
    failed_with (&totals.ops[OP_TRIM], FAILURE_OTHER).requests,
    LENGTH (others));
  assert_int_equal (totals.ops[OP_TRIM].tally.requests, 0);
}

/* Two layers of the filter: a thread has a request in each of them. */
static void
test_two_recorders (void **state)
{
  struct recorder *inner = recorder_new (settler, 0);
  struct connection *outer_connection = connection;
  struct recorder_totals totals;

  (void) state;
  assert_non_null (inner);
  connection = connection_new (&inner->connections, "");
  assert_non_null (connection);
  connection_opened (connection);
  for (unsigned i = 0; i < 10; i++) {
    struct ring *ring = recorder_begin (recorder, outer_connection,
                                        &(struct request) {
      .kind = OP_WRITE, .count = 100,
    });

    for (unsigned j = 0; j < 2; j++)
      end (begin (inner, OP_WRITE, 50), 0);
    end (ring, 0);
  }
  read_into (recorder, &totals);
  assert_int_equal (totals.ops[OP_WRITE].tally.requests, 10);
  assert_int_equal (totals.ops[OP_WRITE].tally.bytes, 1000);
  read_into (inner, &totals);
  assert_int_equal (totals.ops[OP_WRITE].tally.requests, 20);
  assert_int_equal (totals.ops[OP_WRITE].tally.bytes, 1000);

  /* Its rings have to go before it does. */
  connection_closed (connection);
  connection = outer_connection;
  recorder_leave (inner);
  for (unsigned i = 0; i < 2; i++)
    read_totals ();
  recorder_free (inner);
}

/* The data path allocates nothing. */
static void
test_no_allocation (void **state)
{
  const int error[] = { 0, EIO, ENOSPC, EOPNOTSUPP };
  unsigned long before;

  (void) state;
  /* Whoever settles has made all streams then. */
  for (unsigned op = 0; op < NR_OPS; op++)
    do_request (op, 512, 0);
  read_totals ();
  before = allocations;
  for (unsigned i = 0; i < 10000; i++)
    do_request (i % NR_OPS, 512 + i, error[i % 4]);
  assert_int_equal (allocations, before);
}

/* Streams may have no memory; requests need none. */
static void
test_no_memory (void **state)
{
  struct recorder_totals totals;

  (void) state;
  allocations_left = 0;
  for (unsigned i = 0; i < 1000; i++)
    send_request (&(struct request) {
      .kind = OP_READ, .count = 512, .offset = i * 512,
    }, 0);
  totals = read_totals ();
  allocations_left = -1;
  assert_int_equal (totals.ops[OP_READ].tally.requests, 1000);
  assert_int_equal (totals.time.sequential[OP_READ], 0);
  assert_int_equal (totals.unrecorded, 0);
}

/* Where all rings are in use, a request is numbered and no more; later ones
 * are recorded when there are rings again.
 */
static void
test_no_ring (void **state)
{
  static struct ring *taken[MAX_RINGS];
  size_t nr_taken = 0;
  struct recorder_totals totals;

  (void) state;
  while ((taken[nr_taken] = settler_get_ring (settler)) != NULL) {
    taken[nr_taken]->recorder = recorder;
    assert_true (++nr_taken <= MAX_RINGS);
    if (nr_taken == MAX_RINGS)
      break;
  }
  for (unsigned i = 0; i < 10; i++)
    assert_null (begin (recorder, OP_READ, 512));
  assert_null (recorder_begin (recorder, NULL, &(struct request) {
    .kind = KIND_OPENING,
  }));
  totals = read_totals ();
  assert_int_equal (totals.unrecorded, 11);
  assert_int_equal (requests_of_all (&totals), 0);
  assert_int_equal (totals.time.busy_ns, 0);

  settler_leave_ring (settler, taken[--nr_taken]);
  do_request (OP_READ, 512, 0);
  totals = read_totals ();
  assert_int_equal (totals.unrecorded, 11);
  assert_int_equal (requests_of_all (&totals), 1);
  while (nr_taken > 0)
    settler_leave_ring (settler, taken[--nr_taken]);
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
    r = recorder_new (settler, 0);
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
  r = recorder_new (settler, 0);
  assert_null (r);
  assert_int_equal (errno, EAGAIN);
  while (n > 0)
    pthread_key_delete (keys[--n]);
}

/* Many threads, with a reader beside them. */

#define MAX_THREADS 16

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
  bool sleeps;                  /* in some requests, as storage does */
  unsigned requests;
  uint64_t longest_ns;          /* of its requests, seen from within */
};

static void *
work (void *vp)
{
  struct worker *worker = vp;
  uint64_t begin_ns, end_ns;

  for (unsigned i = 0; i < worker->requests; i++) {
    const enum op op = i % NR_OPS;
    struct ring *ring = begin (recorder, op, size_of (op));

    CHECK (ring != NULL);
    if (ring == NULL)
      break;
    begin_ns = clock_now ();
    if (worker->sleeps)
      usleep (100);
    else if (i % 1000 == 0)
      sched_yield ();
    end_ns = clock_now ();
    end (ring, fails (i) ? EIO : 0);
    if (clock_since (begin_ns, end_ns) > worker->longest_ns)
      worker->longest_ns = clock_since (begin_ns, end_ns);
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
  CHECK (totals->time.most_in_flight <= MAX_THREADS);
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
    read_into (recorder, &reader->totals);
    check_read (&reader->totals, &reader->before, reader->nr_threads);
  }
  return NULL;
}

/* The sums that all workers together must have made. */
static void
check_sums (const struct recorder_totals *totals, unsigned nr_threads,
            unsigned requests)
{
  uint64_t succeeded[NR_OPS] = { 0 }, failed[NR_OPS] = { 0 };

  for (unsigned i = 0; i < requests; i++) {
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

/* A begin may be told late, after a thread was preempted, and then lose what
 * lies before that; see concurrency.h.  Else nothing of the longest is lost.
 */
static void
run_threads (unsigned nr_threads, bool sleep)
{
  static struct worker workers[MAX_THREADS];
  static struct reader reader;
  static struct recorder_totals totals;
  const unsigned requests = sleep ? requests_per_thread / 100
    : requests_per_thread;

  memset (workers, 0, sizeof workers);
  memset (&reader, 0, sizeof reader);
  reader.nr_threads = nr_threads;
  assert_int_equal (
    pthread_create (&reader.thread, NULL, read_on, &reader), 0);
  for (unsigned i = 0; i < nr_threads; i++) {
    workers[i].sleeps = sleep;
    workers[i].requests = requests;
    assert_int_equal (
      pthread_create (&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (unsigned i = 0; i < nr_threads; i++)
    pthread_join (workers[i].thread, NULL);
  reader.stop = true;
  pthread_join (reader.thread, NULL);

  read_into (recorder, &totals);
  check_read (&totals, &reader.totals, 0);
  assert_no_complaint ();
  check_sums (&totals, nr_threads, requests);
  if (nr_threads == 1)
    assert_true (totals.time.busy_ns >= workers[0].longest_ns);
}

static void
test_one_thread (void **state)
{
  (void) state;
  run_threads (1, false);
}

static void
test_sixteen_threads (void **state)
{
  (void) state;
  run_threads (16, false);
}

static void
test_sixteen_sleep (void **state)
{
  (void) state;
  run_threads (16, true);
}

/* Requests that all run at once are busy for as long as one of them. */

static pthread_barrier_t all_began, may_end;

static void *
one_of_many (void *vp)
{
  struct ring *ring = begin (recorder, OP_WRITE, 512);

  (void) vp;
  pthread_barrier_wait (&all_began);
  pthread_barrier_wait (&may_end);
  end (ring, 0);
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
  read_into (recorder, &totals);
  assert_int_equal (totals.time.in_flight[OP_WRITE], MAX_THREADS);
  assert_int_equal (totals.time.most_in_flight, MAX_THREADS);
  assert_int_equal (totals.ops[OP_WRITE].tally.requests, 0);
  may_end_at = clock_now ();
  pthread_barrier_wait (&may_end);
  for (unsigned i = 0; i < MAX_THREADS; i++)
    pthread_join (threads[i], NULL);

  read_into (recorder, &totals);
  assert_int_equal (totals.time.in_flight[OP_WRITE], 0);
  assert_int_equal (totals.ops[OP_WRITE].tally.requests, MAX_THREADS);
  assert_int_equal (totals.time.overlapped[OP_WRITE], MAX_THREADS);
  assert_in_range (totals.time.busy_ns, may_end_at - all_began_at,
                   clock_since (started, clock_now ()));
  assert_int_equal (totals.time.op_busy_ns[OP_WRITE], totals.time.busy_ns);
  assert_true (totals.ops[OP_WRITE].tally.latency_ns
               >= MAX_THREADS * (may_end_at - all_began_at));
  pthread_barrier_destroy (&all_began);
  pthread_barrier_destroy (&may_end);
}

/* Threads and connections that come and go lose nothing of what they did,
 * and need no more memory for that.
 */

static void *
short_work (void *vp)
{
  struct connection *mine = connection_new (&recorder->connections, "");

  (void) vp;
  CHECK (mine != NULL);
  if (mine == NULL)
    return NULL;
  connection_opened (mine);
  for (unsigned i = 0; i < 3 * NR_OPS; i++)
    end (recorder_begin (recorder, mine, &(struct request) {
      .kind = i % NR_OPS, .count = size_of (i % NR_OPS), .offset = i * 512,
    }), 0);
  connection_closed (mine);
  return NULL;
}

static void
come_and_go (unsigned rounds)
{
  enum { AT_ONCE = 4 };
  static struct recorder_totals totals;
  pthread_t threads[AT_ONCE];

  for (unsigned i = 0; i < rounds; i++) {
    for (unsigned j = 0; j < AT_ONCE; j++)
      assert_int_equal (
        pthread_create (&threads[j], NULL, short_work, NULL), 0);
    if (i % 10 == 0)
      read_into (recorder, &totals);
    for (unsigned j = 0; j < AT_ONCE; j++)
      pthread_join (threads[j], NULL);
  }
  assert_no_complaint ();
  for (unsigned i = 0; i < 2; i++)
    read_into (recorder, &totals);
  for (unsigned op = 0; op < NR_OPS; op++) {
    assert_int_equal (totals.ops[op].tally.requests, 3 * rounds * AT_ONCE);
    assert_int_equal (totals.ops[op].tally.bytes,
                      totals.ops[op].tally.requests * size_of (op));
    assert_int_equal (totals.time.in_flight[op], 0);
  }
  assert_in_range (totals.time.busy_ns, 1,
                   clock_since (started, clock_now ()));
  assert_int_equal (totals.connections.all.opened, rounds * AT_ONCE);
  assert_int_equal (recorder->connections.stream_bytes, 0);
}

static void
test_come_and_go (void **state)
{
  (void) state;
  come_and_go (200);
}

/* More threads than there are large rings: those that come then have small
 * ones, which lose nothing either.
 */
static void
test_small_rings (void **state)
{
  static struct ring *taken[NR_LARGE_RINGS];
  struct ring *ring;

  (void) state;
  for (size_t i = 0; i < NR_LARGE_RINGS; i++) {
    taken[i] = settler_get_ring (settler);
    assert_non_null (taken[i]);
    taken[i]->recorder = recorder;
  }
  ring = settler_get_ring (settler);
  assert_non_null (ring);
  assert_int_equal (ring->size, RING_SMALL);
  ring->recorder = recorder;
  settler_leave_ring (settler, ring);
  run_threads (16, false);
  for (size_t i = 0; i < NR_LARGE_RINGS; i++)
    settler_leave_ring (settler, taken[i]);
}

#define TEST(f) cmocka_unit_test_setup_teardown (f, start, stop)
#define TEST_WITH_THREAD(f) \
  cmocka_unit_test_setup_teardown (f, start_with_thread, stop)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_nothing),
    TEST (test_operations),
    TEST (test_extents),
    cmocka_unit_test_setup_teardown (test_details, start_with_blocks, stop),
    TEST (test_fast_zero),
    TEST (test_opening),
    TEST (test_streams),
    TEST (test_streams_failed),
    TEST (test_streams_seen),
    TEST (test_connections),
    TEST (test_in_flight),
    TEST (test_failures),
    TEST (test_errnos),
    TEST (test_two_recorders),
    TEST (test_no_allocation),
    TEST (test_no_memory),
    TEST (test_no_ring),
    TEST (test_new_without_memory),
    TEST (test_new_without_key),
    TEST (test_one_thread),
    TEST_WITH_THREAD (test_one_thread),
    TEST (test_sixteen_threads),
    TEST_WITH_THREAD (test_sixteen_threads),
    TEST_WITH_THREAD (test_sixteen_sleep),
    TEST_WITH_THREAD (test_all_at_once),
    TEST (test_come_and_go),
    TEST_WITH_THREAD (test_come_and_go),
    TEST (test_small_rings),
    TEST_WITH_THREAD (test_small_rings),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
