/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Statistics against what was published, and against what can be counted
 * on one's fingers.  test-tool-statistics.sh holds them against SciPy's.
 */

#include <config.h>

#include <math.h>

#include "statistics.h"
#include "unit.h"

#define SAMPLE(...) \
  (const double[]) { __VA_ARGS__ }, LENGTH (((double[]) { __VA_ARGS__ }))

#define assert_near(a, b) assert_within (a, b, 1e-12)
#define assert_nan(x) assert_true (isnan (x))

/* Cmocka 1 has this for floats only, and for it NaN is near anything. */
static void
assert_within (double got, double expected, double error)
{
  if (!(fabs (got - expected) <= error))
    fail_msg ("%.17g is not %.17g", got, expected);
}

static void
test_sort (void **state)
{
  double x[] = { 3, -1, 2, 2, 10 };
  const double sorted[] = { -1, 2, 2, 3, 10 };

  (void) state;
  sort_sample (x, LENGTH (x));
  assert_memory_equal (x, sorted, sizeof x);
  sort_sample (NULL, 0);
}

/* Of NIST's Statistical Reference Datasets: NumAcc1 and NumAcc3. */
static void
test_mean_and_stddev (void **state)
{
  double acc3[1001] = { 1000000.2 };

  (void) state;
  assert_true (sample_mean (SAMPLE (10000001, 10000002, 10000003))
               == 10000002);
  assert_true (sample_stddev (SAMPLE (10000001, 10000002, 10000003)) == 1);
  for (unsigned i = 1; i < LENGTH (acc3); i++)
    acc3[i] = i % 2 ? 1000000.1 : 1000000.3;
  assert_within (sample_mean (acc3, LENGTH (acc3)), 1000000.2, 1e-9);
  assert_within (sample_stddev (acc3, LENGTH (acc3)), 0.1, 1e-9);
}

/* No deviation of one number, and no figure of none. */
static void
test_few (void **state)
{
  (void) state;
  assert_true (sample_mean (SAMPLE (7)) == 7);
  assert_true (sample_quantile (SAMPLE (7), 0.5) == 7);
  assert_nan (sample_stddev (SAMPLE (7)));
  assert_nan (sample_mean (NULL, 0));
  assert_nan (sample_stddev (NULL, 0));
  assert_nan (sample_quantile (NULL, 0, 0.5));
}

/* Equal numbers have exactly no deviation, whatever binary makes of them. */
static void
test_equal (void **state)
{
  (void) state;
  assert_true (sample_stddev (SAMPLE (0.1, 0.1, 0.1, 0.1, 0.1, 0.1)) == 0);
  assert_true (sample_mean (SAMPLE (0.1, 0.1, 0.1)) == 0.1);
  assert_true (mann_whitney (SAMPLE (3, 3, 3, 3), SAMPLE (3, 3, 3)).p == 1);
}

/* As R gives them: quantile (c (1, 2, 4, 8), type = 7). */
static void
test_quantile (void **state)
{
  (void) state;
  assert_near (sample_quantile (SAMPLE (1, 2, 4, 8), 0), 1);
  assert_near (sample_quantile (SAMPLE (1, 2, 4, 8), 0.25), 1.75);
  assert_near (sample_quantile (SAMPLE (1, 2, 4, 8), 0.5), 3);
  assert_near (sample_quantile (SAMPLE (1, 2, 4, 8), 0.75), 5);
  assert_near (sample_quantile (SAMPLE (1, 2, 4, 8), 1), 8);
  assert_near (sample_quantile (SAMPLE (1, 2, 4), 0.5), 2);
}

static void
test_outlier (void **state)
{
  (void) state;
  /* Quartiles 2 and 4: the fences are at -1 and 7. */
  assert_false (sample_outlier (SAMPLE (1, 2, 3, 4, 7), 7));
  assert_true (sample_outlier (SAMPLE (1, 2, 3, 4, 7.1), 7.1));
  assert_false (sample_outlier (SAMPLE (-1, 2, 3, 4, 5), -1));
  assert_true (sample_outlier (SAMPLE (-1.1, 2, 3, 4, 5), -1.1));
  assert_false (sample_outlier (SAMPLE (5), 5));
}

/* Permeability of the human chorioamnion, the example in chapter 4 of
 * Hollander and Wolfe: one-sided p = 0.1272, the estimate of the shift is
 * 0.305.
 */
#define TERM 0.73, 0.80, 0.83, 1.04, 1.38, 1.45, 1.46, 1.64, 1.89, 1.91
#define EARLY 0.74, 0.88, 0.90, 1.15, 1.21

static void
test_published (void **state)
{
  const struct rank_test test = mann_whitney (SAMPLE (TERM), SAMPLE (EARLY));

  (void) state;
  assert_true (test.exact);
  assert_near (test.u, 35);
  assert_near (test.superiority, 0.7);
  assert_within (test.p / 2, 0.1272, 0.00005);
  assert_near (test.p, 764.0 / 3003);
}

/* The same on a logarithmic scale: the shift becomes a ratio. */
static void
test_published_ratio (void **state)
{
  double term[] = { TERM }, early[] = { EARLY };
  struct ratio_interval interval;

  (void) state;
  for (unsigned i = 0; i < LENGTH (term); i++)
    term[i] = exp (term[i]);
  for (unsigned i = 0; i < LENGTH (early); i++)
    early[i] = exp (early[i]);
  interval = ratio_interval (term, LENGTH (term), early, LENGTH (early),
                             0.95);
  assert_within (log (interval.ratio), 0.305, 1e-9);
  /* The 9th smallest and largest of 50: P (u <= 8) = 0.0200, and P (u <= 9)
   * = 0.0276.
   */
  assert_within (log (interval.low), -0.15, 1e-9);
  assert_within (log (interval.high), 0.76, 1e-9);
}

/* What is furthest out has two of all ways to deal. */
static void
test_furthest (void **state)
{
  (void) state;
  assert_near (mann_whitney (SAMPLE (1, 2, 3, 4, 5),
                             SAMPLE (6, 7, 8, 9, 10)).p, 2.0 / 252);
  assert_near (mann_whitney (SAMPLE (5, 6, 7, 8),
                             SAMPLE (1, 2, 3, 4)).p, 2.0 / 70);
  assert_near (mann_whitney (SAMPLE (5, 6, 7), SAMPLE (1, 2, 3)).p, 0.1);
  assert_true (mann_whitney (SAMPLE (1), SAMPLE (2)).p == 1);
  assert_true (mann_whitney (SAMPLE (1, 2, 3, 4, 5),
                             SAMPLE (6, 7, 8, 9, 10)).superiority == 0);
  assert_near (smallest_p (5, 5), 2.0 / 252);
  assert_near (smallest_p (4, 4), 2.0 / 70);
  assert_near (smallest_p (3, 3), 0.1);
  assert_true (smallest_p (1, 1) == 1);
  assert_true (smallest_p (0, 5) == 1);
  /* Just what is significant, on either side. */
  assert_true (smallest_p (1, 39) == 0.05);
  assert_true (smallest_p (39, 1) == 0.05);
}

/* All 10 ways to deal two of 1, 2, 2, 2, 3 have the rank sums 4 (3 times),
 * 6 (once, 1 and 3), 6 (3 times, 2 and 2) and 8 (3 times).
 */
static void
test_ties (void **state)
{
  const struct rank_test low = mann_whitney (SAMPLE (1, 2),
                                             SAMPLE (2, 2, 3));
  const struct rank_test middle = mann_whitney (SAMPLE (1, 3),
                                                SAMPLE (2, 2, 2));

  (void) state;
  assert_near (low.u, 1);
  assert_near (low.p, 2 * 0.3);
  assert_near (low.superiority, 1.0 / 6);
  assert_true (middle.p == 1);
  assert_near (middle.superiority, 0.5);
}

static void
test_empty (void **state)
{
  const struct rank_test test = mann_whitney (NULL, 0, SAMPLE (1, 2));

  (void) state;
  assert_nan (test.p);
  assert_nan (test.superiority);
  assert_nan (mann_whitney (SAMPLE (1, 2), NULL, 0).p);
  assert_nan (ratio_interval (NULL, 0, SAMPLE (1, 2), 0.95).ratio);
  assert_nan (ratio_interval (SAMPLE (1, 2), NULL, 0, 0.95).ratio);
}

/* With so many that it is no more exact: equal samples, and others. */
static void
test_many (void **state)
{
  double a[1000], b[1000];
  struct rank_test test;
  struct ratio_interval interval;

  (void) state;
  for (unsigned i = 0; i < LENGTH (a); i++) {
    a[i] = 1000 + i;
    b[i] = 1.25 * a[i];
  }
  test = mann_whitney (a, LENGTH (a), a, LENGTH (a));
  assert_false (test.exact);
  assert_true (test.p == 1);
  test = mann_whitney (b, LENGTH (b), a, LENGTH (a));
  assert_true (test.p < 1e-50 && test.superiority > 0.5);
  interval = ratio_interval (b, LENGTH (b), a, LENGTH (a), CONFIDENCE);
  assert_within (interval.ratio, 1.25, 1e-9);
  assert_in_range (interval.low * 100, 121, 124);
  assert_in_range (interval.high * 100, 126, 129);
}

/* The last exact one and the first that is not say nearly the same. */
static void
test_limit (void **state)
{
  double a[EXACT_RUNS / 2 + 1], b[EXACT_RUNS / 2];
  struct rank_test exact, normal;

  (void) state;
  for (unsigned i = 0; i < LENGTH (a); i++)
    a[i] = 10 * i + 27;
  for (unsigned i = 0; i < LENGTH (b); i++)
    b[i] = 10 * i;
  exact = mann_whitney (a, LENGTH (a) - 1, b, LENGTH (b));
  normal = mann_whitney (a, LENGTH (a), b, LENGTH (b));
  assert_true (exact.exact && !normal.exact);
  assert_in_range (exact.p * 1000, 240, 260);
  assert_in_range (normal.p * 1000, 150, 260);
  assert_true (exact.p > normal.p);
}

/* Of twice as large numbers the ratio is 2, in either unit. */
static void
test_ratio (void **state)
{
  const struct ratio_interval r = ratio_interval (SAMPLE (2, 4, 6, 8, 10),
                                                  SAMPLE (1, 2, 3, 4, 5),
                                                  0.95);

  (void) state;
  assert_near (r.ratio, 2);
  /* The third smallest and largest of 25 pairs: P (u <= 2) = 4 / 252. */
  assert_near (r.low, 2.0 / 3);
  assert_near (r.high, 6);
}

/* An even number of pairs: the geometric mean of the middle two. */
static void
test_ratio_even (void **state)
{
  (void) state;
  assert_near (ratio_interval (SAMPLE (1, 4), SAMPLE (1), 0.95).ratio, 2);
  assert_near (ratio_interval (SAMPLE (1, 9), SAMPLE (1, 1), 0.95).ratio, 3);
}

/* Three and three cannot have a confidence of 95 %, but of 90 %. */
static void
test_ratio_few (void **state)
{
  struct ratio_interval r = ratio_interval (SAMPLE (2, 3, 4),
                                            SAMPLE (1, 2, 3), 0.95);

  (void) state;
  assert_false (isnan (r.ratio));
  assert_nan (r.low);
  assert_nan (r.high);
  r = ratio_interval (SAMPLE (2, 3, 4), SAMPLE (1, 2, 3), 0.9);
  assert_near (r.low, 2.0 / 3);
  assert_near (r.high, 4);
  assert_nan (ratio_interval (SAMPLE (5), SAMPLE (2), 0.95).low);
  assert_near (ratio_interval (SAMPLE (5), SAMPLE (2), 0.95).ratio, 2.5);
}

static void
test_ratio_not_positive (void **state)
{
  (void) state;
  assert_nan (ratio_interval (SAMPLE (0, 1), SAMPLE (1, 2), 0.95).ratio);
  assert_nan (ratio_interval (SAMPLE (1, 2), SAMPLE (-1, 2), 0.95).ratio);
  assert_nan (ratio_interval (SAMPLE (1, INFINITY), SAMPLE (1),
                              0.95).ratio);
}

/* Numbers so far apart that a ratio has no place: an end all the same. */
static void
test_ratio_extreme (void **state)
{
  (void) state;
  assert_true (isinf (ratio_interval (SAMPLE (1e300), SAMPLE (1e-300),
                                      0.95).ratio));
  assert_true (ratio_interval (SAMPLE (1e-300), SAMPLE (1e300),
                               0.95).ratio < 1e-300);
}

/* R's p.adjust (c (0.01, 0.04, 0.03, 0.005), "holm"). */
static void
test_holm (void **state)
{
  double p[] = { 0.01, 0.04, 0.03, 0.005 };
  double large[] = { 0.9, 0.8 };
  double some[] = { NAN, 0.02, NAN, 0.01 };

  (void) state;
  holm_adjust (p, LENGTH (p));
  assert_near (p[0], 0.03);
  assert_near (p[1], 0.06);
  assert_near (p[2], 0.06);
  assert_near (p[3], 0.02);
  holm_adjust (large, LENGTH (large));
  assert_true (large[0] == 1 && large[1] == 1);
  holm_adjust (some, LENGTH (some));
  assert_nan (some[0]);
  assert_near (some[1], 0.02);
  assert_nan (some[2]);
  assert_near (some[3], 0.02);
  holm_adjust (NULL, 0);
}

/* With the same numbers on either side a difference is told no more often
 * than the p-value says: over all ways to deal five and five.
 */
static void
test_level (void **state)
{
  unsigned told = 0, ways = 0;

  (void) state;
  for (unsigned deal = 0; deal < 1u << 10; deal++) {
    double a[10], b[10];
    size_t na = 0, nb = 0;

    if (__builtin_popcount (deal) != 5)
      continue;
    for (unsigned i = 0; i < 10; i++) {
      if (deal >> i & 1)
        a[na++] = i;
      else
        b[nb++] = i;
    }
    ways++;
    told += mann_whitney (a, na, b, nb).p <= SIGNIFICANT_P;
  }
  assert_int_equal (ways, 252);
  /* u at most 2, on either side: 1 + 1 + 2 ways. */
  assert_int_equal (told, 8);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_sort),
    cmocka_unit_test (test_mean_and_stddev),
    cmocka_unit_test (test_few),
    cmocka_unit_test (test_equal),
    cmocka_unit_test (test_quantile),
    cmocka_unit_test (test_outlier),
    cmocka_unit_test (test_published),
    cmocka_unit_test (test_published_ratio),
    cmocka_unit_test (test_furthest),
    cmocka_unit_test (test_ties),
    cmocka_unit_test (test_empty),
    cmocka_unit_test (test_many),
    cmocka_unit_test (test_limit),
    cmocka_unit_test (test_ratio),
    cmocka_unit_test (test_ratio_even),
    cmocka_unit_test (test_ratio_few),
    cmocka_unit_test (test_ratio_not_positive),
    cmocka_unit_test (test_ratio_extreme),
    cmocka_unit_test (test_holm),
    cmocka_unit_test (test_level),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
