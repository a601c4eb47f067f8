/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What is kept of the latencies beside their histogram: the figures that
 * do not simply add up, and the slowest requests.
 */

#ifndef STATS_EXTREMES_H
#define STATS_EXTREMES_H

#include <stdbool.h>
#include <stdint.h>

#include "tally.h"

#define NR_SLOWEST 10

struct slow_request {
  uint64_t latency_ns;          /* 0 in an unused entry */
  uint64_t begin;               /* clock_now */
  uint64_t offset;
  uint64_t count;               /* bytes */
};

struct extremes {
  uint64_t min_ns, max_ns;      /* mean nothing before the first request */
  uint64_t squares_low;         /* sum of the squares of the latencies, */
  uint64_t squares_high;        /* in 128 bits */
  struct slow_request slowest[NR_SLOWEST]; /* the slowest first */
};

/* The second half of extremes_record: it belongs to the slowest. */
extern void extremes_slow (struct extremes *extremes,
                           const struct record *record, uint64_t latency_ns);

/* The first half: take in a latency; earlier is how many there were before.
 * Returns whether it belongs to the slowest.
 */
static inline bool
extremes_latency (struct extremes *extremes, uint64_t latency_ns,
                  uint64_t earlier)
{
  const unsigned __int128 square
    = (unsigned __int128) latency_ns * latency_ns;

  if (latency_ns < extremes->min_ns || earlier == 0)
    extremes->min_ns = latency_ns;
  extremes->squares_high += (uint64_t) (square >> 64)
    + __builtin_add_overflow (extremes->squares_low, (uint64_t) square,
                              &extremes->squares_low);
  return latency_ns > extremes->slowest[NR_SLOWEST - 1].latency_ns;
}

/* Take in a request that succeeded; earlier is how many there were before
 * it.
 */
static inline void
extremes_record (struct extremes *extremes, const struct record *record,
                 uint64_t latency_ns, uint64_t earlier)
{
  if (extremes_latency (extremes, latency_ns, earlier))
    extremes_slow (extremes, record, latency_ns);
}

/* sum += part, with how many requests are behind each. */
extern void extremes_add (struct extremes *sum, uint64_t sum_requests,
                          const struct extremes *part,
                          uint64_t part_requests);

/* Make sum what came after part: tally is that of the requests in between,
 * and begin the clock_now from which on they ended.
 */
extern void extremes_subtract (struct extremes *sum,
                               const struct extremes *part,
                               const struct tally *tally, uint64_t begin);

/* The standard deviation of the latencies of all requests, in ns.
 *
 * With x the latencies, n of them, m = floor (sum (x) / n) and
 * d = sum (x) / n - m, the rest of that division:
 *   sum ((x - m)^2) = sum (x^2) - 2 m sum (x) + n m^2
 *   variance        = sum ((x - m)^2) / n - d^2
 * The first line is worked out in integers, so nothing cancels: equal
 * latencies give exactly 0.
 */
extern double extremes_stddev (const struct extremes *extremes,
                               uint64_t requests, uint64_t latency_ns);

#endif /* STATS_EXTREMES_H */
