/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "files.h"
#include "overhead_table.h"
#include "statistics.h"

/* Samples. */

void
samples_add (struct samples *samples, double value)
{
  samples->values[samples->count++] = value;
}

static struct samples
sorted (const struct samples *samples)
{
  struct samples s = *samples;

  sort_sample (s.values, s.count);
  return s;
}

double
samples_max (const struct samples *samples)
{
  return sorted (samples).values[samples->count - 1];
}

struct samples
samples_ratio (const struct samples *samples, const struct samples *base)
{
  struct samples ratios = *samples;

  for (unsigned i = 0; i < ratios.count; i++)
    ratios.values[i] /= base->values[i];
  return ratios;
}

struct samples
samples_less (const struct samples *samples, const struct samples *base)
{
  struct samples differences = *samples;

  for (unsigned i = 0; i < differences.count; i++)
    differences.values[i] -= base->values[i];
  return differences;
}

/* Cells. */

struct cell
cell_text (const char *text)
{
  return (struct cell) { .kind = CELL_TEXT, .text = text };
}

struct cell
cell_number (double number)
{
  return (struct cell) { .kind = CELL_NUMBER, .number = number };
}

struct cell
cell_samples (const struct samples *samples)
{
  return (struct cell) { .kind = CELL_SAMPLES, .samples = sorted (samples) };
}

static double
cell_value (const struct cell *cell)
{
  const struct samples *samples = &cell->samples;

  return cell->kind != CELL_SAMPLES ? cell->number
    : sample_quantile (samples->values, samples->count, 0.5);
}

/* Text. */

#define TEXT_LEN 64
#define PERCENT_WIDTH 6

static void
print_dashes (int width, const char *title)
{
  const int length = abs (width) - (width > 0);

  (void) title;
  printf ("| ");
  for (int i = 0; i < length; i++)
    putchar ('-');
  printf (width > 0 ? ": " : " ");
}

/* Each column with its title, also that of its spread. */
static void
each_title (const struct table *table,
            void (*print) (int width, const char *title))
{
  for (unsigned i = 0; i < table->nr_columns; i++) {
    const struct column *c = &table->columns[i];

    if (c->title)
      print (c->width, c->title);
    if (c->title && c->spread == IN_PERCENT)
      print (PERCENT_WIDTH, "spread");
    else if (c->title && c->spread)
      print (c->spread, "min..max");
  }
  printf ("|\n");
}

static void
print_title (int width, const char *title)
{
  printf ("| %*s ", width, title);
}

static void
print_head (const struct table *table)
{
  printf ("%s\n\n", table->title);
  each_title (table, print_title);
  each_title (table, print_dashes);
}

/* Decimals of a large number tell nothing. */
static int
decimals (const struct column *column, double value)
{
  return value >= 10000 || value <= -10000 ? 0 : column->decimals;
}

static void
print_value (const struct column *column, const struct cell *cell)
{
  const double value = cell_value (cell);
  char text[TEXT_LEN] = "";

  if (cell->kind == CELL_TEXT)
    snprintf (text, sizeof text, "%s", cell->text);
  else if (cell->kind != CELL_EMPTY && isfinite (value))
    snprintf (text, sizeof text, "%.*f", decimals (column, value), value);
  print_title (column->width, text);
}

static void
print_percent (const struct cell *cell)
{
  const struct samples *s = &cell->samples;
  char text[TEXT_LEN] = "";

  if (cell->kind == CELL_SAMPLES && cell_value (cell) > 0)
    snprintf (text, sizeof text, "%.0f%%",
              100 * (s->values[s->count - 1] - s->values[0])
              / cell_value (cell));
  print_title (PERCENT_WIDTH, text);
}

static void
print_range (const struct column *column, const struct cell *cell)
{
  const struct samples *s = &cell->samples;
  char text[TEXT_LEN] = "";

  if (cell->kind == CELL_SAMPLES) {
    const double min = s->values[0], max = s->values[s->count - 1];

    snprintf (text, sizeof text, "%.*f..%.*f", decimals (column, max), min,
              decimals (column, max), max);
  }
  print_title (column->spread, text);
}

static void
print_cell (const struct column *column, const struct cell *cell)
{
  print_value (column, cell);
  if (column->spread == IN_PERCENT)
    print_percent (cell);
  else if (column->spread)
    print_range (column, cell);
}

static void
print_row (const struct table *table, const struct cell *cells)
{
  for (unsigned i = 0; i < table->nr_columns; i++) {
    if (table->columns[i].title)
      print_cell (&table->columns[i], &cells[i]);
  }
  printf ("|\n");
  fflush (stdout);
}

/* JSON. */

static void
write_samples (struct json *json, const char *key, const struct cell *cell)
{
  const struct samples *s = &cell->samples;

  JSON_OBJECT (json, key) {
    json_real (json, "median", cell_value (cell));
    json_real (json, "min", s->values[0]);
    json_real (json, "max", s->values[s->count - 1]);
    json_count (json, "rounds", s->count);
  }
}

static void
write_cell (struct json *json, const char *key, const struct cell *cell)
{
  switch (cell->kind) {
  case CELL_EMPTY: break;
  case CELL_TEXT: json_string (json, key, cell->text); break;
  case CELL_NUMBER: json_real (json, key, cell->number); break;
  case CELL_SAMPLES: write_samples (json, key, cell); break;
  }
}

/* Tables. */

void
tables_open (struct tables *tables, bool as_json)
{
  *tables = (struct tables) { .as_json = as_json };
  tables->json.fp = open_memstream (&tables->buffer, &tables->size);
  if (tables->json.fp == NULL) {
    tell_error ("open_memstream: %m");
    exit (STATUS_BAD);
  }
}

int
tables_close (struct tables *tables, bool whole, const char *file)
{
  int r = 0;

  fputc ('\n', tables->json.fp);
  if (fclose (tables->json.fp) != 0) {
    tell_error ("fclose: %m");
    exit (STATUS_BAD);
  }
  if (whole && tables->as_json)
    fputs (tables->buffer, stdout);
  if (whole && file)
    r = file_replace (file, tables->buffer, tables->size);
  free (tables->buffer);
  return r;
}

int
table_write (struct table *table, const struct plan *plan,
             int (*rows) (const struct plan *plan, struct table *table))
{
  const bool text = !table->tables->as_json;
  int r = -1;

  if (text)
    print_head (table);
  JSON_ARRAY (&table->tables->json, table->key)
    r = rows (plan, table);
  if (text)
    printf ("\n");
  return r;
}

void
table_row (struct table *table, const struct cell *cells)
{
  struct json *json = &table->tables->json;

  if (!table->tables->as_json)
    print_row (table, cells);
  JSON_OBJECT (json, NULL) {
    for (unsigned i = 0; i < table->nr_columns; i++)
      write_cell (json, table->columns[i].key, &cells[i]);
  }
}
