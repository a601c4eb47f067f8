/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What others may do between any two instructions, on machines of one
 * processor too: a signal handler of the only thread does it.
 *
 * Sanitizers and valgrind deliver signals where they like, or not at all.
 */

#ifndef STATS_UNIT_INTERRUPT_H
#define STATS_UNIT_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>

#include "clock.h"

static volatile sig_atomic_t interrupts;
static uint64_t interrupted_since;
static unsigned interruptible;
static void (*interrupt) (void);

static inline void
on_alarm (int sig)
{
  (void) sig;
  interrupts++;
  interrupt ();
}

/* From now on f is called every few microseconds. */
static inline void
start_interrupts (void (*f) (void))
{
  const struct itimerval often = { { 0, 20 }, { 0, 20 } };

  interrupt = f;
  interrupts = 0;
  interrupted_since = clock_now ();
  signal (SIGALRM, on_alarm);
  setitimer (ITIMER_REAL, &often, NULL);
}

static inline void
stop_interrupts (void)
{
  const struct itimerval never = { { 0, 0 }, { 0, 0 } };

  setitimer (ITIMER_REAL, &never, NULL);
  signal (SIGALRM, SIG_IGN);
}

/* Is it time to go on?  After so many interrupts it is not, nor after some
 * seconds where they do not come.
 */
static inline bool
still_interrupted (void)
{
  return interrupts < 20000
    && (++interruptible % 256 != 0
        || clock_since (interrupted_since, clock_now ()) < 3 * NS_PER_S);
}

#endif /* STATS_UNIT_INTERRUPT_H */
