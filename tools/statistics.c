/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "statistics.h"

/* One sample. */

static int
compare_numbers (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

void
sort_sample (double *x, size_t n)
{
  if (n > 1)
    qsort (x, n, sizeof *x, compare_numbers);
}

/* In two passes, so that the mean of equal numbers is that number. */
double
sample_mean (const double *x, size_t n)
{
  double sum = 0, rest = 0, mean;

  if (n == 0)
    return NAN;
  for (size_t i = 0; i < n; i++)
    sum += x[i];
  mean = sum / (double) n;
  for (size_t i = 0; i < n; i++)
    rest += x[i] - mean;
  return mean + rest / (double) n;
}

double
sample_stddev (const double *x, size_t n)
{
  const double mean = sample_mean (x, n);
  double squares = 0;

  if (n < 2)
    return NAN;
  for (size_t i = 0; i < n; i++)
    squares += (x[i] - mean) * (x[i] - mean);
  return sqrt (squares / (double) (n - 1));
}

double
sample_quantile (const double *x, size_t n, double q)
{
  double place, rest;
  size_t i;

  if (n == 0)
    return NAN;
  place = q * (double) (n - 1);
  i = (size_t) place;
  rest = place - (double) i;
  return rest > 0 && i + 1 < n ? x[i] + rest * (x[i + 1] - x[i]) : x[i];
}

bool
sample_outlier (const double *x, size_t n, double value)
{
  const double low = sample_quantile (x, n, 0.25);
  const double high = sample_quantile (x, n, 0.75);
  const double fence = 1.5 * (high - low);

  return value < low - fence || value > high + fence;
}

/* Ranks.  Equal numbers share the mean of their places, so all ranks are
 * doubled: those are integers.
 */

/* Two samples, merged. */
struct merge {
  const double *a, *b;
  size_t na, nb;
  size_t ia, ib;                /* how many were taken */
};

/* Take the next numbers that are equal: how many there are out of each. */
static void
merge_next (struct merge *m, size_t *from_a, size_t *from_b)
{
  const bool a_left = m->ia < m->na, b_left = m->ib < m->nb;
  const double value = !b_left || (a_left && m->a[m->ia] < m->b[m->ib])
    ? m->a[m->ia] : m->b[m->ib];
  const size_t ia = m->ia, ib = m->ib;

  while (m->ia < m->na && m->a[m->ia] == value)
    m->ia++;
  while (m->ib < m->nb && m->b[m->ib] == value)
    m->ib++;
  *from_a = m->ia - ia;
  *from_b = m->ib - ib;
}

/* What follows from the order of all numbers. */
struct ranking {
  double rank_sum;              /* of those of a, doubled */
  double ties;                  /* sum of t^3 - t over t equal numbers */
  unsigned ranks[EXACT_RUNS];   /* doubled, if there are no more */
};

static void
rank (struct merge m, struct ranking *ranking)
{
  size_t place = 0, from_a, from_b;

  *ranking = (struct ranking) { .rank_sum = 0 };
  while (place < m.na + m.nb) {
    double t, doubled;

    merge_next (&m, &from_a, &from_b);
    t = (double) (from_a + from_b);
    doubled = 2 * (double) place + t + 1;
    ranking->rank_sum += (double) from_a * doubled;
    ranking->ties += t * t * t - t;
    for (size_t i = from_a + from_b; i > 0; i--, place++) {
      if (place < EXACT_RUNS)
        ranking->ranks[place] = (unsigned) doubled;
    }
  }
}

/* The exact distribution: in how many ways k of n ranks have each sum.
 *
 *   ways (ranks with one more, k, sum)
 *     = ways (ranks, k, sum) + ways (ranks, k - 1, sum - that one)
 */

#define MAX_SUM (EXACT_RUNS * (EXACT_RUNS + 1)) /* of all ranks, doubled */

struct distribution {
  double ways[EXACT_RUNS + 1][MAX_SUM + 1];
};

/* Returns NULL where there is no memory. */
static struct distribution *
distribution_new (const unsigned *ranks, size_t n, size_t k)
{
  struct distribution *d = calloc (1, sizeof *d);
  size_t most = 0;

  if (d == NULL)
    return NULL;
  d->ways[0][0] = 1;
  for (size_t i = 0; i < n; i++) {
    most += ranks[i];
    for (size_t j = i + 1 < k ? i + 1 : k; j > 0; j--) {
      for (size_t sum = most; sum >= ranks[i]; sum--)
        d->ways[j][sum] += d->ways[j - 1][sum - ranks[i]];
    }
  }
  return d;
}

/* How likely a sum of k of them is at most, or at least, that. */

static double
all_ways (const struct distribution *d, size_t k)
{
  double all = 0;

  for (size_t i = 0; i <= MAX_SUM; i++)
    all += d->ways[k][i];
  return all;
}

static double
at_most (const struct distribution *d, size_t k, double sum)
{
  double ways = 0;

  for (size_t i = 0; i <= MAX_SUM && (double) i <= sum; i++)
    ways += d->ways[k][i];
  return ways / all_ways (d, k);
}

static double
at_least (const struct distribution *d, size_t k, double sum)
{
  double ways = 0;

  for (size_t i = MAX_SUM; i > 0 && (double) i >= sum; i--)
    ways += d->ways[k][i];
  return ways / all_ways (d, k);
}

/* The normal distribution in its place. */

static double
u_stddev (double na, double nb, double ties)
{
  const double n = na + nb;
  const double tied = n > 1 ? ties / (n * (n - 1)) : 0;

  return sqrt (na * nb / 12 * (n + 1 - tied));
}

static double
normal_p (double u, double na, double nb, double ties)
{
  const double stddev = u_stddev (na, nb, ties);
  const double distance = fabs (u - na * nb / 2) - 0.5;

  return stddev > 0 && distance > 0
    ? erfc (distance / stddev / sqrt (2)) : 1;
}

struct rank_test
mann_whitney (const double *a, size_t na, const double *b, size_t nb)
{
  struct rank_test test = { .u = NAN, .p = NAN, .superiority = NAN };
  const double pairs = (double) na * (double) nb;
  struct distribution *d = NULL;
  struct ranking ranking;

  if (na == 0 || nb == 0)
    return test;
  rank ((struct merge) { .a = a, .b = b, .na = na, .nb = nb }, &ranking);
  test.u = (ranking.rank_sum - (double) na * (double) (na + 1)) / 2;
  test.superiority = test.u / pairs;
  if (na + nb <= EXACT_RUNS)
    d = distribution_new (ranking.ranks, na + nb, na);
  test.exact = d != NULL;
  if (d)
    test.p = fmin (1, 2 * fmin (at_most (d, na, ranking.rank_sum),
                                at_least (d, na, ranking.rank_sum)));
  else
    test.p = normal_p (test.u, (double) na, (double) nb, ranking.ties);
  free (d);
  return test;
}

/* Two of all ways to choose na of na + nb lie furthest out.  The fewer are
 * chosen, the less is rounded: of 1 and 39 it is just 0.05.
 */
double
smallest_p (size_t na, size_t nb)
{
  const size_t fewer = na < nb ? na : nb;
  double p = 2;

  for (size_t i = 1; i <= fewer; i++)
    p *= (double) i / (double) (na + nb - fewer + i);
  return fmin (1, p);
}

/* The ratio. */

static bool
is_positive (const double *x, size_t n)
{
  return n > 0 && x[0] > 0 && isfinite (x[n - 1]);
}

/* How many of all ratios a / b are at most that.  With a larger a there
 * are fewer b to it, never more.
 */
static double
count_ratios (const double *a, size_t na, const double *b, size_t nb,
              double most)
{
  double count = 0;
  size_t j = 0;

  for (size_t i = 0; i < na; i++) {
    while (j < nb && a[i] / b[j] > most)
      j++;
    count += (double) (nb - j);
  }
  return count;
}

/* The k-th smallest of all ratios, from 1, without having them all: low
 * has fewer than k at most it and high has k, until nothing is between.
 */
static double
nth_ratio (const double *a, size_t na, const double *b, size_t nb, double k)
{
  double low = 0, high = a[na - 1] / b[0];

  for (;;) {
    const double middle = low + (high - low) / 2;

    if (middle <= low || middle >= high)
      return high;
    if (count_ratios (a, na, b, nb, middle) >= k)
      high = middle;
    else
      low = middle;
  }
}

static double
median_ratio (const double *a, size_t na, const double *b, size_t nb)
{
  const double pairs = (double) na * (double) nb;
  const double low = nth_ratio (a, na, b, nb, floor ((pairs + 1) / 2));
  const double high = nth_ratio (a, na, b, nb, floor (pairs / 2) + 1);

  return low < high ? sqrt (low) * sqrt (high) : low;
}

/* Whether that is left between two tails that are as likely as this one.
 * Not (1 - confidence) / 2 <= tail: 1 - 0.9 is less than 0.1, so that a tail
 * of 1 / 20 would be too much.
 */
static bool
is_left (double tail, double confidence)
{
  return 1 - 2 * tail >= confidence;
}

/* The largest k with which u < k is so unlikely that the confidence is
 * left, for samples without equal numbers.  The smallest sum of na ranks
 * belongs to u = 0.
 */
static double
exact_place (size_t na, size_t nb, double confidence)
{
  unsigned ranks[EXACT_RUNS];
  struct distribution *d;
  double k = 0;

  for (unsigned i = 0; i < na + nb; i++)
    ranks[i] = 2 * (i + 1);
  d = distribution_new (ranks, na + nb, na);
  if (d) {
    const double least = (double) na * (double) (na + 1);

    while (is_left (at_most (d, na, least + 2 * k), confidence))
      k++;
  }
  free (d);
  return k;
}

static double
normal_place (double na, double nb, double confidence)
{
  const double mean = na * nb / 2, stddev = u_stddev (na, nb, 0);
  double low = 0, high = ceil (mean);

  while (high - low > 1) {
    const double k = floor ((low + high) / 2);

    if (is_left (erfc ((mean - (k - 0.5)) / stddev / sqrt (2)) / 2,
                 confidence))
      low = k;
    else
      high = k;
  }
  return low;
}

struct ratio_interval
ratio_interval (const double *a, size_t na, const double *b, size_t nb,
                double confidence)
{
  struct ratio_interval interval = { NAN, NAN, NAN };
  double k;

  if (!is_positive (a, na) || !is_positive (b, nb))
    return interval;
  interval.ratio = median_ratio (a, na, b, nb);
  k = na + nb <= EXACT_RUNS ? exact_place (na, nb, confidence)
    : normal_place ((double) na, (double) nb, confidence);
  if (k >= 1) {
    interval.low = nth_ratio (a, na, b, nb, k);
    interval.high = nth_ratio (a, na, b, nb,
                               (double) na * (double) nb - k + 1);
  }
  return interval;
}

/* Several tests. */

static int
compare_pointed (const void *a, const void *b)
{
  return compare_numbers (*(double *const *) a, *(double *const *) b);
}

/* Holm's factors are how many tests are left: the first has all. */
static void
adjust_in_order (double **order, size_t tests)
{
  double least = 0;

  qsort (order, tests, sizeof *order, compare_pointed);
  for (size_t i = 0; i < tests; i++) {
    least = fmax (least, fmin (1, *order[i] * (double) (tests - i)));
    *order[i] = least;
  }
}

void
holm_adjust (double *p, size_t n)
{
  double **order = calloc (n + 1, sizeof *order);
  size_t tests = 0;

  for (size_t i = 0; i < n; i++) {
    if (isnan (p[i]))
      continue;
    if (order)
      order[tests] = &p[i];
    tests++;
  }
  if (order)
    adjust_in_order (order, tests);
  else {
    for (size_t i = 0; i < n; i++)
      p[i] = isnan (p[i]) ? NAN : fmin (1, p[i] * (double) tests);
  }
  free (order);
}
