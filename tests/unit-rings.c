/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The memory of rings: never more than its bound, whatever threads come and
 * go, and what they leave is used again.
 *
 * It is linked with --wrap=mmap.
 */

#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rings.h"
#include "unit-interrupt.h"
#include "unit-threads.h"

static struct rings rings;
static struct ring *got[MAX_RINGS];
static size_t nr_got;

static int
start (void **state)
{
  (void) state;
  nr_got = 0;
  return rings_init (&rings);
}

static int
stop (void **state)
{
  (void) state;
  rings_free (&rings);
  return 0;
}

static bool
get (void)
{
  struct ring *ring = rings_get (&rings);

  assert_int_equal (rings.nr, nr_got + (ring != NULL));
  if (ring == NULL)
    return false;
  assert_true (nr_got < MAX_RINGS);
  got[nr_got++] = ring;
  return true;
}

static void
put (size_t i)
{
  rings_put (&rings, got[i]);
  got[i] = got[--nr_got];
  assert_int_equal (rings.nr, nr_got);
}

static void
check_new (const struct ring *ring)
{
  assert_int_equal ((uintptr_t) ring % CACHE_ALIGN, 0);
  assert_int_equal (ring->size & (ring->size - 1), 0);
  assert_int_equal (ring->mark, RING_IDLE);
  assert_int_equal (ring->head, 0);
  assert_int_equal (ring->tail, 0);
  assert_int_equal (ring->limit, 0);
  assert_int_equal (ring->last_end, 0);
  assert_false (ring->listed);
  assert_int_equal (ring->left, RING_HAS_THREAD);
  assert_false (ring->begun);
  assert_false (ring->full);
  assert_int_equal (ring->open, 0);
  assert_in_range (ring->look_at, 1, ring->size);
  assert_null (ring->next_listed);
  assert_null (ring->recorder);
  assert_null (ring->connection);
}

/* A thread costs at most 8 KiB, and all of them at most 28 MiB. */
static void
test_one (void **state)
{
  (void) state;
  assert_true (get ());
  check_new (got[0]);
  assert_int_equal (got[0]->size, RING_LARGE);
  assert_true (RING_BYTES (RING_LARGE) <= 8 * KiB);
  assert_true (NR_LARGE_RINGS * RING_BYTES (RING_LARGE)
               + NR_SMALL_RINGS * RING_BYTES (RING_SMALL) <= 28 * MiB);
  memset (got[0]->records, 0xff, RING_LARGE * sizeof (struct record));
}

static int
by_address (const void *vp1, const void *vp2)
{
  const struct ring *const *r1 = vp1, *const *r2 = vp2;

  return *r1 < *r2 ? -1 : *r1 > *r2;
}

/* Large ones first, then small ones, then none; and all are apart. */
static void
test_all (void **state)
{
  (void) state;
  for (size_t i = 0; i < MAX_RINGS; i++) {
    assert_true (get ());
    check_new (got[i]);
    assert_int_equal (got[i]->size,
                      i < NR_LARGE_RINGS ? RING_LARGE : RING_SMALL);
  }
  for (unsigned i = 0; i < 10; i++)
    assert_false (get ());
  qsort (got, nr_got, sizeof got[0], by_address);
  for (size_t i = 1; i < nr_got; i++)
    assert_true ((char *) got[i - 1] + RING_BYTES (got[i - 1]->size)
                 <= (char *) got[i]);

  /* What comes back is had again. */
  for (unsigned round = 0; round < 2; round++) {
    while (nr_got > 0)
      put (nr_got / 2);
    while (get ())
      ;
    assert_int_equal (nr_got, MAX_RINGS);
  }
}

/* Those who come when large ones are free have large ones. */
static void
test_random (void **state)
{
  uint64_t random_state = 1;
  size_t large;

  (void) state;
  for (unsigned round = 0; round < 20; round++) {
    const uint64_t gets = random_below (&random_state, MAX_RINGS);
    const uint64_t puts = random_below (&random_state, MAX_RINGS);

    for (uint64_t i = 0; i < gets && get (); i++)
      ;
    large = 0;
    for (size_t i = 0; i < nr_got; i++)
      large += got[i]->size == RING_LARGE;
    assert_true (large == NR_LARGE_RINGS
                 || got[nr_got - 1]->size == RING_LARGE);
    for (uint64_t i = 0; i < puts && nr_got > 0; i++)
      put (random_below (&random_state, nr_got));
  }
}

/* One that is left is the next thread's, as good as new, and no other is
 * taken from the system.  The thread before had put all sorts of things into
 * it.
 */
static void
test_reuse (void **state)
{
  struct ring *ring;

  (void) state;
  assert_true (get ());
  ring = got[0];
  for (unsigned i = 0; i < 100; i++) {
    ring->mark = UINT64_MAX;
    ring->head = ring->tail = ring->limit = i;
    ring->look_at = ring->head;
    ring->last_end = ring->open = UINT64_MAX;
    ring->listed = ring->begun = ring->full = true;
    ring->left = RING_LEFT;
    ring->recorder = (struct recorder *) &rings;
    ring->connection = (struct connection *) &rings;
    ring->next_listed = ring;
    put (0);
    assert_true (get ());
    assert_ptr_equal (got[0], ring);
    assert_int_equal (ring->size, RING_LARGE);
    check_new (ring);
  }
  assert_int_equal (rings.large.used, 1);
  assert_int_equal (rings.small.used, 0);
}

/* Without memory. */

static unsigned mmap_left = UINT32_MAX;

extern void *__real_mmap (void *addr, size_t length, int prot, int flags,
                          int fd, off_t offset);
extern void *__wrap_mmap (void *addr, size_t length, int prot, int flags,
                          int fd, off_t offset);

void *
__wrap_mmap (void *addr, size_t length, int prot, int flags, int fd,
             off_t offset)
{
  if (mmap_left == 0) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  mmap_left--;
  return __real_mmap (addr, length, prot, flags, fd, offset);
}

static void
test_no_memory (void **state)
{
  struct rings none;
  int r;

  (void) state;
  for (unsigned left = 0; left < 2; left++) {
    memset (&none, 0xff, sizeof none);
    errno = 0;
    mmap_left = left;
    r = rings_init (&none);
    mmap_left = UINT32_MAX;
    assert_int_equal (r, -1);
    assert_int_equal (errno, ENOMEM);
  }
}

/* Others take rings and give them back between any two instructions. */

enum { MAX_HELD = 8 };

static struct ring *held[MAX_HELD];
static unsigned nr_held;

static void
give_all_back (void)
{
  while (nr_held > 0)
    rings_put (&rings, held[--nr_held]);
}

static void
take_two_put_one (void)
{
  struct ring *first, *second;

  if (nr_held == MAX_HELD) {
    give_all_back ();
    return;
  }
  first = rings_get (&rings);
  second = rings_get (&rings);
  rings_put (&rings, first);
  held[nr_held++] = second;
}

static bool
is_held (const struct ring *ring)
{
  for (unsigned i = 0; i < nr_held; i++) {
    if (held[i] == ring)
      return true;
  }
  return false;
}

static void
test_interrupted (void **state)
{
  bool twice = false;

  (void) state;
  start_interrupts (take_two_put_one);
  while (still_interrupted () && !twice) {
    struct ring *mine[3];

    for (unsigned i = 0; i < 3; i++)
      mine[i] = rings_get (&rings);
    for (unsigned i = 0; i < 3; i++) {
      twice = twice || is_held (mine[i]) || mine[i] == mine[(i + 1) % 3];
      rings_put (&rings, mine[i]);
    }
  }
  stop_interrupts ();
  assert_false (twice);
  give_all_back ();
  assert_int_equal (rings.nr, 0);
}

/* Many threads. */

enum { THREADS = 8, ROUNDS = 20000, EACH = 3 };

static void *
come_and_go (void *vp)
{
  struct ring *mine[EACH];

  for (unsigned i = 0; i < ROUNDS; i++) {
    const unsigned n = 1 + i % EACH;

    for (unsigned j = 0; j < n; j++) {
      mine[j] = rings_get (&rings);
      CHECK (mine[j] && mine[j]->recorder == NULL);
      if (mine[j] == NULL)
        return NULL;
      mine[j]->recorder = vp;
    }
    for (unsigned j = 0; j < n; j++) {
      CHECK (mine[j]->recorder == vp);
      rings_put (&rings, mine[j]);
    }
  }
  return NULL;
}

static void
test_threads (void **state)
{
  static char names[THREADS];
  pthread_t threads[THREADS];

  (void) state;
  for (unsigned i = 0; i < THREADS; i++)
    assert_int_equal (pthread_create (&threads[i], NULL, come_and_go,
                                      &names[i]), 0);
  for (unsigned i = 0; i < THREADS; i++)
    pthread_join (threads[i], NULL);
  assert_no_complaint ();
  assert_int_equal (rings.nr, 0);
  assert_true (rings.large.used <= THREADS * EACH);
}

#define TEST(f) cmocka_unit_test_setup_teardown (f, start, stop)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_one),
    TEST (test_all),
    TEST (test_random),
    TEST (test_reuse),
    cmocka_unit_test (test_no_memory),
    TEST (test_interrupted),
    TEST (test_threads),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
