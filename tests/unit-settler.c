/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The settler: all that ends in a ring is counted, whoever settles it, and
 * nobody waits for a thread that is not running.
 *
 * Here a ring gets full, a thread gets stuck, memory runs out, threads leave
 * and rings are idle, each in a known order.  unit-recorder and unit-sums
 * have many threads at once.
 */

#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "recorder.h"
#include "settler.h"
#include "unit-interrupt.h"
#include "unit-threads.h"
#include "wrap-alloc.h"

static struct settler *settler;
static struct recorder *recorder;
static struct connection *connection;
static pthread_t main_thread;

/* What happens before a thread, not the main one, takes the so manieth lock
 * from now on.
 */
static atomic_uint lock_calls_left;
static void (*before_lock) (void);

extern int __real_pthread_mutex_lock (pthread_mutex_t *lock);
extern int __wrap_pthread_mutex_lock (pthread_mutex_t *lock);
extern int __real_pthread_create (pthread_t *thread,
                                  const pthread_attr_t *attr,
                                  void *(*run) (void *), void *vp);
extern int __wrap_pthread_create (pthread_t *thread,
                                  const pthread_attr_t *attr,
                                  void *(*run) (void *), void *vp);

int
__wrap_pthread_mutex_lock (pthread_mutex_t *lock)
{
  if (lock_calls_left > 0 && !pthread_equal (pthread_self (), main_thread)
      && --lock_calls_left == 0)
    before_lock ();
  return __real_pthread_mutex_lock (lock);
}

static bool no_threads;

int
__wrap_pthread_create (pthread_t *thread, const pthread_attr_t *attr,
                       void *(*run) (void *), void *vp)
{
  return no_threads ? EAGAIN : __real_pthread_create (thread, attr, run, vp);
}

static int
start (void **state)
{
  (void) state;
  main_thread = pthread_self ();
  settler = settler_new ();
  recorder = settler ? recorder_new (settler, 0) : NULL;
  connection = recorder ? connection_new (&recorder->connections, "") : NULL;
  if (connection == NULL)
    return -1;
  connection_opened (connection);
  return 0;
}

static int
stop (void **state)
{
  (void) state;
  connection_closed (connection);
  recorder_leave (recorder);
  if (!settler_free (settler))
    return -1;
  if (recorder->connections.stream_bytes > 0)
    return -1;
  recorder_free (recorder);
  return 0;
}

static struct ring *
begin (struct connection *of, uint64_t i)
{
  return recorder_begin (recorder, of, &(struct request) {
    .kind = OP_READ, .count = 512, .offset = 512 * i,
  });
}

static void
end (struct ring *ring)
{
  recorder_stop (ring, ring_record (ring));
  recorder_end (ring, ring_record (ring), 0);
}

static struct ring *
do_request (struct connection *of, uint64_t i)
{
  struct ring *ring = begin (of, i);

  if (ring)
    end (ring);
  return ring;
}

static struct recorder_totals *
read_totals (void)
{
  static struct recorder_totals totals;
  const uint64_t moment = settler_hold (settler);

  recorder_read (recorder, moment, &totals);
  settler_release (settler);
  return &totals;
}

static uint64_t
requests (void)
{
  return read_totals ()->ops[OP_READ].tally.requests;
}

static bool
is_settled (const struct ring *ring)
{
  return ring->tail == ring->head;
}

static void
pause_shortly (void)
{
  nanosleep (&(struct timespec) { .tv_nsec = 20000 }, NULL);
}

/* Nobody but the settler does it. */
static void
wait_until_settled (const struct ring *ring)
{
  while (!is_settled (ring))
    pause_shortly ();
}

/* A thread that does what it is told. */

struct worker {
  pthread_t thread;
  uint64_t requests;
  bool slow;                    /* some of them take more than no time */
  uint64_t in_flight_ns;        /* each takes at least so long */
  atomic_ulong ended;
  struct connection *connection;
  struct ring *first, *last;    /* its rings */
  atomic_bool done;             /* with the requests; it stays until may_end */
  atomic_bool may_end;
};

static void *
work (void *vp)
{
  struct worker *worker = vp;

  for (uint64_t i = 0; i < worker->requests; i++) {
    const uint64_t begun = clock_now ();

    worker->last = begin (worker->connection, i);
    CHECK (worker->last != NULL);
    if (worker->last == NULL)
      break;
    if (worker->slow && i % (RING_LARGE / 2) == 0)
      nanosleep (&(struct timespec) { .tv_nsec = 2000000 }, NULL);
    while (clock_now () < begun + worker->in_flight_ns)
      pause_shortly ();
    end (worker->last);
    worker->ended++;
    if (worker->first == NULL)
      worker->first = worker->last;
  }
  worker->done = true;
  while (!worker->may_end)
    pause_shortly ();
  return NULL;
}

static void
start_worker_in (struct worker *worker, uint64_t n, bool slow,
                 uint64_t in_flight_ns)
{
  *worker = (struct worker) {
    .requests = n, .slow = slow, .in_flight_ns = in_flight_ns,
    .connection = connection,
  };
  assert_int_equal (pthread_create (&worker->thread, NULL, work, worker), 0);
}

static void
start_worker (struct worker *worker, uint64_t n, bool slow)
{
  start_worker_in (worker, n, slow, 0);
}

static void
wait_until_done (const struct worker *worker)
{
  while (!worker->done)
    pause_shortly ();
}

static void
end_worker (struct worker *worker)
{
  worker->may_end = true;
  pthread_join (worker->thread, NULL);
  assert_no_complaint ();
}

/* Tests. */

static void
test_nothing (void **state)
{
  const uint64_t before = clock_now ();
  uint64_t last = before, moment;

  (void) state;
  for (unsigned i = 0; i < 100; i++) {
    moment = settler_hold (settler);
    assert_in_range (moment, last, clock_now ());
    settler_release (settler);
    last = clock_now ();
  }
  assert_int_equal (requests (), 0);
}

/* What ended is in, and what is in flight is known, at once. */
static void
test_readers (void **state)
{
  struct recorder_totals *totals;
  struct ring *ring;

  (void) state;
  for (unsigned i = 0; i < 300; i++) {
    ring = begin (connection, i);
    totals = read_totals ();
    assert_int_equal (totals->ops[OP_READ].tally.requests, i);
    assert_int_equal (totals->time.in_flight[OP_READ], 1);
    end (ring);
    totals = read_totals ();
    assert_int_equal (totals->ops[OP_READ].tally.requests, i + 1);
    assert_int_equal (totals->time.in_flight[OP_READ], 0);
    assert_int_equal (totals->time.sequential[OP_READ], i);
    assert_true (is_settled (ring));
  }
}

/* Without the settler's thread those who serve settle, and keep to one ring
 * as long as nobody is in their way.
 */
static void
test_no_thread (void **state)
{
  struct ring *ring = NULL;

  (void) state;
  for (unsigned i = 0; i < 100 * RING_LARGE; i++) {
    struct ring *now = do_request (connection, i);

    assert_true (ring == NULL || ring == now);
    assert_in_range (now->head - now->tail, 0, now->size);
    ring = now;
  }
  assert_true (ring->head - ring->tail < ring->size);
  assert_int_equal (requests (), 100 * RING_LARGE);
  assert_int_equal (read_totals ()->time.sequential[OP_READ],
                    100 * RING_LARGE - 1);
}

static void
test_thread (void **state)
{
  struct ring *ring = NULL;

  (void) state;
  assert_int_equal (settler_start (settler), 0);
  for (unsigned round = 0; round < 10; round++) {
    for (unsigned i = 0; i < 10; i++)
      ring = do_request (connection, i);
    wait_until_settled (ring);
  }
  assert_int_equal (requests (), 100);
  settler_stop (settler);

  /* From now on it is as if there had been none. */
  for (unsigned i = 0; i < 10 * RING_LARGE; i++)
    ring = do_request (connection, i);
  assert_int_equal (requests (), 100 + 10 * RING_LARGE);
  settler_stop (settler);
}

static void
test_thread_cannot_start (void **state)
{
  sigset_t before, after;

  (void) state;
  pthread_sigmask (SIG_SETMASK, NULL, &before);
  no_threads = true;
  assert_int_equal (settler_start (settler), EAGAIN);
  no_threads = false;
  pthread_sigmask (SIG_SETMASK, NULL, &after);
  for (int sig = 1; sig < SIGRTMIN; sig++)
    assert_int_equal (sigismember (&before, sig), sigismember (&after, sig));
  do_request (connection, 0);
  assert_int_equal (requests (), 1);
}

/* It sleeps while no ring is listed, and wakes up for each that is. */
static void
test_wake_up (void **state)
{
  struct worker worker;

  (void) state;
  assert_int_equal (settler_start (settler), 0);
  for (unsigned i = 0; i < 10; i++) {
    start_worker (&worker, 1, false);
    wait_until_done (&worker);
    wait_until_settled (worker.last);
    end_worker (&worker);
  }
  assert_int_equal (requests (), 10);
}

/* Between its last look, in which nothing was listed, and its sleep a ring
 * is listed, and another who settles takes it in.  Later requests of that
 * ring do not wake anybody, so it must not fall asleep.
 */

static _Atomic (struct ring *) listed_late;

static void
list_late (void)
{
  do_request (connection, 0);
  settler_hold (settler);
  settler_release (settler);
  listed_late = do_request (connection, 1);
}

static void
only_list_late (void)
{
  listed_late = do_request (connection, 0);
}

static void
test_listed_before_sleep (void **state)
{
  (void) state;
  for (unsigned nth = 1; nth <= 6; nth++) {
    /* To begin a pass, to go on with it, and to go to sleep. */
    listed_late = NULL;
    before_lock = nth <= 3 ? list_late : only_list_late;
    lock_calls_left = 1 + (nth - 1) % 3;
    assert_int_equal (settler_start (settler), 0);
    while (listed_late == NULL)
      pause_shortly ();
    wait_until_settled (listed_late);
    stop (state);
    start (state);
  }
}

/* Rings that are full. */

/* Whoever settles has been preempted: no thread waits for it.  All is counted
 * when it goes on, in the order of time.
 */
static void
test_nobody_settles (void **state)
{
  enum { N = 10 * RING_LARGE + 3 };
  const struct recorder_totals *totals;
  struct worker worker;

  (void) state;
  settler_hold (settler);
  start_worker (&worker, N, true);
  wait_until_done (&worker);
  settler_release (settler);
  end_worker (&worker);
  assert_ptr_not_equal (worker.first, worker.last);

  totals = read_totals ();
  assert_int_equal (totals->ops[OP_READ].tally.requests, N);
  assert_int_equal (totals->time.sequential[OP_READ], N - 1);
  assert_int_equal (totals->time.most_in_flight, 1);
  assert_int_equal (totals->time.overlapped[OP_READ], 0);
  assert_int_equal (totals->time.in_flight_ns[OP_READ],
                    totals->time.op_busy_ns[OP_READ]);
  assert_int_equal (totals->time.op_busy_ns[OP_READ],
                    totals->ops[OP_READ].tally.latency_ns);
}

/* Only one whose storage takes no time waits, when there are as many full
 * rings as threads: its requests would take all the memory.
 */

static struct ring *
get_another (struct ring *full, uint64_t filled_in_ns)
{
  full->recorder = recorder;
  full->records[full->head & (full->size - 1)].begin = S;
  full->last_end = S + filled_in_ns;
  return settler_get_another (settler, full);
}

static void
test_get_another (void **state)
{
  struct ring *rings[6];

  (void) state;
  rings[0] = settler_get_ring (settler);
  assert_non_null (rings[0]);
  rings[1] = get_another (rings[0], 0);
  assert_non_null (rings[1]);
  assert_null (get_another (rings[1], 0));
  assert_null (get_another (rings[1], 1 * MS - 1));
  rings[2] = get_another (rings[1], 1 * MS);
  assert_non_null (rings[2]);
  assert_null (get_another (rings[2], 0));
  /* Two more threads. */
  rings[3] = settler_get_ring (settler);
  rings[4] = settler_get_ring (settler);
  rings[5] = get_another (rings[2], 0);
  assert_non_null (rings[5]);
  assert_null (get_another (rings[5], 0));
  for (unsigned i = 0; i < LENGTH (rings); i++) {
    rings[i]->recorder = recorder;
    settler_leave_ring (settler, rings[i]);
  }
  requests ();

  /* None is full any more. */
  rings[0] = settler_get_ring (settler);
  rings[1] = get_another (rings[0], 0);
  assert_non_null (rings[1]);
  settler_leave_ring (settler, rings[0]);
  rings[1]->recorder = recorder;
  settler_leave_ring (settler, rings[1]);
}

static void
check_too_fast (void)
{
  enum { N = 10 * RING_LARGE };
  struct worker worker;

  settler_hold (settler);
  start_worker (&worker, N, false);
  while (worker.ended < RING_LARGE - 1)
    pause_shortly ();
  settler_release (settler);
  wait_until_done (&worker);
  end_worker (&worker);
  assert_int_equal (requests (), N);
  assert_int_equal (read_totals ()->time.sequential[OP_READ], N - 1);
  assert_int_equal (read_totals ()->unrecorded, 0);
}

static void
test_too_fast (void **state)
{
  (void) state;
  assert_int_equal (settler_start (settler), 0);
  check_too_fast ();
}

static void
test_too_fast_no_thread (void **state)
{
  (void) state;
  check_too_fast ();
}

/* It waits for the settler's thread, which ends meanwhile. */
static void
test_too_fast_stopped (void **state)
{
  struct worker worker;
  struct ring *ring;

  (void) state;
  ring = do_request (connection, 0);
  ring->mark = RING_BEGINNING;
  assert_int_equal (settler_start (settler), 0);
  start_worker (&worker, 20 * RING_LARGE, false);
  settler_stop (settler);
  wait_until_done (&worker);
  end_worker (&worker);
  ring->mark = RING_IDLE;
  assert_int_equal (requests (), 1 + 20 * RING_LARGE);
}

/* A thread was preempted when it was about to tell a time.  What came later
 * is not settled for a while; but nobody waits for it for long.
 */

static void
test_stuck_beginning (void **state)
{
  struct ring *ring = do_request (connection, 0);
  struct worker worker;
  uint64_t began;

  (void) state;
  ring->mark = RING_BEGINNING;
  start_worker (&worker, 10 * RING_LARGE, false);
  wait_until_done (&worker);
  began = clock_now ();
  assert_int_equal (requests (), 1 + 10 * RING_LARGE);
  /* A reader has patience. */
  assert_true (clock_now () - began >= 100 * MS);
  ring->mark = RING_IDLE;
  end_worker (&worker);
  do_request (connection, 0);
  assert_int_equal (requests (), 2 + 10 * RING_LARGE);
}

/* That it is in flight is known. */
static void
test_stuck_ending (void **state)
{
  struct ring *ring = begin (connection, 0);
  struct worker worker;

  (void) state;
  ring_mark_ending (ring, ring_record (ring));
  start_worker (&worker, 10 * RING_LARGE, false);
  wait_until_done (&worker);
  assert_int_equal (requests (), 10 * RING_LARGE);
  assert_int_equal (read_totals ()->time.in_flight[OP_READ], 1);
  end_worker (&worker);
  end (ring);
  assert_int_equal (requests (), 1 + 10 * RING_LARGE);
  assert_int_equal (read_totals ()->time.in_flight[OP_READ], 0);
}

/* The settler's thread, for whom some wait, settles regardless of it. */
static void
test_stuck_thread (void **state)
{
  struct worker worker;
  struct ring *ring;

  (void) state;
  ring = do_request (connection, 0);
  ring->mark = RING_BEGINNING;
  assert_int_equal (settler_start (settler), 0);
  start_worker (&worker, 20 * RING_LARGE, false);
  wait_until_done (&worker);
  end_worker (&worker);
  ring->mark = RING_IDLE;
  assert_int_equal (requests (), 1 + 20 * RING_LARGE);
}

/* Whoever settles makes room in a full ring while its thread looks whether
 * there is any: the answer and the place to look at next must be of the same
 * moment, or the ring overflows later.
 */

static struct ring *full_ring;

static void
make_some_room (void)
{
  full_ring->tail = full_ring->head - full_ring->size + 1;
}

static void
test_room (void **state)
{
  struct ring *ring = settler_get_ring (settler);
  bool overflows = false;

  (void) state;
  assert_non_null (ring);
  ring->recorder = recorder;
  ring->head = 3 * ring->size;
  full_ring = ring;
  start_interrupts (make_some_room);
  while (still_interrupted () && !overflows) {
    ring->tail = ring->head - ring->size;
    overflows = settler_make_room (settler, ring)
      && ring->look_at == ring->head;
  }
  stop_interrupts ();
  assert_false (overflows);
  ring->tail = ring->head;
  settler_leave_ring (settler, ring);
}

/* Rings that are idle. */

static void
test_idle (void **state)
{
  struct ring *ring;

  (void) state;
  assert_int_equal (settler_start (settler), 0);
  for (unsigned i = 0; i < 3; i++) {
    ring = begin (connection, i);
    assert_true (ring->listed);
    end (ring);
    wait_until_settled (ring);
    while (ring->listed)
      pause_shortly ();
  }
  assert_int_equal (requests (), 3);
}

/* Readers see to it as well. */
static void
test_idle_readers (void **state)
{
  struct ring *ring;

  (void) state;
  for (unsigned i = 0; i < 2; i++) {
    ring = begin (connection, i);
    assert_int_equal (read_totals ()->time.in_flight[OP_READ], 1);
    assert_true (ring->listed);
    end (ring);
    while (ring->listed)
      assert_int_equal (requests (), i + 1);
  }
}

/* Requests that are in flight for long. */

/* One request after the other, and nobody was late: all times are the same. */
static void
assert_one_at_a_time (const struct recorder_totals *totals, uint64_t n)
{
  const uint64_t ns = totals->ops[OP_READ].tally.latency_ns;

  assert_int_equal (totals->ops[OP_READ].tally.requests, n);
  assert_int_equal (totals->time.in_flight_ns[OP_READ], ns);
  assert_int_equal (totals->time.op_busy_ns[OP_READ], ns);
  assert_int_equal (totals->time.overlapped[OP_READ], 0);
}

/* Nobody looks at its ring any more, until it ends. */
static void
test_slow_readers (void **state)
{
  struct ring *ring;

  (void) state;
  for (unsigned i = 0; i < 3; i++) {
    ring = begin (connection, i);
    while (ring->listed)
      assert_int_equal (read_totals ()->time.in_flight[OP_READ], 1);
    assert_int_equal (read_totals ()->time.in_flight[OP_READ], 1);
    end (ring);
    assert_true (ring->listed);
    assert_one_at_a_time (read_totals (), i + 1);
  }
}

/* So does the settler, which may fall asleep meanwhile. */
static void
test_slow (void **state)
{
  static const uint64_t leases[] = { 1, 2, 10, 60 };

  (void) state;
  assert_int_equal (settler_start (settler), 0);
  for (unsigned i = 0; i < LENGTH (leases); i++) {
    struct ring *ring = begin (connection, i);
    const uint64_t began = clock_now ();

    while (ring->listed
           || clock_now () < began + leases[i] * SETTLER_LEASE_NS)
      pause_shortly ();
    end (ring);
    wait_until_settled (ring);
  }
  assert_one_at_a_time (read_totals (), LENGTH (leases));
}

/* It ends, again and again, just as it is taken off the list. */
static void
test_slow_race (void **state)
{
  enum { N = 100 };
  struct worker worker;

  (void) state;
  start_worker_in (&worker, N, false, SETTLER_LEASE_NS);
  while (!worker.done) {
    const uint64_t ended = worker.ended;

    assert_true (requests () >= ended);
  }
  end_worker (&worker);
  assert_one_at_a_time (read_totals (), N);
}

/* Where the thread was preempted as it listed its ring, others may have settled
 * what came later.
 */
static void
test_slow_preempted (void **state)
{
  struct ring *ring = begin (connection, 0);
  struct record *record = ring_record (ring);
  const uint64_t end = clock_now ();
  uint64_t later;

  (void) state;
  ring_mark_ending (ring, record);
  assert_int_equal (settler_list_ended (settler, ring, end), end);
  while (clock_now () <= end + NS_PER_S / 1000)
    ;
  ring_mark_in_flight (ring, record);
  while (ring->listed)
    read_totals ();
  ring_mark_ending (ring, record);
  later = settler_list_ended (settler, ring, end);
  assert_true (later > end + NS_PER_S / 1000);
  record->end = later;
  recorder_end (ring, record, 0);
  assert_one_at_a_time (read_totals (), 1);
}

/* Rings that are left. */

static void
test_left (void **state)
{
  struct worker worker;
  struct ring *ring = NULL;
  unsigned long before = 0;

  (void) state;
  for (unsigned i = 0; i < 100; i++) {
    start_worker (&worker, 3, false);
    end_worker (&worker);
    if (i <= 1) {               /* the first has the stream made */
      ring = worker.first;
      before = allocations;
    }
    assert_ptr_equal (worker.first, ring);
    /* To count what is in it, and to give it back. */
    assert_int_equal (requests (), 3 * (i + 1));
    assert_int_equal (requests (), 3 * (i + 1));
  }
  assert_int_equal (allocations, before);
}

/* All rings that there may be were left, and none is settled: the next
 * threads have one of them.
 */
static void
test_left_all (void **state)
{
  enum { MANY = MAX_RINGS + 1000 };

  (void) state;
  for (unsigned i = 0; i < MANY; i++) {
    struct ring *ring = settler_get_ring (settler);
    struct record *record;

    assert_non_null (ring);
    ring->recorder = recorder;
    connection_keep (connection);
    ring->connection = connection;
    ring_mark_beginning (ring);
    settler_list (settler, ring);
    record = ring_record (ring);
    *record = (struct record) { .begin = clock_now (), .kind = OP_FLUSH };
    record->end = record->begin;
    ring_publish (ring, ring_record (ring));
    ring->mark = RING_IDLE;
    settler_leave_ring (settler, ring);
  }
  assert_int_equal (read_totals ()->ops[OP_FLUSH].tally.requests, MANY);
}

/* A connection lives as long as one of its requests may not be counted. */

static bool
has_streams (void)
{
  return recorder->connections.stream_bytes > 0;
}

static void
test_connection_closed (void **state)
{
  struct worker worker;

  (void) state;
  start_worker (&worker, 3, false);
  wait_until_done (&worker);
  connection_closed (connection);
  assert_int_equal (requests (), 3);
  assert_true (has_streams ());
  end_worker (&worker);
  for (unsigned i = 0; i < 2; i++)
    assert_int_equal (requests (), 3);
  assert_false (has_streams ());
  connection = connection_new (&recorder->connections, "");
  connection_opened (connection);
}

/* A thread that goes on with another connection has let go of the one
 * before, and all that it did for it is counted.
 */
static void
test_connection_changed (void **state)
{
  struct connection *other;

  (void) state;
  for (unsigned i = 0; i < 100; i++) {
    struct ring *ring = NULL;

    for (unsigned j = 0; j < i; j++)
      ring = do_request (connection, j);
    other = connection_new (&recorder->connections, "");
    connection_opened (other);
    connection_closed (connection);
    connection = other;
    ring = begin (connection, 0);
    assert_true (is_settled (ring));
    assert_false (has_streams ());
    end (ring);
  }
  assert_int_equal (requests (), 100 * 99 / 2 + 100);
  assert_int_equal (read_totals ()->time.sequential[OP_READ], 99 * 98 / 2);
}

/* So it does where whoever settles has left a pass half done, and where a
 * thread is stuck.
 */
static void
test_connection_changed_stuck (void **state)
{
  struct connection *other = connection_new (&recorder->connections, "");
  struct worker worker;
  struct ring *ring;

  (void) state;
  connection_opened (other);
  start_worker (&worker, 1, false);
  wait_until_done (&worker);
  worker.last->mark = RING_BEGINNING;
  do_request (connection, 0);
  ring = begin (other, 0);
  assert_true (is_settled (ring));
  end (ring);
  worker.last->mark = RING_IDLE;
  end_worker (&worker);
  assert_int_equal (requests (), 3);
  connection_closed (other);
}

/* The end. */

/* What threads have left is freed, also if nobody settles it any more. */
static void
test_free_left (void **state)
{
  struct worker worker;

  (void) state;
  assert_int_equal (settler_start (settler), 0);
  start_worker (&worker, 3, false);
  wait_until_done (&worker);
  settler_stop (settler);
  requests ();
  assert_true (has_streams ());
  end_worker (&worker);
  assert_true (has_streams ());
  /* The rest is checked in stop. */
}

static pthread_barrier_t turns;

static void *
come_back_late (void *vp)
{
  struct ring *ring;

  (void) vp;
  do_request (connection, 0);
  ring = begin (connection, 1);
  pthread_barrier_wait (&turns);
  pthread_barrier_wait (&turns);
  end (ring);
  for (unsigned i = 0; i < 10 * RING_LARGE; i++)
    CHECK (do_request (connection, i) != NULL);
  return NULL;
}

/* A thread may have a request in flight, send others, and end, when all is
 * over.  Nothing of what it needs has gone, and the settler tells so.
 */
static void
test_free_in_use (void **state)
{
  pthread_t thread;

  (void) state;
  assert_int_equal (settler_start (settler), 0);
  pthread_barrier_init (&turns, NULL, 2);
  assert_int_equal (pthread_create (&thread, NULL, come_back_late, NULL), 0);
  pthread_barrier_wait (&turns);
  assert_false (settler_free (settler));
  pthread_barrier_wait (&turns);
  pthread_join (thread, NULL);
  pthread_barrier_destroy (&turns);
  assert_no_complaint ();
}

static void
test_new_without_memory (void **state)
{
  struct settler *s;

  (void) state;
  for (long left = 0; ; left++) {
    assert_true (left < 100);
    errno = 0;
    allocations_left = left;
    s = settler_new ();
    allocations_left = -1;
    if (s)
      break;
    assert_int_equal (errno, ENOMEM);
  }
  assert_true (settler_free (s));
}

#define TEST(f) cmocka_unit_test_setup_teardown (f, start, stop)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_nothing),
    TEST (test_readers),
    TEST (test_no_thread),
    TEST (test_thread),
    TEST (test_thread_cannot_start),
    TEST (test_wake_up),
    TEST (test_listed_before_sleep),
    TEST (test_nobody_settles),
    TEST (test_get_another),
    TEST (test_too_fast),
    TEST (test_too_fast_no_thread),
    TEST (test_too_fast_stopped),
    TEST (test_stuck_beginning),
    TEST (test_stuck_ending),
    TEST (test_stuck_thread),
    TEST (test_room),
    TEST (test_idle),
    TEST (test_idle_readers),
    TEST (test_slow_readers),
    TEST (test_slow),
    TEST (test_slow_race),
    TEST (test_slow_preempted),
    TEST (test_left),
    TEST (test_left_all),
    TEST (test_connection_closed),
    TEST (test_connection_changed),
    TEST (test_connection_changed_stuck),
    TEST (test_free_left),
    TEST (test_free_in_use),
    cmocka_unit_test (test_new_without_memory),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
