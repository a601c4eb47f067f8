/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Figures of several rounds, and tables of them, in Markdown and in JSON. */

#ifndef TOOLS_OVERHEAD_TABLE_H
#define TOOLS_OVERHEAD_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "json_writer.h"

#define MAX_ROUNDS 100

/* One figure, measured in several rounds. */
struct samples {
  unsigned count;
  double values[MAX_ROUNDS];
};

extern void samples_add (struct samples *samples, double value);
extern double samples_max (const struct samples *samples);

/* The ratios, or the differences, of two figures that were measured in the
 * same rounds, round by round: what disturbs a round disturbs both.
 */
extern struct samples samples_ratio (const struct samples *samples,
                                     const struct samples *base);
extern struct samples samples_less (const struct samples *samples,
                                    const struct samples *base);

/* In text a column is right-aligned, or left-aligned where its width is
 * negative.  One without a title is in JSON only.  One with a spread has
 * another beside it: from the least to the greatest, or what lies between
 * these in percent of the median.
 */
struct column {
  const char *key;              /* in JSON */
  const char *title;
  int width;
  int decimals;                 /* of a number with less than five digits */
  int spread;                   /* width of min..max, IN_PERCENT, or 0 */
};

#define IN_PERCENT (-1)

/* What stands in a column.  Text lives until the row is written. */
struct cell {
  enum { CELL_EMPTY, CELL_TEXT, CELL_NUMBER, CELL_SAMPLES } kind;
  const char *text;
  double number;
  struct samples samples;       /* of which the median is told */
};

extern struct cell cell_text (const char *text);
extern struct cell cell_number (double number);
extern struct cell cell_samples (const struct samples *samples);

/* All tables of a run: written to standard output as they come, and as JSON
 * at the end, when it is whole, to a file or instead.
 */
struct tables {
  bool as_json;
  struct json json;
  char *buffer;
  size_t size;
};

/* Between the two, what is written to json stands beside the tables.
 * Without memory the program ends.  tables_close returns -1 after telling
 * that the file cannot be written.
 */
extern void tables_open (struct tables *tables, bool as_json);
extern int tables_close (struct tables *tables, bool whole,
                         const char *file);

/* One of them: an array of objects in JSON. */
struct table {
  struct tables *tables;
  const char *key;              /* its name in JSON */
  const char *title;            /* its heading in text */
  const struct column *columns;
  unsigned nr_columns;
};

struct plan;

/* The table with what rows writes.  Returns what that does. */
extern int table_write (struct table *table, const struct plan *plan,
                        int (*rows) (const struct plan *plan,
                                     struct table *table));

/* One cell for each column. */
extern void table_row (struct table *table, const struct cell *cells);

#endif /* TOOLS_OVERHEAD_TABLE_H */
