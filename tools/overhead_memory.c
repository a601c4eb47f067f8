/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_tables.h"

/* As many as nbdkit has for a connection. */
#define THREADS 16

/* What malloc needs for the smallest thing: less each time is no leak of
 * one thing each time.
 */
#define SMALLEST 16

/* What one side takes, in bytes, of memory that is allocated. */
struct figures {
  double heap, resident;        /* a thread */
  double grew;                  /* from the first connection to the last */
  double connection, request;   /* grown with each */
};

/* What a number of times of the second half grew, if the first half did,
 * too: what a filter keeps once is no leak.
 */
static double
growth (int64_t begin, int64_t half, int64_t end, double times)
{
  const int64_t first = half - begin, second = end - half;

  return first > 0 && second > 0 ? (double) second / times : 0;
}

static struct figures
figures_of (const struct job *job, const struct memory_use *use)
{
  const double threads = (double) job->threads;
  const uint64_t others = job->connections - 1;
  const double half = (double) (others - others / 2);
  const double request
    = growth (use->last.heap, use->asked.heap, use->more.heap, MEMORY_MORE);
  const double connection
    = growth (use->first.heap, use->half.heap, use->last.heap, half);

  return (struct figures) {
    .heap = (double) use->working.heap / threads,
    .resident = (double) use->working.resident / threads,
    .grew = (double) (use->last.heap - use->first.heap),
    .request = request,
    .connection = connection - request * MEMORY_REQUESTS * threads,
  };
}

enum {
  THROUGH, HEAP, RESIDENT, OWN_HEAP, OWN_RESIDENT, OWN_THREADS, FILES, GREW,
  CONNECTION, REQUEST, NR_COLUMNS,
};

static const struct column columns[NR_COLUMNS] = {
  [THROUGH] = { "through", "through", -10, 0, 0 },
  [HEAP] = { "heap_per_thread", "heap a thread", 13, 0, 0 },
  [RESIDENT] = { "resident_per_thread", "resident a thread", 17, 0, 0 },
  [OWN_HEAP] = { "own_heap_per_thread", "own, heap", 9, 0, 0 },
  [OWN_RESIDENT] = { "own_resident_per_thread", "own, resident", 13, 0, 0 },
  [OWN_THREADS] = { "own_threads", "threads", 7, 0, 0 },
  [FILES] = { "files_left", "files left", 10, 0, 0 },
  [GREW] = { "heap_grew", "heap grew", 9, 0, 0 },
  [CONNECTION] = { "leak_per_connection", "a connection", 12, 0, 0 },
  [REQUEST] = { "leak_per_request", "a request", 9, 1, 0 },
};

/* Beyond what there is without a filter. */
static double
beyond (double figure, double bypassed, double threshold)
{
  return figure - bypassed >= threshold ? figure - bypassed : 0;
}

static int
measure_side (const struct plan *plan, const struct side *side,
              struct job *job, struct result *result)
{
  struct measurement m = {
    .plan = plan, .side = side, .backend = plan->backends[0],
    .job = plan_job (plan),
  };

  m.job.threads = plan_threads (plan, THREADS);
  m.job.connections = plan->connections;
  *job = m.job;
  return serve (&m, result);
}

static void
write_row (const struct plan *plan, struct table *table, unsigned side,
           const struct result *result, const struct figures *all)
{
  const struct figures *f = &all[side], *bypassed = &all[0];
  const struct cell cells[NR_COLUMNS] = {
    [THROUGH] = cell_text (plan->sides[side].name),
    [HEAP] = cell_number (f->heap),
    [RESIDENT] = cell_number (f->resident),
    [OWN_HEAP] = cell_number (f->heap - bypassed->heap),
    [OWN_RESIDENT] = cell_number (f->resident - bypassed->resident),
    [OWN_THREADS] = cell_number ((double) result->own_threads),
    [FILES] = cell_number ((double) result->files),
    [GREW] = cell_number (f->grew),
    [CONNECTION] = cell_number (beyond (f->connection, bypassed->connection,
                                        SMALLEST)),
    [REQUEST] = cell_number (beyond (f->request, bypassed->request, 1)),
  };

  table_row (table, cells);
}

static int
rows (const struct plan *plan, struct table *table)
{
  struct figures all[MAX_SIDES];

  for (unsigned i = 0; i < plan->nr_sides; i++) {
    struct result result;
    struct job job;

    if (measure_side (plan, &plan->sides[i], &job, &result) == -1)
      return -1;
    all[i] = figures_of (&job, &result.memory);
    write_row (plan, table, i, &result, all);
  }
  return 0;
}

int
overhead_memory (const struct plan *plan, struct tables *tables)
{
  struct table table = {
    .tables = tables, .key = "memory",
    .title = "Memory, in bytes, and what is left behind",
    .columns = columns, .nr_columns = NR_COLUMNS,
  };

  return table_write (&table, plan, rows);
}
