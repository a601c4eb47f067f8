/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#ifndef STATS_CLOCK_H
#define STATS_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S UINT64_C (1000000000)

/* Nanoseconds of CLOCK_MONOTONIC, which nobody can set.  From any
 * thread; never fails; never 0 on a running system.
 */
static inline uint64_t
clock_now (void)
{
  struct timespec ts;

  clock_gettime (CLOCK_MONOTONIC, &ts);
  return (uint64_t) ts.tv_sec * NS_PER_S + (uint64_t) ts.tv_nsec;
}

/* Nanoseconds from begin to end, and 0 where end comes first: two
 * threads may read the clock in one order and compare in the other.
 */
static inline uint64_t
clock_since (uint64_t begin, uint64_t end)
{
  return end > begin ? end - begin : 0;
}

/* A time of clock_now as system calls want it. */
static inline struct timespec
clock_timespec (uint64_t ns)
{
  return (struct timespec) {
    .tv_sec = (time_t) (ns / NS_PER_S), .tv_nsec = (long) (ns % NS_PER_S),
  };
}

#endif /* STATS_CLOCK_H */
