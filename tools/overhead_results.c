/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "errors.h"
#include "files.h"
#include "memory.h"
#include "overhead_results.h"

/* All of them. */

void
results_open (struct results *results, const struct plan *plan)
{
  *results = (struct results) { .as_json = plan->json };
  if (plan->nr_sides > 2)
    results->against
      = format_string ("/ %s", plan->sides[plan_other (plan)].name);
  results->json.fp = open_memstream (&results->buffer, &results->size);
  if (results->json.fp == NULL) {
    tell_error ("open_memstream: %m");
    exit (STATUS_BAD);
  }
}

int
results_close (struct results *results, bool whole, const char *file)
{
  int r = 0;

  fputc ('\n', results->json.fp);
  if (fclose (results->json.fp) != 0) {
    tell_error ("fclose: %m");
    exit (STATUS_BAD);
  }
  if (whole && results->as_json)
    fputs (results->buffer, stdout);
  if (whole && file)
    r = file_replace (file, results->buffer, results->size);
  free (results->buffer);
  free (results->against);
  return r;
}

/* Text. */

static const char *
title_of (const struct results *results, const struct column *column)
{
  return column->title && strcmp (column->title, AGAINST) == 0
    ? results->against : column->title;
}

static void
add_title (struct table *table, const struct column *column,
           const char *title)
{
  if (title == NULL)
    return;
  table->above[table->nr] = column->above;
  table->titles[table->nr++] = title;
  if (column->spread)
    table->titles[table->nr++] = "spread";
}

/* The heading at once, since the rows take their time. */
void
results_begin (struct results *results, const char *title,
               const struct workload *backend, const struct column *columns)
{
  results->columns = columns;
  results->table = (struct table) { .nr_left = 1 };
  if (results->as_json)
    return;
  for (const struct column *c = columns; c->key; c++)
    add_title (&results->table, c, title_of (results, c));
  printf ("%s%s, backend %s\n", results->nr_tables++ ? "\n" : "", title,
          backend->name);
  flush_output ();
}

void
results_end (struct results *results)
{
  if (results->as_json)
    return;
  table_print (&results->table, stdout);
  flush_output ();
}

/* Decimals of a large number tell nothing. */
static void
add_cell (struct table *table, const struct column *column,
          const struct cell *cell)
{
  if (cell->kind == CELL_TEXT)
    table_add (table, "%s", cell->text);
  else if (cell->kind != CELL_EMPTY && isfinite (cell->number))
    table_add (table, "%.*f", fabs (cell->number) < 10000 ? column->decimals
               : 0, cell->number);
  else
    table_add (table, "%s", "");
}

static void
add_spread (struct table *table, const struct cell *cell)
{
  if (cell->kind == CELL_MEDIAN && cell->number > 0)
    table_add (table, "%.0f%%",
               100 * (cell->max - cell->min) / cell->number);
  else
    table_add (table, "%s", "");
}

static void
add_row (struct results *results, const struct measured *measured,
         unsigned side)
{
  for (const struct column *c = results->columns; c->key; c++) {
    const struct cell cell = c->cell (measured, side, c->figure);

    if (title_of (results, c))
      add_cell (&results->table, c, &cell);
    if (c->spread)
      add_spread (&results->table, &cell);
  }
}

/* JSON. */

static void
write_median (struct json *json, const char *key, const struct cell *cell)
{
  JSON_OBJECT (json, key) {
    json_real (json, "median", cell->number);
    json_real (json, "min", cell->min);
    json_real (json, "max", cell->max);
    json_count (json, "rounds", cell->rounds);
  }
}

static void
write_cell (struct json *json, const char *key, const struct cell *cell)
{
  switch (cell->kind) {
  case CELL_EMPTY: break;
  case CELL_TEXT: json_string (json, key, cell->text); break;
  case CELL_NUMBER: json_real (json, key, cell->number); break;
  case CELL_MEDIAN: write_median (json, key, cell); break;
  }
}

static void
write_row (struct results *results, const struct measured *measured,
           unsigned side)
{
  JSON_OBJECT (&results->json, NULL)
    for (const struct column *c = results->columns; c->key; c++) {
      const struct cell cell = c->cell (measured, side, c->figure);

      write_cell (&results->json, c->key, &cell);
    }
}

/* Both. */

void
results_rows (struct results *results, const struct measured *measured)
{
  for (unsigned i = 0; i < measured_sides (measured); i++) {
    if (!results->as_json)
      add_row (results, measured, i);
    write_row (results, measured, i);
  }
}

int
results_measure (struct results *results, struct measured *measured)
{
  if (measured_rounds (measured) == -1)
    return -1;
  results_rows (results, measured);
  return 0;
}
