/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What measurements that were repeated prove: numbers in, numbers out.
 *
 * A sample is an array of n finite numbers in ascending order, as
 * sort_sample leaves it: one number a run, of any unit, in which the runs
 * that failed have none.  Nothing is assumed of how the numbers are
 * distributed: times of runs are mostly skewed, and seldom normal.
 *
 * Where a figure does not exist, as the deviation of one number, it is NaN;
 * json_real writes that as null.  Nothing here fails, and any thread may
 * call it.
 */

#ifndef TOOLS_STATISTICS_H
#define TOOLS_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* What people hold a p-value against, and the confidence that goes with it. */
#define SIGNIFICANT_P 0.05
#define CONFIDENCE 0.95

extern void sort_sample (double *x, size_t n);

/* NaN of no number. */
extern double sample_mean (const double *x, size_t n);

/* The standard deviation of what the sample was taken from: the sum of the
 * squares of the distances from the mean, divided by n - 1, and of that
 * the root.  NaN of fewer than two.
 */
extern double sample_stddev (const double *x, size_t n);

/* The value below which the share q of the sample lies, 0 <= q <= 1,
 * straight between the two that are nearest: type 7 of R. J. Hyndman and
 * Y. Fan, Sample Quantiles in Statistical Packages, The American
 * Statistician 50 (1996), which is what R, NumPy and spreadsheets give.
 * q = 0.5 is the median.  NaN of no number.
 */
extern double sample_quantile (const double *x, size_t n, double q);

/* Whether value lies outside of the fences of J. W. Tukey, Exploratory Data
 * Analysis (1977): more than 1.5 times the distance of the quartiles below
 * the lower or above the upper one.
 */
extern bool sample_outlier (const double *x, size_t n, double value);

/* Are the numbers of one sample larger than those of another?
 *
 * H. B. Mann and D. R. Whitney, On a Test of Whether One of Two Random
 * Variables is Stochastically Larger than the Other, Annals of Mathematical
 * Statistics 18 (1947).  Of all pairs of one number out of each, u is in
 * how many that of a is the larger; equal ones count as a half.  The
 * p-value is how often a u at least as far out, to either side, comes about
 * by chance where there is no difference: twice the smaller tail, at most
 * 1.
 *
 * Up to EXACT_RUNS numbers in all it is counted over all ways in which the
 * numbers that are there can be dealt to the two samples, and so exact with
 * equal numbers, too.  Beyond, it is that of the normal distribution with
 * u's mean and variance, corrected for continuity and for equal numbers:
 * M. Hollander and D. A. Wolfe, Nonparametric Statistical Methods, 2nd
 * edition (1999), section 4.1.
 */
#define EXACT_RUNS 50

struct rank_test {
  double u;
  double p;                     /* NaN where a sample is empty */
  bool exact;

  /* The size of the effect: how likely a number of a is larger than one of
   * b, where equal ones count as a half; 0.5 is no effect.  A. Vargha and
   * H. D. Delaney, A Critique and Improvement of the CL Common Language
   * Effect Size Statistics of McGraw and Wong, Journal of Educational and
   * Behavioral Statistics 25 (2000).  NaN where a sample is empty.
   */
  double superiority;
};

extern struct rank_test mann_whitney (const double *a, size_t na,
                                      const double *b, size_t nb);

/* The smallest p that samples of that many numbers can have: where it is
 * above SIGNIFICANT_P, as with three numbers each, nothing can be proven,
 * whatever the numbers are.
 */
extern double smallest_p (size_t na, size_t nb);

/* How many times as large as the numbers of b are those of a?
 *
 * The estimate of J. L. Hodges and E. L. Lehmann, Estimates of Location
 * Based on Rank Tests, Annals of Mathematical Statistics 34 (1963), on a
 * logarithmic scale: the median of the ratios of all pairs, where of an
 * even number of them it is the geometric mean of the middle two.  The
 * interval is the one of L. E. Moses that belongs to mann_whitney
 * (Hollander and Wolfe, section 4.3): between the k-th smallest and the
 * k-th largest ratio, where k is the largest with which the true ratio lies
 * in it with at least the confidence asked for, 0.95 for example.  Exact as
 * above; equal numbers make it a little wider than it needs to be.
 *
 * All is NaN where a sample is empty or has a number that is not above 0.
 * low and high are NaN where so few numbers cannot have that confidence.
 */
struct ratio_interval {
  double ratio;
  double low, high;
};

extern struct ratio_interval ratio_interval (const double *a, size_t na,
                                             const double *b, size_t nb,
                                             double confidence);

/* Several tests at once: replace each of n p-values by the one that stands
 * for it when all are looked at together, so that the chance that any of
 * them claims what is not so stays what a single p-value says.  S. Holm, A
 * Simple Sequentially Rejective Multiple Test Procedure, Scandinavian
 * Journal of Statistics 6 (1979).  A p that is NaN is no test, does not
 * count and stays.  Without memory each is multiplied by how many there
 * are, which never claims more.
 */
extern void holm_adjust (double *p, size_t n);

#endif /* TOOLS_STATISTICS_H */
