/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A table as text, whose columns are as wide as what is in them. */

#ifndef TOOLS_TABLE_H
#define TOOLS_TABLE_H

#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS 24

struct table {
  const char *titles[TABLE_COLUMNS];    /* the first nr are used */
  const char *above[TABLE_COLUMNS];     /* what stands above them, or NULL */
  size_t nr;
  size_t nr_left;               /* so many are words: on the left */
  char **cells;                 /* nr a row */
  size_t nr_cells;
};

/* Add the next cell of a row, from left to right.  printf-like. */
extern void table_add (struct table *table, const char *fmt, ...)
  __attribute__ ((format (printf, 2, 3)));

/* Print it, with its titles, and without columns that are empty all the way
 * down, nor blanks at the end of a line; then it is empty itself.
 */
extern void table_print (struct table *table, FILE *fp);

#endif /* TOOLS_TABLE_H */
