/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "errors.h"
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

  return cell->kind == CELL_NUMBER ? cell->number
    : sample_quantile (samples->values, samples->count, 0.5);
}

/* Text. */

#define TEXT_LEN 64

static void
print_dashes (int width)
{
  const int length = abs (width) - (width > 0);

  printf ("| ");
  for (int i = 0; i < length; i++)
    putchar ('-');
  printf (width > 0 ? ": " : " ");
}

static void
print_head (const struct table *table)
{
  printf ("%s\n\n", table->title);
  for (unsigned i = 0; i < table->nr_columns; i++) {
    const struct column *c = &table->columns[i];

    printf ("| %*s ", c->width, c->title);
    if (c->spread)
      printf ("| %*s ", c->spread, "min..max");
  }
  printf ("|\n");
  for (unsigned i = 0; i < table->nr_columns; i++) {
    print_dashes (table->columns[i].width);
    if (table->columns[i].spread)
      print_dashes (table->columns[i].spread);
  }
  printf ("|\n");
}

static void
print_value (const struct column *column, const struct cell *cell)
{
  char text[TEXT_LEN] = "";

  if (cell->kind == CELL_TEXT)
    snprintf (text, sizeof text, "%s", cell->text);
  else if (cell->kind != CELL_EMPTY)
    snprintf (text, sizeof text, "%.*f", column->decimals,
              cell_value (cell));
  printf ("| %*s ", column->width, text);
}

static void
print_spread (const struct column *column, const struct cell *cell)
{
  const struct samples *s = &cell->samples;
  char text[TEXT_LEN] = "";

  if (cell->kind == CELL_SAMPLES)
    snprintf (text, sizeof text, "%.*f..%.*f", column->decimals,
              s->values[0], column->decimals, s->values[s->count - 1]);
  printf ("| %*s ", column->spread, text);
}

static void
print_row (const struct table *table, const struct cell *cells)
{
  for (unsigned i = 0; i < table->nr_columns; i++) {
    print_value (&table->columns[i], &cells[i]);
    if (table->columns[i].spread)
      print_spread (&table->columns[i], &cells[i]);
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

void
tables_close (struct tables *tables, bool show)
{
  if (fclose (tables->json.fp) != 0) {
    tell_error ("fclose: %m");
    exit (STATUS_BAD);
  }
  if (show && tables->as_json)
    printf ("%s\n", tables->buffer);
  free (tables->buffer);
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
