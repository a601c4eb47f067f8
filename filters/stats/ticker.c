/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>

#include "clock.h"
#include "own_thread.h"
#include "ticker.h"

static bool
wait_until (struct ticker *ticker, uint64_t when)
{
  const struct timespec ts = clock_timespec (when);
  bool stop;
  int r = 0;

  pthread_mutex_lock (&ticker->lock);
  while (!ticker->stop && r != ETIMEDOUT)
    r = pthread_cond_timedwait (&ticker->stopped, &ticker->lock, &ts);
  stop = ticker->stop;
  pthread_mutex_unlock (&ticker->lock);
  return !stop;
}

/* The times are multiples of the period from the start, so they do not
 * drift.
 */
uint64_t
ticker_next (uint64_t due, uint64_t period_ns, uint64_t began,
             uint64_t ended)
{
  const uint64_t half = began + period_ns / 2;
  const uint64_t earliest = half > ended ? half : ended;
  const uint64_t next = due + period_ns;
  const uint64_t late = clock_since (next, earliest);

  return next + (late / period_ns + (late % period_ns > 0)) * period_ns;
}

static void *
run (void *vp)
{
  struct ticker *ticker = vp;
  uint64_t due = clock_now () + ticker->period_ns;
  uint64_t began;

  while (wait_until (ticker, due)) {
    began = clock_now ();
    ticker->tick (ticker->opaque);
    due = ticker_next (due, ticker->period_ns, began, clock_now ());
  }
  return NULL;
}

int
ticker_start (struct ticker *ticker, uint64_t period_ns,
              void (*tick) (void *opaque), void *opaque)
{
  int r;

  *ticker = (struct ticker) {
    .tick = tick, .opaque = opaque, .period_ns = period_ns,
  };
  own_thread_cond_init (&ticker->stopped);
  pthread_mutex_init (&ticker->lock, NULL);
  r = own_thread_start (&ticker->thread, run, ticker);
  if (r != 0) {
    pthread_cond_destroy (&ticker->stopped);
    pthread_mutex_destroy (&ticker->lock);
  }
  return r;
}

void
ticker_stop (struct ticker *ticker)
{
  pthread_mutex_lock (&ticker->lock);
  ticker->stop = true;
  pthread_cond_signal (&ticker->stopped);
  pthread_mutex_unlock (&ticker->lock);
  pthread_join (ticker->thread, NULL);
  pthread_cond_destroy (&ticker->stopped);
  pthread_mutex_destroy (&ticker->lock);
}
