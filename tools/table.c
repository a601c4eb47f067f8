/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "table.h"

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
column_width (const struct table *table, size_t column)
{
  size_t width = 0;

  for (size_t i = column; i < table->nr_cells; i += table->nr) {
    if (strlen (table->cells[i]) > width)
      width = strlen (table->cells[i]);
  }
  if (width > 0 && strlen (table->titles[column]) > width)
    width = strlen (table->titles[column]);
  return (int) width;
}

static void
print_row (const struct table *table, const int *widths,
           const char *const *row, FILE *fp)
{
  const char *gap = "";

  for (size_t i = 0; i < table->nr; i++) {
    if (widths[i] == 0)
      continue;
    fprintf (fp, "%s%*s", gap, i < table->nr_left ? -widths[i] : widths[i],
             row[i]);
    gap = "  ";
  }
  putc ('\n', fp);
}

void
table_print (struct table *table, FILE *fp)
{
  int widths[TABLE_COLUMNS];

  for (size_t i = 0; i < table->nr; i++)
    widths[i] = column_width (table, i);
  print_row (table, widths, table->titles, fp);
  for (size_t i = 0; i + table->nr <= table->nr_cells; i += table->nr)
    print_row (table, widths, (const char *const *) table->cells + i, fp);
  for (size_t i = 0; i < table->nr_cells; i++)
    free (table->cells[i]);
  free (table->cells);
  table->cells = NULL;
  table->nr_cells = 0;
}
