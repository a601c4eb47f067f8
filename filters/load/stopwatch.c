/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "clock.h"
#include "stopwatch.h"

enum stopwatch stopwatch;

static _Thread_local struct spent total, since;

uint64_t
clock_read (clockid_t clock)
{
  struct timespec ts;

  if (clock_gettime (clock, &ts) == -1)
    return 0;
  return (uint64_t) ts.tv_sec * NS_PER_S + (uint64_t) ts.tv_nsec;
}

void
stopwatch_reset (void)
{
  total = (struct spent) { 0 };
}

/* The clock is read next to what is measured, so that the system call for
 * the processor time is outside.  That call takes longer than what is measured.
 * So what counts as processor time is the time, and only where that is longer,
 * since the thread was not running all the while, what the call says.
 */
void
stopwatch_run (void)
{
  if (stopwatch == STOPWATCH_CPU)
    since.cpu = clock_read (CLOCK_THREAD_CPUTIME_ID);
  since.time = clock_now ();
}

void
stopwatch_stop (void)
{
  const uint64_t time = clock_now () - since.time;
  uint64_t cpu;

  total.time += time;
  if (stopwatch != STOPWATCH_CPU)
    return;
  cpu = clock_read (CLOCK_THREAD_CPUTIME_ID) - since.cpu;
  total.cpu += time < cpu ? time : cpu;
}

struct spent
stopwatch_read (void)
{
  return total;
}
