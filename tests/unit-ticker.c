/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Ticks come at their times, and end when they are told to.
 *
 * A machine may be busy, so nothing here fails because a tick is late.  It
 * is linked with --wrap=pthread_create.
 */

#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "ticker.h"
#include "unit.h"

#define MAX_TICKS 1000

/* What the ticks did.  The thread that waits for ticked may read the
 * times of the ticks that it waited for.
 */
static struct {
  sem_t ticked;
  atomic_uint ticks;
  uint64_t times[MAX_TICKS];    /* when each began */
  useconds_t takes;             /* each takes so long, in microseconds; */
  useconds_t first_takes;       /* the first one longer */
  uint64_t first_ended;
  atomic_bool in_tick;
  sigset_t mask;
} seen;

static int
start (void **state)
{
  (void) state;
  memset (&seen, 0, sizeof seen);
  return sem_init (&seen.ticked, 0, 0);
}

static int
stop (void **state)
{
  (void) state;
  return sem_destroy (&seen.ticked);
}

static void
tick (void *opaque)
{
  const unsigned n = seen.ticks;

  seen.in_tick = true;
  if (n < MAX_TICKS)
    seen.times[n] = clock_now ();
  pthread_sigmask (SIG_SETMASK, NULL, &seen.mask);
  if (opaque == &seen)
    seen.ticks++;
  if (n == 0 && seen.first_takes) {
    usleep (seen.first_takes);
    seen.first_ended = clock_now ();
  }
  else if (seen.takes)
    usleep (seen.takes);
  seen.in_tick = false;
  sem_post (&seen.ticked);
}

/* Wait for so many more ticks. */
static void
wait_for (unsigned n)
{
  struct timespec limit;

  clock_gettime (CLOCK_REALTIME, &limit);
  limit.tv_sec += 60;
  while (n > 0) {
    if (sem_timedwait (&seen.ticked, &limit) == 0)
      n--;
    else
      assert_int_equal (errno, EINTR);
  }
}

/* When the next one is due, with a period of 1000. */
static void
test_next (void **state)
{
  static const struct { uint64_t due, began, ended, next; } table[] = {
    /* In time, or a little late. */
    { 7000, 7000, 7000, 8000 }, { 7000, 7000, 7001, 8000 },
    { 7000, 7001, 7010, 8000 }, { 7000, 7499, 7500, 8000 },
    { 7000, 7500, 7500, 8000 },
    /* It takes a while, but not too long. */
    { 7000, 7000, 7999, 8000 }, { 7000, 7000, 8000, 8000 },
    /* It takes longer: those meanwhile fall out. */
    { 7000, 7000, 8001, 9000 }, { 7000, 7001, 9990, 10000 },
    { 7000, 7000, 9000, 9000 },
    /* It comes late, as after SIGSTOP, and takes the place of all that were
     * missed, and of the next one if that is near.
     */
    { 7000, 7501, 7501, 9000 }, { 7000, 7999, 7999, 9000 },
    { 7000, 8000, 8001, 9000 }, { 7000, 10200, 10210, 11000 },
    { 7000, 10500, 10510, 11000 }, { 7000, 10501, 10510, 12000 },
    { 7000, 10997, 10998, 12000 }, { 7000, 10100, 12400, 13000 },
    /* A year late. */
    { 7000, 31536000007300, 31536000007400, 31536000008000 },
  };

  (void) state;
  for (size_t i = 0; i < LENGTH (table); i++)
    assert_int_equal (ticker_next (table[i].due, 1000, table[i].began,
                                   table[i].ended), table[i].next);
}

/* However late they are and long they take, each is due at a multiple of
 * the period, not before the one before has ended, and at least half a
 * period after that began; and none that could have been is left out.
 */
static void
test_next_any (void **state)
{
  const uint64_t period = 1001;
  uint64_t seed = 7, due = period;

  (void) state;
  for (unsigned i = 0; i < 100000; i++) {
    const uint64_t began = due + random_below (&seed, 4) * period / 2
      + random_below (&seed, period);
    const uint64_t ended = began + random_below (&seed, 3 * period);
    const uint64_t next = ticker_next (due, period, began, ended);

    assert_int_equal (next % period, 0);
    assert_true (next > due && next >= ended);
    assert_true (next - began >= period / 2);
    assert_true (next - period <= due || next - period < ended
                 || next - period < began + period / 2);
    due = next;
  }
}

/* Never one too early, and the first after a period. */
static void
test_ticks (void **state)
{
  const uint64_t period = 5 * MS, before = clock_now ();
  struct ticker ticker;

  (void) state;
  assert_int_equal (ticker_start (&ticker, period, tick, &seen), 0);
  wait_for (10);
  ticker_stop (&ticker);
  for (unsigned i = 0; i < 10; i++)
    assert_true (seen.times[i] >= before + (i + 1) * period);
  assert_true (seen.ticks <= (clock_now () - before) / period);
}

/* What a tick takes does not delay the next one: if it did, there would be
 * as much and a period between any two.
 */
static void
test_no_drift (void **state)
{
  const uint64_t period = 20 * MS;
  struct ticker ticker;
  bool found = false;

  (void) state;
  seen.takes = 10000;
  assert_int_equal (ticker_start (&ticker, period, tick, &seen), 0);
  wait_for (1);
  for (unsigned i = 1; !found && i < 200; i++) {
    wait_for (1);
    found = seen.times[i] - seen.times[i - 1] < period + seen.takes * US;
  }
  ticker_stop (&ticker);
  assert_true (found);
}

/* After a long tick, those that fell out are not made up for: the others
 * come at their times.
 */
static void
test_long_tick (void **state)
{
  const uint64_t period = 10 * MS;
  struct ticker ticker;

  (void) state;
  seen.first_takes = 75000;
  assert_int_equal (ticker_start (&ticker, period, tick, &seen), 0);
  wait_for (6);
  ticker_stop (&ticker);
  for (unsigned i = 2; i < 6; i++)
    assert_true (seen.times[i] >= seen.first_ended + (i - 2) * period);
}

/* It does not wait for the next tick. */
static void
test_stop (void **state)
{
  const uint64_t before = clock_now ();
  struct ticker ticker;

  (void) state;
  for (unsigned i = 0; i < 100; i++) {
    assert_int_equal (ticker_start (&ticker, 60 * S, tick, &seen), 0);
    if (i % 10 == 0)
      usleep (1000);            /* now the thread waits, most likely */
    ticker_stop (&ticker);
  }
  assert_true (clock_now () - before < 60 * S);
  assert_int_equal (seen.ticks, 0);
}

/* It waits for one that is under way, and none comes afterwards. */
static void
test_stop_in_tick (void **state)
{
  struct ticker ticker;
  unsigned ticks;

  (void) state;
  seen.takes = 20000;
  assert_int_equal (ticker_start (&ticker, MS, tick, &seen), 0);
  while (!seen.in_tick)
    usleep (100);
  ticker_stop (&ticker);
  assert_false (seen.in_tick);
  ticks = seen.ticks;
  assert_true (ticks > 0);
  usleep (5000);
  assert_int_equal (seen.ticks, ticks);
}

/* Signals are for the server's threads; its masks stay as they were. */

static void
test_signals (void **state)
{
  struct ticker ticker;
  sigset_t before, after;

  (void) state;
  pthread_sigmask (SIG_SETMASK, NULL, &before);
  assert_int_equal (ticker_start (&ticker, MS, tick, &seen), 0);
  wait_for (1);
  ticker_stop (&ticker);
  pthread_sigmask (SIG_SETMASK, NULL, &after);
  for (int sig = 1; sig <= SIGRTMAX; sig++) {
    assert_int_equal (sigismember (&after, sig), sigismember (&before, sig));
    /* Between those and SIGRTMIN are the C library's own. */
    if (sig != SIGKILL && sig != SIGSTOP
        && (sig <= SIGSYS || sig >= SIGRTMIN))
      assert_int_equal (sigismember (&seen.mask, sig), 1);
  }
}

/* No thread can be made. */

static int cannot_create;       /* an errno, or 0 */

extern int __real_pthread_create (pthread_t *thread,
                                  const pthread_attr_t *attr,
                                  void *(*run) (void *), void *arg);
extern int __wrap_pthread_create (pthread_t *thread,
                                  const pthread_attr_t *attr,
                                  void *(*run) (void *), void *arg);

int
__wrap_pthread_create (pthread_t *thread, const pthread_attr_t *attr,
                       void *(*run) (void *), void *arg)
{
  return cannot_create ? cannot_create
                       : __real_pthread_create (thread, attr, run, arg);
}

static void
test_no_thread (void **state)
{
  struct ticker ticker;
  sigset_t mask;

  (void) state;
  cannot_create = EAGAIN;
  assert_int_equal (ticker_start (&ticker, MS, tick, &seen), EAGAIN);
  cannot_create = 0;
  pthread_sigmask (SIG_SETMASK, NULL, &mask);
  assert_int_equal (sigismember (&mask, SIGTERM), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown (f, start, stop)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_next),
    TEST (test_next_any),
    TEST (test_ticks),
    TEST (test_no_drift),
    TEST (test_long_tick),
    TEST (test_stop),
    TEST (test_stop_in_tick),
    TEST (test_signals),
    TEST (test_no_thread),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
