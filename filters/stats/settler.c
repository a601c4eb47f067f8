/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "own_thread.h"
#include "recorder.h"
#include "settler.h"

/* How often the settler looks.  Each time it finds cold caches, so it comes
 * as seldom as the fullest ring allows, but often enough for 1000 requests a
 * second of one thread in a ring of 64; faster ones settle themselves.
 */
#define MIN_TICK_NS (50 * NS_PER_S / 1000)
#define MAX_TICK_NS (4 * MIN_TICK_NS)

/* How full, in percent, it would like to find the fullest ring. */
#define FULL_ENOUGH 60u

/* What one looks at, or settles, before others may: some 20 us.  In cold
 * caches it may be ten times as much.
 */
#define PIECE 256u

/* How long a thread that serves waits for another that settles: whoever does
 * not make a piece in this time was preempted.
 */
#define MAX_WAIT_NS 20000u

/* What a thread wrote before it read the clock may take this long to be
 * seen by others, so a pass settles nothing that is younger.
 */
#define STORE_DELAY_NS 500u

/* A thread that fills a ring in less time than this may have to wait: its
 * storage takes no time.
 */
#define TOO_FAST_NS (NS_PER_S / 1000)

/* How long a reader waits for a thread that is about to tell a time. */
#define PATIENCE_NS (NS_PER_S / 10)
#define PAUSE_NS 50000u

struct entry {
  uint64_t next;                /* ring_next */
  struct ring *ring;
};

struct settler {
  struct rings rings;

  pthread_mutex_t lock;         /* protects what is settled, and: */
  struct ring *listed;
  enum { NO_PASS, LOOKING, MERGING } pass;
  bool regardless;              /* of the pass, see open_pass */
  struct ring **link;           /* while looking: the next to look at */
  struct entry *heap;           /* what is next of each ring */
  size_t nr_heap;
  uint64_t now, horizon;        /* of the pass */
  uint64_t settled;             /* of the last pass that is complete */
  unsigned fullest;             /* percent of any ring that was in use, since
                                   the thread looked */

  _Atomic (struct ring *) incoming; /* listed by their threads */
  _Atomic bool wanted;          /* somebody who serves did not get the lock */
  _Atomic unsigned left;        /* rings that were left, not yet forgotten */
  _Atomic unsigned full;        /* of these, because they were full */

  pthread_t thread;
  bool started;
  pthread_mutex_t sleep_lock;   /* protects the rest, and going to sleep */
  pthread_cond_t wake;          /* for the thread: do not sleep */
  _Atomic bool sleeping;        /* until a ring is listed */
  bool stop;                    /* also where there is no thread */
  pthread_cond_t room;          /* for those who wait for room */
  unsigned waiting;
  bool hurry;                   /* the thread's: somebody waits */
};

struct settler *
settler_new (void)
{
  struct settler *settler = calloc (1, sizeof *settler);

  if (settler == NULL)
    return NULL;
  /* Untouched until it is needed, so it takes no memory. */
  settler->heap = malloc ((MAX_RINGS + 1) * sizeof *settler->heap);
  if (settler->heap == NULL || rings_init (&settler->rings) == -1) {
    free (settler->heap);
    free (settler);
    return NULL;
  }
  pthread_mutex_init (&settler->lock, NULL);
  pthread_mutex_init (&settler->sleep_lock, NULL);
  own_thread_cond_init (&settler->wake);
  pthread_cond_init (&settler->room, NULL);
  settler->stop = true;
  return settler;
}

/* A ring that was left is forgotten in the pass after the one that empties
 * it.
 */
bool
settler_free (struct settler *settler)
{
  settler_stop (settler);
  for (int pass = 0; pass < 2; pass++) {
    settler_hold (settler);
    settler_release (settler);
  }
  if (atomic_load (&settler->rings.nr) > 0)
    return false;
  rings_free (&settler->rings);
  pthread_cond_destroy (&settler->room);
  pthread_cond_destroy (&settler->wake);
  pthread_mutex_destroy (&settler->sleep_lock);
  pthread_mutex_destroy (&settler->lock);
  free (settler->heap);
  free (settler);
  return true;
}

/* Which rings are looked at. */

static void
push_incoming (struct settler *settler, struct ring *ring)
{
  struct ring *first = atomic_load (&settler->incoming);

  do
    ring->next_listed = first;
  while (!atomic_compare_exchange_weak (&settler->incoming, &first, ring));
}

void
settler_wake (struct settler *settler)
{
  if (!atomic_load (&settler->sleeping)
      || !atomic_exchange (&settler->sleeping, false))
    return;
  pthread_mutex_lock (&settler->sleep_lock);
  pthread_cond_signal (&settler->wake);
  pthread_mutex_unlock (&settler->sleep_lock);
}

/* The fence is between what the thread has marked and what it sees here:
 * either it sees that the ring is not listed, or the settler, which does the
 * same in the other order, sees the mark.  Returns whether it was not listed.
 */
static bool
list (struct settler *settler, struct ring *ring)
{
  atomic_thread_fence (memory_order_seq_cst);
  if (atomic_load (&ring->listed) || atomic_exchange (&ring->listed, true))
    return false;
  push_incoming (settler, ring);
  return true;
}

void
settler_list (struct settler *settler, struct ring *ring)
{
  if (list (settler, ring))
    settler_wake (settler);
}

/* A pass that did not see the ring, since it began before this, settles
 * nothing that is younger than STORE_DELAY_NS.
 */
uint64_t
settler_list_ended (struct settler *settler, struct ring *ring, uint64_t end)
{
  uint64_t now;

  if (!list (settler, ring))
    return end;
  now = clock_now ();
  return now - end < STORE_DELAY_NS ? end : now;
}

static void
take_incoming (struct settler *settler)
{
  struct ring *ring = atomic_exchange (&settler->incoming, NULL);
  struct ring *next;

  for (; ring; ring = next) {
    next = ring->next_listed;
    ring->next_listed = settler->listed;
    settler->listed = ring;
  }
}

/* Nothing is in it that was not told. */
static bool
is_told (struct ring *ring)
{
  return ring_look (ring, 0) == UINT64_MAX && ring_next (ring) == UINT64_MAX;
}

/* Take a ring off the list in which nothing happens, unless its thread goes on
 * just now.
 */
static bool
unlist (struct ring *ring)
{
  atomic_store (&ring->listed, false);
  atomic_thread_fence (memory_order_seq_cst);
  if (is_told (ring) && atomic_load (&ring->left) == RING_HAS_THREAD)
    return true;
  return atomic_exchange (&ring->listed, true);
}

/* Since when nothing happens in it, where all was told. */
static uint64_t
quiet_since (const struct ring *ring)
{
  return ring->open ? mark_begin (ring->open)
    : atomic_load_explicit (&ring->last_end, memory_order_relaxed);
}

/* All was told of the ring, at *link in the list.  Is it to be forgotten?  If
 * so it is.
 */
static bool
forget_quiet (struct settler *settler, struct ring **link, int left,
              uint64_t now)
{
  struct ring *ring = *link, *next = ring->next_listed;

  if (left == RING_LEFT) {
    *link = next;
    atomic_fetch_sub (&settler->left, 1);
    if (ring->full)
      atomic_fetch_sub (&settler->full, 1);
    recorder_forget_ring (ring);
    rings_put (&settler->rings, ring);
    return true;
  }
  if (left == RING_HAS_THREAD
      && clock_since (quiet_since (ring), now) >= SETTLER_LEASE_NS
      && unlist (ring)) {
    *link = next;
    return true;
  }
  return false;
}

/* The heap, in an array with room for one more. */

static void
sift_down (struct entry *heap, size_t nr, size_t i)
{
  const struct entry entry = heap[i];
  size_t child;

  heap[nr].next = UINT64_MAX;   /* the other child of the last parent */
  while ((child = 2 * i + 1) < nr) {
    child += heap[child + 1].next < heap[child].next;
    if (entry.next <= heap[child].next)
      break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = entry;
}

static void
make_heap (struct entry *heap, size_t nr)
{
  for (size_t i = nr / 2; i > 0; i--)
    sift_down (heap, nr, i - 1);
}

/* Passes.  The caller has the lock. */

/* A pass that begins after this has all times up to that one. */
static void
wait_until_seen (uint64_t time)
{
  while (clock_now () <= time + STORE_DELAY_NS)
    ;
}

/* Begin a pass, if none has begun.  What is settled are all times up to now,
 * and before what a thread is about to tell unless regardless.
 */
static void
open_pass (struct settler *settler, bool regardless)
{
  if (settler->pass != NO_PASS)
    return;
  /* First, since what is looked at from here on may be older. */
  settler->now = settler->horizon = clock_now () - STORE_DELAY_NS;
  take_incoming (settler);
  settler->pass = LOOKING;
  settler->regardless = regardless;
  settler->link = &settler->listed;
  settler->nr_heap = 0;
}

static void
note_fullness (struct settler *settler, const struct ring *ring,
               uint32_t tail)
{
  const unsigned percent = 100 * (ring->limit - tail) / ring->size;

  if (percent > settler->fullest)
    settler->fullest = percent;
}

/* Look at the next ring. */
static void
look_at_next (struct settler *settler)
{
  struct ring **link = settler->link, *ring = *link;
  const int left = atomic_load_explicit (&ring->left, memory_order_acquire);
  const uint64_t sure = ring_look (ring, settler->settled);
  const uint32_t tail = atomic_load_explicit (&ring->tail,
                                              memory_order_relaxed);
  const uint64_t next = ring_next (ring);

  if (sure < settler->horizon && !settler->regardless)
    settler->horizon = sure;
  if (next != UINT64_MAX) {
    note_fullness (settler, ring, tail);
    ring_prefetch_after (ring, tail);
    settler->heap[settler->nr_heap++] = (struct entry) { next, ring };
  }
  else if (sure == UINT64_MAX
           && forget_quiet (settler, link, left, settler->now))
    return;
  settler->link = &ring->next_listed;
}

static void
look_at_piece (struct settler *settler)
{
  for (unsigned i = 0; i < PIECE && *settler->link; i++)
    look_at_next (settler);
  if (*settler->link)
    return;
  make_heap (settler->heap, settler->nr_heap);
  if (settler->horizon < settler->settled)
    settler->horizon = settler->settled;
  settler->pass = MERGING;
}

/* How long what is next in the heap's first ring is next of all. */
static uint64_t
first_until (const struct settler *settler)
{
  const struct entry *heap = settler->heap;
  uint64_t until = 2 * settler->horizon + 1;

  for (size_t i = 1; i <= 2 && i < settler->nr_heap; i++) {
    if (heap[i].next < until)
      until = heap[i].next;
  }
  return until;
}

/* Returns whether all is merged up to the horizon. */
static bool
merge_piece (struct settler *settler)
{
  struct entry *heap = settler->heap;
  unsigned budget = PIECE;

  while (budget > 0 && settler->nr_heap > 0
         && heap[0].next / 2 <= settler->horizon) {
    heap[0].next = recorder_tell (heap[0].ring, first_until (settler),
                                  &budget);
    if (heap[0].next == UINT64_MAX)
      heap[0] = heap[--settler->nr_heap];
    if (settler->nr_heap > 1)
      sift_down (heap, settler->nr_heap, 0);
  }
  return budget > 0;
}

/* Go on with the pass.  Returns whether it is complete. */
static bool
settle_piece (struct settler *settler)
{
  if (settler->pass == LOOKING)
    look_at_piece (settler);
  else if (merge_piece (settler)) {
    settler->pass = NO_PASS;
    settler->settled = settler->horizon;
    return true;
  }
  return false;
}

static void
pause_for (uint64_t ns)
{
  const struct timespec ts = { .tv_nsec = (long) ns };

  nanosleep (&ts, NULL);
}

/* After each piece, for those who can wait: who did not get the lock may try
 * again.  If we were preempted with it, nobody would.
 */
static void
give_way (struct settler *settler)
{
  pthread_mutex_unlock (&settler->lock);
  if (atomic_exchange (&settler->wanted, false))
    pause_for (PAUSE_NS);
  pthread_mutex_lock (&settler->lock);
}

/* Finish the pass that is open, or do a whole one. */
static void
settle_pass (struct settler *settler, bool regardless)
{
  open_pass (settler, regardless);
  while (!settle_piece (settler))
    give_way (settler);
}

/* Readers. */

uint64_t
settler_hold (struct settler *settler)
{
  const uint64_t wanted = clock_now ();

  wait_until_seen (wanted);
  pthread_mutex_lock (&settler->lock);
  for (;;) {
    settle_pass (settler, clock_since (wanted, clock_now ()) > PATIENCE_NS);
    if (settler->settled >= wanted)
      return settler->settled;
    pthread_mutex_unlock (&settler->lock);
    pause_for (PAUSE_NS);
    pthread_mutex_lock (&settler->lock);
  }
}

void
settler_release (struct settler *settler)
{
  pthread_mutex_unlock (&settler->lock);
}

/* The thread. */

/* After what it found, how long until it comes again.  What clients have left
 * behind is not kept for long.
 */
static uint64_t
next_tick (const struct settler *settler, uint64_t tick_ns)
{
  const unsigned fullest = settler->fullest ? settler->fullest : 1;
  const uint64_t ns = tick_ns * FULL_ENOUGH / fullest;

  if (ns < MIN_TICK_NS || atomic_load (&settler->left) > 0)
    return MIN_TICK_NS;
  return ns < MAX_TICK_NS ? ns : MAX_TICK_NS;
}

/* Where no ring is listed, whoever lists one is to wake the thread up.  The
 * caller has the lock, so no other takes in a ring that is listed just now:
 * that would be one which the thread, asleep, never looks at.
 */
static void
fall_asleep (struct settler *settler)
{
  if (settler->listed)
    return;
  atomic_store (&settler->sleeping, true);
  if (atomic_load (&settler->incoming))
    atomic_store (&settler->sleeping, false);
}

/* Sleep for a while or, if asleep, until woken up; not at all while somebody
 * waits for room.  Returns the next such while, 0 when it is time to end.
 */
static uint64_t
sleep_until_next (struct settler *settler, uint64_t tick_ns)
{
  struct timespec until;
  int r = 0;

  pthread_mutex_lock (&settler->sleep_lock);
  /* Who still has no room will say so again. */
  if (settler->waiting > 0)
    pthread_cond_broadcast (&settler->room);
  settler->waiting = 0;
  while (!settler->stop && settler->waiting == 0
         && atomic_load (&settler->sleeping)) {
    pthread_cond_wait (&settler->wake, &settler->sleep_lock);
    tick_ns = MIN_TICK_NS;
  }
  atomic_store (&settler->sleeping, false);
  until = clock_timespec (clock_now () + tick_ns);
  while (!settler->stop && settler->waiting == 0 && r == 0)
    r = pthread_cond_timedwait (&settler->wake, &settler->sleep_lock, &until);
  if (settler->stop)
    tick_ns = 0;
  settler->hurry = settler->waiting > 0;
  pthread_mutex_unlock (&settler->sleep_lock);
  return tick_ns;
}

static void *
run (void *vp)
{
  struct settler *settler = vp;
  uint64_t tick_ns = MIN_TICK_NS;

  do {
    pthread_mutex_lock (&settler->lock);
    settle_pass (settler, settler->hurry);
    if (tick_ns == MAX_TICK_NS && settler->fullest == 0)
      fall_asleep (settler);
    tick_ns = next_tick (settler, tick_ns);
    settler->fullest = 0;
    pthread_mutex_unlock (&settler->lock);
    tick_ns = sleep_until_next (settler, tick_ns);
  } while (tick_ns > 0);
  return NULL;
}

int
settler_start (struct settler *settler)
{
  int r;

  settler->stop = false;
  r = own_thread_start (&settler->thread, run, settler);
  settler->started = r == 0;
  if (r != 0)
    settler->stop = true;
  return r;
}

void
settler_stop (struct settler *settler)
{
  if (!settler->started)
    return;
  pthread_mutex_lock (&settler->sleep_lock);
  settler->stop = true;
  pthread_cond_signal (&settler->wake);
  pthread_cond_broadcast (&settler->room);
  pthread_mutex_unlock (&settler->sleep_lock);
  pthread_join (settler->thread, NULL);
  settler->started = false;
}

/* Threads that serve. */

/* With so many records in it its thread begins to settle. */
static uint32_t
high_water (const struct ring *ring)
{
  return ring->size - ring->size / 4;
}

struct ring *
settler_get_ring (struct settler *settler)
{
  struct ring *ring = rings_get (&settler->rings);

  /* Perhaps there are rings that threads have left.  A pass settles what is
   * in them, and the next one gives them back.
   */
  for (unsigned i = 0;
       i < 2 && ring == NULL && atomic_load (&settler->left) > 0; i++) {
    settler_hold (settler);
    settler_release (settler);
    ring = rings_get (&settler->rings);
  }
  return ring;
}

/* Was the full ring filled in no time?  Its oldest record is at head. */
static bool
is_too_fast (const struct ring *full)
{
  const uint32_t head = atomic_load_explicit (&full->head,
                                              memory_order_relaxed);

  return clock_since (full->records[head & (full->size - 1)].begin,
                      atomic_load_explicit (&full->last_end,
                                            memory_order_relaxed))
    < TOO_FAST_NS;
}

struct ring *
settler_get_another (struct settler *settler, struct ring *full)
{
  struct ring *ring;

  if (is_too_fast (full) && 2 * atomic_load (&settler->full)
                            >= atomic_load (&settler->rings.nr))
    return NULL;
  ring = rings_get (&settler->rings);
  if (ring == NULL)
    return NULL;
  full->full = true;
  atomic_fetch_add (&settler->full, 1);
  return ring;
}

void
settler_leave_ring (struct settler *settler, struct ring *ring)
{
  atomic_fetch_add (&settler->left, 1);
  atomic_store (&ring->left, RING_LEAVING);
  settler_list (settler, ring);
  atomic_store (&ring->left, RING_LEFT);
}

static uint32_t
used (const struct ring *ring)
{
  return atomic_load_explicit (&ring->head, memory_order_relaxed)
    - atomic_load_explicit (&ring->tail, memory_order_acquire);
}

/* At which head to look for room again, where n are used. */
static void
set_look_at (struct ring *ring, uint32_t n)
{
  const uint32_t high = high_water (ring);
  const uint32_t step = (ring->size + 15) / 16;
  uint32_t more = high - n;

  if (n >= high)
    more = ring->size - n < step ? ring->size - n : step;
  ring->look_at = atomic_load_explicit (&ring->head, memory_order_relaxed)
    + more;
}

/* Not asleep, since on a busy machine that can be seconds: all others that
 * want to run would run first.
 */
static bool
lock_soon (struct settler *settler)
{
  const uint64_t begin = clock_now ();

  while (pthread_mutex_trylock (&settler->lock) != 0) {
    if (clock_since (begin, clock_now ()) > MAX_WAIT_NS)
      return false;
  }
  return true;
}

static bool
lock_now (struct settler *settler, bool full)
{
  if (full ? lock_soon (settler)
      : pthread_mutex_trylock (&settler->lock) == 0)
    return true;
  atomic_store (&settler->wanted, true);
  return false;
}

bool
settler_make_room (struct settler *settler, struct ring *ring)
{
  uint32_t n = used (ring);

  if (n == ring->size)
    wait_until_seen (ring->last_end);
  if (n >= high_water (ring) && lock_now (settler, n == ring->size)) {
    open_pass (settler, n == ring->size);
    settle_piece (settler);
    if (settler->pass == MERGING)
      settle_piece (settler);
    pthread_mutex_unlock (&settler->lock);
  }
  n = used (ring);              /* once: it may become less at any time */
  set_look_at (ring, n);
  return n < ring->size;
}

/* Without the settler's thread one works for all, piece by piece. */
static void
drain_alone (struct settler *settler, struct ring *ring, uint32_t room)
{
  wait_until_seen (ring->last_end);
  while (ring->size - used (ring) < room) {
    pthread_mutex_lock (&settler->lock);
    open_pass (settler, true);
    settle_piece (settler);
    pthread_mutex_unlock (&settler->lock);
  }
}

/* All who wait here leave the processors to the settler. */
void
settler_drain (struct settler *settler, struct ring *ring, uint32_t room)
{
  pthread_mutex_lock (&settler->sleep_lock);
  while (ring->size - used (ring) < room && !settler->stop) {
    settler->waiting++;
    pthread_cond_signal (&settler->wake);
    pthread_cond_wait (&settler->room, &settler->sleep_lock);
  }
  pthread_mutex_unlock (&settler->sleep_lock);
  drain_alone (settler, ring, room);
  set_look_at (ring, used (ring));
}
