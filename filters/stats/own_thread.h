/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What the threads of the filter's own have in common, as guests in
 * somebody's server.
 */

#ifndef STATS_OWN_THREAD_H
#define STATS_OWN_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <time.h>

/* Start a thread that blocks all signals, since they are the server's.
 * Returns an errno, 0 where it went well.
 */
static inline int
own_thread_start (pthread_t *thread, void *(*run) (void *), void *opaque)
{
  sigset_t all, old;
  int r;

  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &old);
  r = pthread_create (thread, NULL, run, opaque);
  pthread_sigmask (SIG_SETMASK, &old, NULL);
  return r;
}

/* Make a condition for which one can wait until a time of clock_now, see
 * clock_timespec.
 */
static inline void
own_thread_cond_init (pthread_cond_t *cond)
{
  pthread_condattr_t attr;

  pthread_condattr_init (&attr);
  pthread_condattr_setclock (&attr, CLOCK_MONOTONIC);
  pthread_cond_init (cond, &attr);
  pthread_condattr_destroy (&attr);
}

#endif /* STATS_OWN_THREAD_H */
