/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "histogram.h"

/* How far the values of a bin were shifted to find it. */
static unsigned
bin_shift (unsigned bin)
{
  return bin < 2 * HISTOGRAM_STEPS ? 0 : bin / HISTOGRAM_STEPS - 1;
}

uint64_t
histogram_low (unsigned bin)
{
  const unsigned shift = bin_shift (bin);

  return (uint64_t) (bin - shift * HISTOGRAM_STEPS) << shift;
}

uint64_t
histogram_middle (unsigned bin)
{
  return histogram_low (bin) + (UINT64_C (1) << bin_shift (bin)) / 2;
}

uint64_t
histogram_count (const uint64_t bins[HISTOGRAM_ALL])
{
  uint64_t count = 0;

  for (unsigned bin = 0; bin < HISTOGRAM_ALL; bin++)
    count += bins[bin];
  return count;
}

/* ceil (count * share), and at least 1: in integers, since 99.9 % of 1000
 * is not a whole number in binary floating point.
 */
static uint64_t
nearest_rank (uint64_t count, unsigned thousandths)
{
  const unsigned __int128 scaled = (unsigned __int128) count * thousandths;
  const uint64_t rank = (uint64_t) ((scaled + 99999) / 100000);

  return rank ? rank : 1;
}

static uint64_t
clamp (uint64_t value, uint64_t min, uint64_t max)
{
  if (value < min)
    return min;
  return value > max ? max : value;
}

uint64_t
histogram_percentile (const uint64_t bins[HISTOGRAM_ALL],
                      unsigned thousandths, uint64_t min, uint64_t max)
{
  const uint64_t count = histogram_count (bins);
  const uint64_t rank = nearest_rank (count, thousandths);
  uint64_t seen = 0;

  if (count == 0)
    return 0;
  for (unsigned bin = 0; bin < HISTOGRAM_BINS; bin++) {
    seen += bins[bin];
    if (seen >= rank)
      return clamp (histogram_middle (bin), min, max);
  }
  return max;
}
