/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A log-linear histogram of latencies in nanoseconds.
 *
 * An octave (the values from 2^e to 2^(e+1) - 1) is cut into 64 bins of
 * the same width.  Below 128 ns a bin is one nanosecond wide:
 *
 *   values        width   bins
 *   0..127        1       0..127         exact
 *   128..255      2       128..191
 *   256..511      4       192..255
 *   2^e..         2^(e-6) (e-5) * 64 + 0..63
 *   2^41..2^42-1  2^35    2304..2367
 *   2^42..                counted apart, as overflow (73 minutes and more)
 *
 * Error: a value is reported as the middle of its bin.  The bin that
 * begins at b has the width w <= b / 64, so the middle is at most w / 2
 * <= b / 128 away from any value v >= b in it: less than 0.8 % of v.
 */

#ifndef STATS_HISTOGRAM_H
#define STATS_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_STEP_BITS 6                       /* 64 steps an octave */
#define HISTOGRAM_STEPS (1u << HISTOGRAM_STEP_BITS)
#define HISTOGRAM_VALUE_BITS 42                     /* up to 2^42 - 1 */
#define HISTOGRAM_BINS \
  ((HISTOGRAM_VALUE_BITS - HISTOGRAM_STEP_BITS + 1) * HISTOGRAM_STEPS)

/* One more bin than that: the last counts the overflow. */
#define HISTOGRAM_OVERFLOW HISTOGRAM_BINS
#define HISTOGRAM_ALL (HISTOGRAM_BINS + 1)

/* The bin of a value, HISTOGRAM_OVERFLOW if there is none. */
static inline unsigned
histogram_bin (uint64_t value)
{
  unsigned shift;

  if (value < 2 * HISTOGRAM_STEPS)
    return (unsigned) value;
  if (value >> HISTOGRAM_VALUE_BITS)
    return HISTOGRAM_OVERFLOW;
  shift = 63 - (unsigned) __builtin_clzll (value) - HISTOGRAM_STEP_BITS;
  return shift * HISTOGRAM_STEPS + (unsigned) (value >> shift);
}

/* The lowest value of a bin. */
extern uint64_t histogram_low (unsigned bin);

/* The value that stands for all of a bin: its middle. */
extern uint64_t histogram_middle (unsigned bin);

/* How many values there are in all bins. */
extern uint64_t histogram_count (const uint64_t bins[HISTOGRAM_ALL]);

/* The percentile by nearest rank: the smallest value such that at least
 * that share of all values is not above it, within the error above and
 * never outside [min, max], the true bounds of the values.  thousandths
 * is the share in thousandths of a percent (99900 for 99.9 %).  Returns 0
 * where there is no value.
 */
extern uint64_t histogram_percentile (const uint64_t bins[HISTOGRAM_ALL],
                                      unsigned thousandths,
                                      uint64_t min, uint64_t max);

/* The same with a quarter of the memory: four bins are one, which has their
 * number / 4.  The one that begins at b has the width w <= b / 16 or 4, so
 * its middle is off by no more than b / 32, 3.2 % of a value, or 2 ns.
 */
#define COARSE_STEP_BITS 2
#define COARSE_BINS (HISTOGRAM_BINS >> COARSE_STEP_BITS)

/* One more bin than that: the last counts the overflow. */
#define COARSE_ALL (COARSE_BINS + 1)

static inline unsigned
coarse_bin (uint64_t value)
{
  return histogram_bin (value) >> COARSE_STEP_BITS;
}

/* Add what is counted in bins. */
extern void coarse_add (uint64_t coarse[COARSE_ALL],
                        const uint64_t bins[HISTOGRAM_ALL]);

/* As above, within the error of coarse bins, and where [min, max] are wider
 * than the true bounds never outside of these.
 */
extern uint64_t coarse_percentile (const uint64_t coarse[COARSE_ALL],
                                   unsigned thousandths,
                                   uint64_t min, uint64_t max);

#endif /* STATS_HISTOGRAM_H */
