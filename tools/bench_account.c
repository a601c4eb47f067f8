/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <math.h>
#include <string.h>

#include "bench_table.h"
#include "json_values.h"
#include "table.h"

/* The states that a report tells, in its order: those of the first run that
 * has them.
 */
static struct json_object *
first_account (const struct bench_job *job)
{
  for (size_t i = 0; i < job->nr_cases; i++) {
    for (size_t e = 0; e < job->nr_environments; e++) {
      const struct cell *cell = &job->cases[i].cells[e];

      if (cell->nr_runs && cell->runs[0].figures.account)
        return cell->runs[0].figures.account;
    }
  }
  return NULL;
}

/* What part of the elapsed time of all runs passed in that state. */
static double
part_of (const struct cell *cell, const char *state)
{
  double passed = 0, elapsed = 0;

  for (size_t i = 0; i < cell->nr_runs; i++) {
    passed += json_number (cell->runs[i].figures.account, state);
    elapsed += cell->runs[i].figures.elapsed_ns;
  }
  return passed / elapsed;
}

/* Nothing where it is not worth a digit. */
static void
add_part (struct table *table, double part)
{
  if (part >= 0.0005)
    table_add (table, "%.1f%%", part * 100);
  else
    table_add (table, "%s", "");
}

static void
add_cell (struct table *table, const struct cell *cell)
{
  table_add (table, "%s", cell->plan.case_name);
  table_add (table, "%s", cell->plan.environment);
  for (size_t i = 2; i < table->nr; i++)
    add_part (table, part_of (cell, table->titles[i]));
}

void
bench_print_account (const struct bench_job *job, FILE *fp)
{
  struct table table = {
    .titles = { "case", "environment" }, .nr = 2, .nr_left = 2,
  };
  struct json_object *account = first_account (job);

  if (account == NULL)
    return;
  json_object_object_foreach (account, state, value) {
    (void) value;
    if (table.nr < TABLE_COLUMNS)
      table.titles[table.nr++] = state;
  }
  for (size_t i = 0; i < job->nr_cases; i++) {
    for (size_t e = 0; e < job->nr_environments; e++)
      add_cell (&table, &job->cases[i].cells[e]);
  }
  fprintf (fp, "\nwhere the elapsed time went, by what was in flight\n");
  table_print (&table, fp);
}
