/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "table.h"

#define GAP 2                   /* blanks between two columns */

void
table_add (struct table *table, const char *fmt, ...)
{
  char text[256];
  va_list args;

  va_start (args, fmt);
  vsnprintf (text, sizeof text, fmt, args);
  va_end (args);
  table->cells = grow (table->cells, table->nr_cells, sizeof *table->cells);
  table->cells[table->nr_cells++] = copy_string (text);
}

/* As many bytes as characters: names in another alphabet make a column a
 * little wider than it has to be.
 */
static int
length_of (const char *text)
{
  return text ? (int) strlen (text) : 0;
}

static void
widen (int *width, const char *text)
{
  if (length_of (text) > *width)
    *width = length_of (text);
}

static int
column_width (const struct table *table, size_t column)
{
  int width = 0;

  for (size_t i = column; i < table->nr_cells; i += table->nr)
    widen (&width, table->cells[i]);
  if (width > 0) {
    widen (&width, table->above[column]);
    widen (&width, table->titles[column]);
  }
  return width;
}

/* Without blanks at the end of the line. */
static void
print_row (const struct table *table, const int *widths,
           const char *const *row, FILE *fp)
{
  int column = 0, end = 0;      /* places in the line */

  for (size_t i = 0; i < table->nr; i++) {
    const int length = length_of (row[i]);
    const int begin = i < table->nr_left ? column
      : column + widths[i] - length;

    if (widths[i] == 0)
      continue;
    if (length > 0) {
      fprintf (fp, "%*s%s", begin - end, "", row[i]);
      end = begin + length;
    }
    column += widths[i] + GAP;
  }
  putc ('\n', fp);
}

/* Of two lines where any title has two. */
static void
print_head (const struct table *table, const int *widths, FILE *fp)
{
  bool has_two = false;

  for (size_t i = 0; i < table->nr; i++)
    has_two |= widths[i] > 0 && table->above[i];
  if (has_two)
    print_row (table, widths, table->above, fp);
  print_row (table, widths, table->titles, fp);
}

void
table_print (struct table *table, FILE *fp)
{
  int widths[TABLE_COLUMNS];

  for (size_t i = 0; i < table->nr; i++)
    widths[i] = column_width (table, i);
  print_head (table, widths, fp);
  for (size_t i = 0; i + table->nr <= table->nr_cells; i += table->nr)
    print_row (table, widths, (const char *const *) table->cells + i, fp);
  for (size_t i = 0; i < table->nr_cells; i++)
    free (table->cells[i]);
  free (table->cells);
  table->cells = NULL;
  table->nr_cells = 0;
}
