/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_tables.h"

/* Requests of two runs: what start and end take is in both. */
#define FEW 20000
#define MANY 40000

static const struct column columns[] = {
  { "through", NULL, "through", measured_through, NO_FIGURE, 0, false },
  { "instructions", NULL, "instructions", measured_figure, INSTRUCTIONS, 1,
    false },
  { "added_instructions", NULL, "added", measured_added, INSTRUCTIONS, 1,
    false },
  { "to_against", NULL, AGAINST, measured_added_to_other, INSTRUCTIONS, 3,
    false },
  { .key = NULL }
};

static int
count (struct measured *measured, unsigned side)
{
  struct measurement *m = &measured->m;
  uint64_t few, many;

  m->side = &m->plan->sides[side];
  m->job.requests = FEW;
  if (serve_counted (m, &few) == -1)
    return -1;
  m->job.requests = MANY;
  if (serve_counted (m, &many) == -1)
    return -1;
  measured_add (measured, side, INSTRUCTIONS,
                ((double) many - (double) few) / (MANY - FEW));
  return 0;
}

static int
rows (const struct plan *plan, const struct workload *backend,
      struct results *results)
{
  static struct measured measured;

  measured_init (&measured, plan, backend);
  measured.once = true;
  for (unsigned i = 0; i < plan->nr_sides; i++) {
    if (count (&measured, i) == -1)
      return -1;
  }
  results_rows (results, &measured);
  return 0;
}

const struct measure measure_instructions = {
  .key = "instructions",
  .title = "Instructions of a request",
  .columns = columns,
  .rows = rows,
};
