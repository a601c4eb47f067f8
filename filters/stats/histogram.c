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

static uint64_t
count_values (const uint64_t *bins, unsigned nr)
{
  uint64_t count = 0;

  for (unsigned bin = 0; bin < nr; bin++)
    count += bins[bin];
  return count;
}

uint64_t
histogram_count (const uint64_t bins[HISTOGRAM_ALL])
{
  return count_values (bins, HISTOGRAM_ALL);
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

/* The bin of the value that has this rank, or the last, which is no bin. */
static unsigned
ranked_bin (const uint64_t *bins, unsigned last, uint64_t rank)
{
  uint64_t seen = 0;
  unsigned bin;

  for (bin = 0; bin < last; bin++) {
    seen += bins[bin];
    if (seen >= rank)
      break;
  }
  return bin;
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
  unsigned bin;

  if (count == 0)
    return 0;
  bin = ranked_bin (bins, HISTOGRAM_BINS, nearest_rank (count, thousandths));
  return bin < HISTOGRAM_BINS ? clamp (histogram_middle (bin), min, max) : max;
}

void
coarse_add (uint64_t coarse[COARSE_ALL], const uint64_t bins[HISTOGRAM_ALL])
{
  for (unsigned bin = 0; bin < HISTOGRAM_ALL; bin++)
    coarse[bin >> COARSE_STEP_BITS] += bins[bin];
}

/* The middle of four bins is where the third begins. */
uint64_t
coarse_percentile (const uint64_t coarse[COARSE_ALL], unsigned thousandths,
                   uint64_t min, uint64_t max)
{
  const uint64_t count = count_values (coarse, COARSE_ALL);
  unsigned bin;

  if (count == 0)
    return 0;
  bin = ranked_bin (coarse, COARSE_BINS, nearest_rank (count, thousandths));
  return bin < COARSE_BINS
    ? clamp (histogram_low ((bin << COARSE_STEP_BITS) + 2), min, max) : max;
}
