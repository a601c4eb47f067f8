/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Figures of several runs, and tables of them in Markdown. */

#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#define MAX_ROUNDS 100

/* One figure, measured in several rounds. */
struct samples {
  unsigned count;
  double values[MAX_ROUNDS];
};

extern void samples_add (struct samples *samples, double value);

struct summary {
  double median, min, max;
};

extern struct summary samples_summary (const struct samples *samples);

/* The ratios of two figures that were measured in the same rounds, round
 * by round: what disturbs a round disturbs both.
 */
extern struct summary samples_ratio (const struct samples *samples,
                                     const struct samples *base);

#define TABLE_CELL 32           /* bytes of text */

/* Right-aligned in its width, or left-aligned if that is negative. */
struct column {
  int width;
  const char *title;
};

extern void table_head (const struct column *columns, unsigned count);
extern void table_row (const struct column *columns, unsigned count,
                       char cells[][TABLE_CELL]);

#endif /* BENCH_TABLE_H */
