/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A thread that calls a function at regular times. */

#ifndef STATS_TICKER_H
#define STATS_TICKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct ticker {
  void (*tick) (void *opaque);
  void *opaque;
  uint64_t period_ns;

  pthread_t thread;
  pthread_mutex_t lock;         /* protects stop */
  pthread_cond_t stopped;
  bool stop;
};

/* Call tick (opaque) in a thread of its own, every period_ns from now on.
 * One that comes late, or takes long, takes the place of those that fell
 * into that time.  The thread blocks all signals, which are the server's.
 * Returns an errno, 0 where it went well.
 */
extern int ticker_start (struct ticker *ticker, uint64_t period_ns,
                         void (*tick) (void *opaque), void *opaque);

/* When the next tick is due, after one that was due, began and ended then:
 * the next multiple of the period at which it has ended, and at least half
 * a period after it began.  Pure.
 */
extern uint64_t ticker_next (uint64_t due, uint64_t period_ns,
                             uint64_t began, uint64_t ended);

/* End the thread, at once unless a tick is under way; wait for it. */
extern void ticker_stop (struct ticker *ticker);

#endif /* STATS_TICKER_H */
