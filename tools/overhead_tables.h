/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What "overhead" can measure, each in a file of its own: a table. */

#ifndef TOOLS_OVERHEAD_TABLES_H
#define TOOLS_OVERHEAD_TABLES_H

#include "overhead_plan.h"
#include "overhead_results.h"

struct measure {
  const char *key;              /* for --measure, and in JSON */
  const char *title;            /* of the table in text */
  const struct column *columns; /* the first are words: on the left */
  bool each_backend;            /* not only the first; a table each */
  bool needs_threads;           /* several at a time */

  /* Measure, and write all rows.  Returns -1 where a measurement failed,
   * after telling how.
   */
  int (*rows) (const struct plan *plan, const struct workload *backend,
               struct results *results);
  void (*tell) (const struct plan *plan); /* in words below it, or NULL */
};

/* How long a request takes. */
extern const struct measure measure_time;

/* What each request takes in the filter alone, and the worst one. */
extern const struct measure measure_inside;

/* The same where the caches are cold. */
extern const struct measure measure_cold;

/* Memory and other things that the filter keeps, or leaves behind. */
extern const struct measure measure_memory;

/* Instructions of a request. */
extern const struct measure measure_instructions;

/* One thread beside many that wait or have gone. */
extern const struct measure measure_beside;

/* Many connections at once. */
extern const struct measure measure_opening;

/* All of them; a bit each in the plan. */
enum {
  MEASURE_TIME, MEASURE_INSIDE, MEASURE_COLD, MEASURE_MEMORY,
  MEASURE_INSTRUCTIONS, MEASURE_BESIDE, MEASURE_OPENING, NR_MEASURES,
};
extern const struct measure *const measures[NR_MEASURES];

#endif /* TOOLS_OVERHEAD_TABLES_H */
