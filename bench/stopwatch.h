/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* How long one request keeps a thread in the filter: a watch that stands
 * still while the backend works.
 */

#ifndef BENCH_STOPWATCH_H
#define BENCH_STOPWATCH_H

#include <stdint.h>
#include <time.h>

/* In nanoseconds. */
struct spent {
  uint64_t time;
  uint64_t cpu;                 /* processor time of the thread */
};

/* Each thread has a stopwatch of its own.  Reading processor time is a
 * system call, whose cost is in every figure: compare with no filter.
 */
extern void stopwatch_reset (void);
extern void stopwatch_run (void);
extern void stopwatch_stop (void);

/* While it is stopped: for how long it ran since the reset. */
extern struct spent stopwatch_read (void);

/* Nanoseconds on any clock. */
extern uint64_t clock_read (clockid_t clock);

#endif /* BENCH_STOPWATCH_H */
