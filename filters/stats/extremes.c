/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <math.h>
#include <string.h>

#include "extremes.h"

static unsigned __int128
squares (const struct extremes *extremes)
{
  return (unsigned __int128) extremes->squares_high << 64
    | extremes->squares_low;
}

static void
set_squares (struct extremes *extremes, unsigned __int128 value)
{
  extremes->squares_low = (uint64_t) value;
  extremes->squares_high = (uint64_t) (value >> 64);
}

/* Put a request into its place among the slowest, if it has one. */
static void
insert_slow (struct slow_request slowest[NR_SLOWEST],
             const struct slow_request *request)
{
  struct slow_request *place = &slowest[NR_SLOWEST - 1];

  if (request->latency_ns <= place->latency_ns)
    return;
  for (; place > slowest && place[-1].latency_ns < request->latency_ns;
       place--)
    *place = place[-1];
  *place = *request;
}

/* The slowest of all is the maximum, too. */
void
extremes_slow (struct extremes *extremes, const struct record *record,
               uint64_t ns)
{
  if (ns > extremes->max_ns)
    extremes->max_ns = ns;
  insert_slow (extremes->slowest, &(struct slow_request) {
    .latency_ns = ns, .begin = record->begin,
    .offset = record->offset, .count = record->count,
  });
}

void
extremes_add (struct extremes *sum, uint64_t sum_requests,
              const struct extremes *part, uint64_t part_requests)
{
  if (part_requests == 0)
    return;
  if (sum_requests == 0 || part->min_ns < sum->min_ns)
    sum->min_ns = part->min_ns;
  if (part->max_ns > sum->max_ns)
    sum->max_ns = part->max_ns;
  set_squares (sum, squares (sum) + squares (part));
  for (unsigned i = 0; i < NR_SLOWEST; i++)
    insert_slow (sum->slowest, &part->slowest[i]);
}

/* The bounds of the latencies as far as their bins tell. */
static void
bounds_from_bins (struct extremes *extremes, const struct tally *tally)
{
  const uint64_t run_min = extremes->min_ns, run_max = extremes->max_ns;
  unsigned low = 0, high = HISTOGRAM_OVERFLOW;

  while (low < HISTOGRAM_OVERFLOW && tally->bins[low] == 0)
    low++;
  while (high > 0 && tally->bins[high] == 0)
    high--;
  if (histogram_low (low) > run_min)
    extremes->min_ns = histogram_low (low);
  if (high < HISTOGRAM_OVERFLOW && histogram_low (high + 1) - 1 < run_max)
    extremes->max_ns = histogram_low (high + 1) - 1;
}

static void
keep_slow_since (struct slow_request slowest[NR_SLOWEST], uint64_t begin)
{
  unsigned kept = 0;

  for (unsigned i = 0; i < NR_SLOWEST; i++) {
    if (slowest[i].latency_ns && slowest[i].begin + slowest[i].latency_ns
                                 >= begin)
      slowest[kept++] = slowest[i];
  }
  memset (&slowest[kept], 0, (NR_SLOWEST - kept) * sizeof slowest[0]);
}

void
extremes_subtract (struct extremes *sum, const struct extremes *part,
                   const struct tally *tally, uint64_t begin)
{
  if (tally->requests == 0) {
    memset (sum, 0, sizeof *sum);
    return;
  }
  set_squares (sum, squares (sum) - squares (part));
  bounds_from_bins (sum, tally);
  keep_slow_since (sum->slowest, begin);
}

double
extremes_stddev (const struct extremes *extremes, uint64_t requests,
                 uint64_t latency_ns)
{
  typedef unsigned __int128 u128;
  uint64_t mean;
  double rest, variance;
  u128 sum;

  if (requests == 0)
    return 0;
  mean = latency_ns / requests;
  rest = (double) (latency_ns % requests) / (double) requests;
  sum = squares (extremes) - 2 * (u128) mean * latency_ns
    + (u128) mean * mean * requests;
  variance = (double) sum / (double) requests - rest * rest;
  return variance > 0 ? sqrt (variance) : 0;
}
