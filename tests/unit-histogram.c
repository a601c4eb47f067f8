/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The bins of the histogram, and percentiles against those of the sorted
 * values themselves.
 */

#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "histogram.h"
#include "unit.h"

#define HIGHEST ((UINT64_C (1) << HISTOGRAM_VALUE_BITS) - 1)

/* Bins. */

/* They cover all values without a gap: each begins where the one before
 * it ends, and its bounds are in it.
 */
static void
test_bounds (void **state)
{
  (void) state;
  assert_int_equal (histogram_low (0), 0);
  for (unsigned bin = 0; bin < HISTOGRAM_BINS; bin++) {
    const uint64_t low = histogram_low (bin);
    const uint64_t next = histogram_low (bin + 1);

    assert_true (next > low);
    assert_int_equal (histogram_bin (low), bin);
    assert_int_equal (histogram_bin (next - 1), bin);
    assert_int_equal (histogram_bin (next), bin + 1);
  }
  assert_int_equal (histogram_low (HISTOGRAM_OVERFLOW), HIGHEST + 1);
}

static void
test_overflow (void **state)
{
  (void) state;
  assert_int_equal (histogram_bin (HIGHEST), HISTOGRAM_BINS - 1);
  assert_int_equal (histogram_bin (HIGHEST + 1), HISTOGRAM_OVERFLOW);
  assert_int_equal (histogram_bin (7200 * S), HISTOGRAM_OVERFLOW);
  assert_int_equal (histogram_bin (UINT64_MAX), HISTOGRAM_OVERFLOW);
}

/* As histogram.h has it: exact below 128 ns, then less than 0.8 %. */
static void
check_error (uint64_t value)
{
  const uint64_t middle = histogram_middle (histogram_bin (value));
  const uint64_t error = middle > value ? middle - value : value - middle;

  if (value < 128)
    assert_int_equal (error, 0);
  else
    assert_true (error * 128 <= value);
}

/* And coarse ones: 3.2 %, or 2 ns. */
static void
check_coarse_error (uint64_t value)
{
  uint64_t coarse[COARSE_ALL] = { 0 };
  uint64_t middle, error;

  coarse[coarse_bin (value)] = 1;
  middle = coarse_percentile (coarse, 50000, 0, UINT64_MAX);
  error = middle > value ? middle - value : value - middle;
  assert_true (error <= 2 || error * 32 <= value);
}

static void
test_coarse (void **state)
{
  uint64_t bins[HISTOGRAM_ALL], coarse[COARSE_ALL] = { 0 };

  (void) state;
  for (unsigned bin = 0; bin < HISTOGRAM_ALL; bin++)
    bins[bin] = bin % 4 + (bin < HISTOGRAM_BINS / 100);
  coarse_add (coarse, bins);
  coarse_add (coarse, bins);
  for (unsigned bin = 0; bin < COARSE_BINS; bin++) {
    assert_int_equal (coarse[bin],
                      2 * (bins[4 * bin] + bins[4 * bin + 1]
                           + bins[4 * bin + 2] + bins[4 * bin + 3]));
    check_coarse_error (histogram_low (4 * bin));
    check_coarse_error (histogram_low (4 * bin + 4) - 1);
  }
  assert_int_equal (coarse[COARSE_BINS], 2 * bins[HISTOGRAM_OVERFLOW]);
  assert_int_equal (coarse_bin (HIGHEST), COARSE_BINS - 1);
  assert_int_equal (coarse_bin (UINT64_MAX), COARSE_BINS);
}

static void
test_coarse_extremes (void **state)
{
  uint64_t coarse[COARSE_ALL] = { 0 };

  (void) state;
  assert_int_equal (coarse_percentile (coarse, 99000, 5, 7), 0);
  coarse[coarse_bin (1000)] = 1;
  assert_int_equal (coarse_percentile (coarse, 99000, 1000, 1000), 1000);
  coarse[COARSE_BINS] = 1;
  assert_int_equal (coarse_percentile (coarse, 50000, 1000, 7200 * S), 1008);
  assert_int_equal (coarse_percentile (coarse, 50001, 1000, 7200 * S),
                    7200 * S);
}

static void
test_error (void **state)
{
  uint64_t random = 1;

  (void) state;
  for (unsigned bin = 0; bin < HISTOGRAM_BINS; bin++) {
    check_error (histogram_low (bin));
    check_error (histogram_low (bin + 1) - 1);
  }
  for (unsigned i = 0; i < 100000; i++)
    check_error (random_64 (&random)
                 >> (64 - 1 - random_below (&random, HISTOGRAM_VALUE_BITS)));
}

/* Percentiles. */

#define MAX_VALUES 1000000

static uint64_t values[MAX_VALUES];
static size_t nr_values;
static uint64_t bins[HISTOGRAM_ALL];

static void
clear (void)
{
  nr_values = 0;
  memset (bins, 0, sizeof bins);
}

static void
add (uint64_t value)
{
  values[nr_values++] = value;
  bins[histogram_bin (value)]++;
}

static int
by_number (const void *vp1, const void *vp2)
{
  const uint64_t *n1 = vp1, *n2 = vp2;

  return *n1 < *n2 ? -1 : *n1 > *n2;
}

/* The lowest rank of which at least this share of all is not above it. */
static uint64_t
rank_of (unsigned thousandths)
{
  uint64_t rank = nr_values * thousandths / 100000;

  while (rank * 100000 < (uint64_t) nr_values * thousandths || rank == 0)
    rank++;
  return rank;
}

/* Within 1 % of the value that has the rank.  Of those in the overflow it
 * is known only that they are not above the maximum.
 */
static void
check_percentile (unsigned thousandths, uint64_t got)
{
  const uint64_t value = values[rank_of (thousandths) - 1];
  const uint64_t error = got > value ? got - value : value - got;

  if (value > HIGHEST)
    assert_int_equal (got, values[nr_values - 1]);
  else if (error * 100 > value)
    fail_msg ("%g %% of %zu values: %" PRIu64 " instead of %" PRIu64,
              thousandths / 1000.0, nr_values, got, value);
}

static void
check_percentiles (void)
{
  static const unsigned shares[] = {
    1, 1000, 5000, 10000, 20000, 30000, 40000, 50000, 60000, 70000, 80000,
    90000, 95000, 99000, 99500, 99900, 99950, 99990, 99999, 100000,
  };
  uint64_t min, max, got, last = 0;

  qsort (values, nr_values, sizeof values[0], by_number);
  min = values[0];
  max = values[nr_values - 1];
  assert_int_equal (histogram_count (bins), nr_values);
  for (size_t i = 0; i < LENGTH (shares); i++) {
    got = histogram_percentile (bins, shares[i], min, max);
    check_percentile (shares[i], got);
    assert_in_range (got, min, max);
    assert_true (got >= last);
    last = got;
  }
}

/* Latencies that are spread in one way or another. */

static uint64_t random_state = 1;

static uint64_t
uniform (void)
{
  return 50 * US + random_below (&random_state, 10 * MS);
}

static uint64_t
exponential (void)
{
  const double u = (double) (random_below (&random_state, 1u << 30) + 1)
    / (1u << 30);

  return (uint64_t) (-log (u) * 2e6);
}

/* Most are answered by a cache, and some by a disk. */
static uint64_t
bimodal (void)
{
  if (random_below (&random_state, 10) == 0)
    return 4 * MS + random_below (&random_state, 8 * MS);
  return 20 * US + random_below (&random_state, 5 * US);
}

static uint64_t
constant (void)
{
  return 123456789;
}

/* As many long ones as short ones, from next to nothing to hours. */
static uint64_t
all_magnitudes (void)
{
  return random_64 (&random_state) >> (20 + random_below (&random_state, 44));
}

static void
test_spreads (void **state)
{
  static uint64_t (*const spreads[]) (void) = {
    uniform, exponential, bimodal, constant, all_magnitudes,
  };
  static const size_t counts[] = { 1, 2, 3, 99, 100, 101, 1000, MAX_VALUES };

  (void) state;
  for (size_t i = 0; i < LENGTH (spreads); i++) {
    for (size_t j = 0; j < LENGTH (counts); j++) {
      clear ();
      while (nr_values < counts[j])
        add (spreads[i] ());
      check_percentiles ();
    }
  }
}

/* Very short and very long ones, alone and with others. */
static void
test_extremes (void **state)
{
  static const uint64_t odd[] = { 0, 1, 100 * S, HIGHEST, 7200 * S };

  (void) state;
  for (size_t i = 0; i < LENGTH (odd); i++) {
    for (size_t j = 0; j < LENGTH (odd); j++) {
      clear ();
      for (unsigned n = 0; n < 100; n++)
        add (n == 0 ? odd[i] : odd[j]);
      check_percentiles ();
    }
  }
}

static void
test_nothing (void **state)
{
  (void) state;
  clear ();
  assert_int_equal (histogram_count (bins), 0);
  assert_int_equal (histogram_percentile (bins, 50000, 0, 0), 0);
  assert_int_equal (histogram_percentile (bins, 100000, 5, 7), 0);
}

/* Where the rank is a whole number it is that one, and not the next: the
 * values 1 to n in n bins are their own ranks.
 */
static void
test_exact_rank (void **state)
{
  static const struct {
    unsigned n, thousandths, rank;
  } table[] = {
    { 1, 0, 1 }, { 1, 100000, 1 }, { 2, 50000, 1 }, { 2, 50001, 2 },
    { 3, 50000, 2 }, { 100, 1, 1 }, { 100, 1000, 1 }, { 100, 1001, 2 },
    { 100, 99000, 99 }, { 100, 99001, 100 }, { 100, 99900, 100 },
    { 10, 10000, 1 }, { 10, 20000, 2 }, { 10, 30000, 3 }, { 10, 70000, 7 },
  };

  (void) state;
  for (size_t i = 0; i < LENGTH (table); i++) {
    clear ();
    for (unsigned value = 1; value <= table[i].n; value++)
      add (value);
    assert_int_equal (histogram_percentile (bins, table[i].thousandths,
                                            1, table[i].n),
                      table[i].rank);
    assert_int_equal (rank_of (table[i].thousandths), table[i].rank);
  }

  /* 99.9 % of 1000 is 999, which 0.999 * 1000 is not. */
  clear ();
  for (unsigned n = 1; n <= 1000; n++)
    add (n < 999 ? 10 : n == 999 ? 20 : 30);
  assert_int_equal (histogram_percentile (bins, 99900, 10, 30), 20);
  assert_int_equal (histogram_percentile (bins, 99800, 10, 30), 10);
  assert_int_equal (histogram_percentile (bins, 99901, 10, 30), 30);
}

/* A count times a share need not fit into 64 bits. */
static void
test_many (void **state)
{
  (void) state;
  clear ();
  bins[1] = UINT64_MAX / 4;
  bins[2] = UINT64_MAX / 4;
  bins[3] = UINT64_MAX / 4;
  assert_int_equal (histogram_percentile (bins, 33333, 1, 3), 1);
  assert_int_equal (histogram_percentile (bins, 33334, 1, 3), 2);
  assert_int_equal (histogram_percentile (bins, 66667, 1, 3), 3);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_bounds),
    cmocka_unit_test (test_overflow),
    cmocka_unit_test (test_error),
    cmocka_unit_test (test_coarse),
    cmocka_unit_test (test_coarse_extremes),
    cmocka_unit_test (test_spreads),
    cmocka_unit_test (test_extremes),
    cmocka_unit_test (test_nothing),
    cmocka_unit_test (test_exact_rank),
    cmocka_unit_test (test_many),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
