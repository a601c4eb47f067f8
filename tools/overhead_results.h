/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Where the results of "overhead" go: to tables of text, one after another,
 * and to JSON, which is written at the end, when it is whole.
 */

#ifndef TOOLS_OVERHEAD_RESULTS_H
#define TOOLS_OVERHEAD_RESULTS_H

#include "json_writer.h"
#include "overhead_measured.h"
#include "table.h"

/* Of a table in text, and of the objects in JSON.  The first of a table is
 * words, all others are numbers; after the last comes one without a key.
 */
struct column {
  const char *key;              /* in JSON */
  const char *above;            /* in text, above the title, or NULL */
  const char *title;            /* NULL: in JSON only */
  cell_fn *cell;                /* what stands in it, */
  enum figure figure;           /* of what it is made */
  int decimals;                 /* of a number with less than five digits */
  bool spread;                  /* in text there is another beside it */
};

/* The title of the ratio to the filter after --against, whose name it has. */
#define AGAINST "/ NAME"

struct results {
  bool as_json;                 /* and not as text */
  struct json json;             /* to buffer */
  char *buffer;
  size_t size;
  char *against;                /* "/ " and the name */
  const struct column *columns; /* of the table that is written */
  struct table table;           /* its text */
  unsigned nr_tables;
};

/* Between the two, what is written to json stands beside the tables.
 * Without memory the program ends.  results_close returns -1 after telling
 * that the file cannot be written.
 */
extern void results_open (struct results *results, const struct plan *plan);
extern int results_close (struct results *results, bool whole,
                          const char *file);

/* A table of text begins and ends; in JSON there must be an array. */
extern void results_begin (struct results *results, const char *title,
                           const struct workload *backend,
                           const struct column *columns);
extern void results_end (struct results *results);

/* A row for each side; after all of its rounds, which fail as in
 * measured_rounds.
 */
extern void results_rows (struct results *results,
                          const struct measured *measured);
extern int results_measure (struct results *results,
                            struct measured *measured);

#endif /* TOOLS_OVERHEAD_RESULTS_H */
