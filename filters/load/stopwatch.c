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
 * the processor time is outside.
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
  total.time += clock_now () - since.time;
  if (stopwatch == STOPWATCH_CPU)
    total.cpu += clock_read (CLOCK_THREAD_CPUTIME_ID) - since.cpu;
}

struct spent
stopwatch_read (void)
{
  return total;
}
