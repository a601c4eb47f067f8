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
 * A tick that takes longer than the period makes the next ones fall out.
 * The thread blocks all signals, which are the server's.  Returns an
 * errno, 0 where it went well.
 */
extern int ticker_start (struct ticker *ticker, uint64_t period_ns,
                         void (*tick) (void *opaque), void *opaque);

/* End the thread, at once unless a tick is under way; wait for it. */
extern void ticker_stop (struct ticker *ticker);

#endif /* STATS_TICKER_H */
