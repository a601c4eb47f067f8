/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* How long one request keeps a thread in the filter: a watch that stands
 * still while the backend works.
 */

#ifndef LOAD_STOPWATCH_H
#define LOAD_STOPWATCH_H

#include <stdint.h>
#include <time.h>

#include "load.h"

/* What all stopwatches measure.  Set before the first one runs. */
enum stopwatch {
  STOPWATCH_OFF,
  STOPWATCH_TIME,
  STOPWATCH_CPU,                /* processor time, too */
};
extern enum stopwatch stopwatch;

/* Each thread has a stopwatch of its own.  Reading the clocks is in every
 * figure: compare with no filter.
 */
extern void stopwatch_reset (void);
extern void stopwatch_run (void);
extern void stopwatch_stop (void);

/* While it is stopped: for how long it ran since the reset. */
extern struct spent stopwatch_read (void);

/* Nanoseconds on any clock; 0 if there is no such clock (any more). */
extern uint64_t clock_read (clockid_t clock);

#endif /* LOAD_STOPWATCH_H */
