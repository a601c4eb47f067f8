/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What tools/statistics.c makes of two samples, for statistics.py: reads
 * them, a line of numbers each, and writes a line of figures for each two.
 */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include "statistics.h"

#define MAX_NUMBERS 1000

static size_t
read_numbers (const char *line, double x[MAX_NUMBERS])
{
  size_t n = 0;
  char *end;

  for (; n < MAX_NUMBERS; n++, line = end) {
    x[n] = strtod (line, &end);
    if (end == line)
      break;
  }
  sort_sample (x, n);
  return n;
}

static void
write_figures (const double *a, size_t na, const double *b, size_t nb)
{
  const struct rank_test test = mann_whitney (a, na, b, nb);
  const struct ratio_interval interval = ratio_interval (a, na, b, nb,
                                                         CONFIDENCE);

  printf ("%.17g %.17g %.17g %.17g %.17g ", sample_mean (a, na),
          sample_stddev (a, na), sample_quantile (a, na, 0.25),
          sample_quantile (a, na, 0.5), sample_quantile (a, na, 0.9));
  printf ("%.17g %.17g %.17g %.17g %.17g %.17g\n", test.u, test.p,
          test.superiority, interval.ratio, interval.low, interval.high);
}

int
main (void)
{
  static double a[MAX_NUMBERS], b[MAX_NUMBERS];
  char *line = NULL;
  size_t size = 0;

  while (getline (&line, &size, stdin) > 0) {
    const size_t na = read_numbers (line, a);

    if (getline (&line, &size, stdin) <= 0)
      return 1;
    write_figures (a, na, b, read_numbers (line, b));
  }
  free (line);
  return 0;
}
