/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What passes between a thread and whoever settles: what the one has marked
 * and the other sees, at each step of a request.
 */

#include <config.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "ring.h"
#include "unit-interrupt.h"
#include "unit-threads.h"

#define SIZE 8u                 /* where a test does not say more */

static struct ring *ring;

static int
start_size (uint32_t size)
{
  ring = aligned_alloc (CACHE_ALIGN, (sizeof *ring
                                      + size * sizeof (struct record)
                                      + CACHE_ALIGN - 1)
                                     / CACHE_ALIGN * CACHE_ALIGN);
  if (ring == NULL)
    return -1;
  memset (ring->records, 0xff, size * sizeof (struct record));
  ring_init (ring, size);
  return 0;
}

static int
start (void **state)
{
  (void) state;
  return start_size (SIZE);
}

static int
start_large (void **state)
{
  (void) state;
  return start_size (1024);
}

static int
stop (void **state)
{
  (void) state;
  free (ring);
  return 0;
}

/* The steps of a request, as its thread takes them. */

static void
begin (unsigned kind, uint64_t time)
{
  struct record *record = ring_record (ring);

  record->kind = (uint8_t) kind;
  ring_mark_beginning (ring);
  record->begin = time;
  ring_mark_in_flight (ring, record);
}

static void
end (uint64_t time)
{
  ring_mark_ending (ring, ring_record (ring));
  ring_record (ring)->end = time;
  ring_publish (ring, ring_record (ring));
}

/* One that settles takes the next record. */
static void
take (void)
{
  ring->tail++;
  ring->begun = false;
}

static void
test_marks (void **state)
{
  static const uint64_t begins[] = {
    1, 1000, UINT64_C (1) << 40, (UINT64_C (1) << RING_TIME_SHIFT) - 1,
    UINT64_MAX >> RING_TIME_SHIFT,
  };

  (void) state;
  for (size_t i = 0; i < LENGTH (begins); i++) {
    for (unsigned kind = 0; kind < NR_KINDS; kind++) {
      begin (kind, begins[i]);
      assert_int_equal (mark_state (ring->mark), RING_IN_FLIGHT);
      assert_int_equal (mark_begin (ring->mark), begins[i]);
      assert_int_equal (ring_record (ring)->kind, kind);
    }
  }
}

/* Nothing, and nothing to come. */
static void
test_idle (void **state)
{
  (void) state;
  assert_int_equal (ring_look (ring, 5), UINT64_MAX);
  assert_int_equal (ring->limit, 0);
  assert_int_equal (ring->open, 0);
  assert_int_equal (ring_next (ring), UINT64_MAX);
}

/* What is seen at each step, where nothing is in the ring beside. */
static void
test_steps (void **state)
{
  (void) state;
  for (unsigned i = 0; i < 3 * SIZE; i++) {
    const uint64_t at = 1000 * (i + 1);

    ring_mark_beginning (ring);
    assert_int_equal (ring_look (ring, at - 10), at - 10);
    assert_int_equal (ring->open, 0);
    assert_int_equal (ring_next (ring), UINT64_MAX);

    begin (OP_WRITE, at);
    assert_int_equal (ring_look (ring, at - 10), UINT64_MAX);
    assert_int_equal (ring->limit, i);
    assert_int_equal (mark_begin (ring->open), at);
    assert_int_equal (ring_record_at (ring, ring->limit)->kind, OP_WRITE);
    assert_int_equal (ring_next (ring), 2 * at + 1);

    /* Its begin is known, its end is not. */
    ring_mark_ending (ring, ring_record (ring));
    assert_int_equal (ring_look (ring, at - 10), at);
    assert_int_equal (ring->limit, i);
    assert_int_equal (mark_begin (ring->open), at);
    assert_int_equal (ring_record_at (ring, ring->limit)->kind, OP_WRITE);
    assert_int_equal (ring_next (ring), 2 * at + 1);
    assert_int_equal (ring_look (ring, at + 3), at + 3);
    ring->begun = true;         /* it was told */
    assert_int_equal (ring_next (ring), UINT64_MAX);

    end (at + 5);
    assert_int_equal (ring_look (ring, at + 3), UINT64_MAX);
    assert_int_equal (ring->limit, i + 1);
    assert_int_equal (ring->open, 0);
    assert_int_equal (ring->last_end, at + 5);
    assert_int_equal (ring_next (ring), 2 * (at + 5));
    take ();
    assert_int_equal (ring_next (ring), UINT64_MAX);
  }
}

/* The same with records before it that nobody has settled: a time that is
 * not known is not before the last end of these.
 */
static void
test_steps_unsettled (void **state)
{
  (void) state;
  for (unsigned i = 0; i < SIZE - 1; i++) {
    begin (OP_READ, 10 * i + 1);
    end (10 * i + 5);
  }
  ring_mark_beginning (ring);
  assert_int_equal (ring_look (ring, 3), 10 * (SIZE - 2) + 5);
  assert_int_equal (ring_look (ring, 1000), 1000);
  begin (OP_READ, 500);
  assert_int_equal (ring_look (ring, 3), UINT64_MAX);
  ring_mark_ending (ring, ring_record (ring));
  assert_int_equal (ring_look (ring, 3), 500);

  /* Those that are in the ring come first, begin by begin and end by end. */
  for (unsigned i = 0; i < SIZE - 1; i++) {
    assert_int_equal (ring_next (ring), 2 * (10 * i + 1) + 1);
    ring->begun = true;
    assert_int_equal (ring_next (ring), 2 * (10 * i + 5));
    take ();
  }
  assert_int_equal (ring_next (ring), 2 * 500 + 1);
}

/* At the same time an end comes before a begin. */
static void
test_order (void **state)
{
  uint64_t end_at, begin_at;

  (void) state;
  begin (OP_READ, 10);
  end (20);
  begin (OP_READ, 20);
  end (20);
  ring_look (ring, 0);
  ring->begun = true;
  end_at = ring_next (ring);
  take ();
  begin_at = ring_next (ring);
  assert_int_equal (end_at / 2, begin_at / 2);
  assert_true (end_at < begin_at);
}

/* Numbers of records go round after 2^32 of them. */
static void
test_wrap (void **state)
{
  (void) state;
  ring->head = ring->tail = UINT32_MAX - 2;
  for (unsigned i = 0; i < 6; i++) {
    const uint64_t at = 100 * (i + 1);

    begin (OP_TRIM, at);
    ring_mark_ending (ring, ring_record (ring));
    assert_int_equal (ring_look (ring, 7), at);
    end (at + 1);
    assert_int_equal (ring_look (ring, 7), UINT64_MAX);
    assert_int_equal (ring->limit, ring->head);
    assert_int_equal (ring_next (ring), 2 * at + 1);
    take ();
  }
  assert_int_equal (ring->head, 3);
}

/* It is time to look for room at one record, and not before. */
static void
test_look_at (void **state)
{
  (void) state;
  ring->head = UINT32_MAX - 1;
  ring->look_at = 3;
  for (unsigned i = 0; i < 5; i++) {
    begin (OP_READ, i + 1);
    ring_mark_ending (ring, ring_record (ring));
    ring_record (ring)->end = i + 1;
    assert_int_equal (ring_publish (ring, ring_record (ring)), i == 4);
  }
}

/* A thread, and one that settles: record n lasts from 10 n + 1 to 10 n + 5,
 * and what is seen is always that of one moment.
 */

enum { RECORDS = 500000 };

static void *
serve (void *vp)
{
  (void) vp;
  for (uint64_t n = 0; n < RECORDS; n++) {
    while (ring->head - ring->tail == ring->size)
      sched_yield ();
    begin (n % NR_KINDS, 10 * n + 1);
    end (10 * n + 5);
  }
  return NULL;
}

static void
test_thread (void **state)
{
  pthread_t thread;
  unsigned looks = 0;

  (void) state;
  assert_int_equal (pthread_create (&thread, NULL, serve, NULL), 0);
  while (ring->tail < RECORDS) {
    const uint64_t sure = ring_look (ring, 0);

    if (ring->limit == ring->tail && sure == UINT64_MAX && ring->open == 0) {
      sched_yield ();
      continue;
    }
    if (ring->open) {
      assert_int_equal (mark_begin (ring->open), 10 * ring->limit + 1);
      assert_int_equal (ring_record_at (ring, ring->limit)->kind,
                        ring->limit % NR_KINDS);
      assert_true (sure == UINT64_MAX || sure == 10 * ring->limit + 1);
    }
    else if (sure != UINT64_MAX)
      assert_int_equal (sure, ring->limit == ring->tail ? 0
                        : 10 * (ring->limit - 1) + 5);
    if (++looks % 64)           /* mostly just look */
      continue;
    while (ring->tail != ring->limit) {
      assert_int_equal (ring_next (ring), 2 * (10 * ring->tail + 1) + 1);
      ring->begun = true;
      assert_int_equal (ring_next (ring), 2 * (10 * ring->tail + 5));
      take ();
    }
  }
  pthread_join (thread, NULL);
}

/* The same where a request ends and the next one begins between any two
 * instructions of one that looks.
 */

static uint64_t interrupted_n;

static void
serve_next (void)
{
  if (ring->head - ring->tail == ring->size - 1)
    return;
  end (10 * interrupted_n + 5);
  interrupted_n++;
  begin (interrupted_n % NR_KINDS, 10 * interrupted_n + 1);
}

static void
test_interrupted (void **state)
{
  bool right = true;

  (void) state;
  interrupted_n = 0;
  begin (0, 1);
  start_interrupts (serve_next);
  while (still_interrupted () && right) {
    right = ring_look (ring, 0) == UINT64_MAX
      && mark_begin (ring->open) == 10 * ring->limit + 1;
    ring->tail = ring->limit;
  }
  stop_interrupts ();
  assert_true (right);
}

#define TEST(f) cmocka_unit_test_setup_teardown (f, start, stop)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_marks),
    TEST (test_idle),
    TEST (test_steps),
    TEST (test_steps_unsettled),
    TEST (test_order),
    TEST (test_wrap),
    TEST (test_look_at),
    TEST (test_interrupted),
    cmocka_unit_test_setup_teardown (test_thread, start_large, stop),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
