/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Busy time: the time with at least one request in flight.
 *
 * It is the length of the union of the requests' intervals.  Where the
 * intervals come in the order of their begins, the union needs no more
 * than a watermark: all time before it is settled, and an interval adds
 * what it has beyond it.
 *
 *   time   ------------------------------->
 *   1st    [=========]                        adds its whole length
 *   2nd       [===]                           adds nothing
 *   3rd            [=======]                  adds what is after the 1st
 *   4th                        [====]         adds its whole length
 *
 * An interval that comes late, behind one that began after it, loses at
 * most the part of it that lies before the watermark: the sum is never
 * more than the true union, and so never more than the time that passed.
 */

#ifndef STATS_BUSY_H
#define STATS_BUSY_H

#include <stdint.h>

struct busy {
  uint64_t ns;                  /* length of the union so far */
  uint64_t until;               /* the watermark, on the requests' clock */
};

/* Add the interval from begin to end, in nanoseconds of one clock.
 * Not thread-safe: the caller has the lock.
 */
static inline void
busy_add (struct busy *busy, uint64_t begin, uint64_t end)
{
  const uint64_t from = begin > busy->until ? begin : busy->until;

  if (end >= from) {
    busy->ns += end - from;
    busy->until = end;
  }
}

#endif /* STATS_BUSY_H */
