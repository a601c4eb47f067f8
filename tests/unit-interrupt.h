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

static volatile sig_atomic_t interrupts;
static unsigned long interruptible;
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
  interruptible = 0;
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

/* Is it time to go on?  After so many interrupts it is not. */
static inline bool
still_interrupted (void)
{
  return interrupts < 20000 && ++interruptible < 20000000;
}

#endif /* STATS_UNIT_INTERRUPT_H */
