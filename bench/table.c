/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include "table.h"

void
samples_add (struct samples *samples, double value)
{
  samples->values[samples->count++] = value;
}

static int
compare (const void *ap, const void *bp)
{
  const double a = *(const double *) ap, b = *(const double *) bp;

  return (a > b) - (a < b);
}

struct summary
samples_summary (const struct samples *samples)
{
  struct samples sorted = *samples;
  const unsigned n = sorted.count;

  qsort (sorted.values, n, sizeof sorted.values[0], compare);
  return (struct summary) {
    .median = (sorted.values[(n - 1) / 2] + sorted.values[n / 2]) / 2,
    .min = sorted.values[0],
    .max = sorted.values[n - 1],
  };
}

struct summary
samples_ratio (const struct samples *samples, const struct samples *base)
{
  struct samples ratios = { .count = 0 };

  for (unsigned i = 0; i < samples->count; i++)
    samples_add (&ratios, samples->values[i] / base->values[i]);
  return samples_summary (&ratios);
}

static void
print_dashes (int width)
{
  const int length = abs (width) - (width > 0);

  for (int i = 0; i < length; i++)
    putchar ('-');
  if (width > 0)
    putchar (':');
}

void
table_head (const struct column *columns, unsigned count)
{
  for (unsigned i = 0; i < count; i++)
    printf ("| %*s ", columns[i].width, columns[i].title);
  printf ("|\n");
  for (unsigned i = 0; i < count; i++) {
    printf ("| ");
    print_dashes (columns[i].width);
    printf (" ");
  }
  printf ("|\n");
}

void
table_row (const struct column *columns, unsigned count,
           char cells[][TABLE_CELL])
{
  for (unsigned i = 0; i < count; i++)
    printf ("| %*s ", columns[i].width, cells[i]);
  printf ("|\n");
  fflush (stdout);
}
