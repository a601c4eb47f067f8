/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdio.h>

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
  double grew;                  /* with the second half of connections */
  double connection, request;   /* grown with each */
  double files;                 /* left open, a number */
};

/* What grew from half to end, if it grew as much before that: what a filter
 * keeps once, or now and then, is no leak.
 */
static double
growth (int64_t begin, int64_t half, int64_t end)
{
  const int64_t first = half - begin, second = end - half;

  return first > 0 && second > 0 && first <= 2 * second
    && second <= 2 * first ? (double) second : 0;
}

/* With all that comes and goes there is a number of connections and of
 * requests, so what grows with each is the solution of two equations.
 */
static void
find_leaks (const struct job *job, const struct memory_use *use,
            struct figures *figures)
{
  const uint64_t others = job->connections - 1;
  const double nr = (double) (others - others / 2);
  const double requests = MEMORY_REQUESTS * (double) job->threads;
  const double asked
    = growth (use->last.heap, use->asked.heap, use->more.heap);
  const double came
    = growth (use->first.heap, use->half.heap, use->last.heap) / nr;

  figures->request = (asked - came) / (MEMORY_MORE - requests);
  figures->connection = came - figures->request * requests;
  if (figures->connection < came / 1000)
    figures->connection = 0;    /* no more than what malloc itself needs */
}

static struct figures
figures_of (const struct job *job, const struct memory_use *use)
{
  const double threads = (double) job->threads;
  struct figures figures = {
    .heap = (double) use->working.heap / threads,
    .resident = (double) use->working.resident / threads,
    .grew = (double) (use->last.heap - use->half.heap),
  };

  find_leaks (job, use, &figures);
  return figures;
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
  [OWN_THREADS] = { "own_threads", "own threads", 11, 0, 0 },
  [FILES] = { "files_left", "files left", 10, 0, 0 },
  [GREW] = { "heap_grew", "heap grew", 9, 0, 0 },
  [CONNECTION] = { "leak_per_connection", "leak/connection", 15, 0, 0 },
  [REQUEST] = { "leak_per_request", "leak/request", 12, 1, 0 },
};

static struct figures all[MAX_SIDES];

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

  m.job.threads = m.job.sharing = plan_threads (plan, THREADS, THREADS);
  m.job.connections = plan->connections;
  *job = m.job;
  return serve (&m, result);
}

static double
leak_request (unsigned side)
{
  return beyond (all[side].request, all[0].request, 1);
}

static double
leak_connection (unsigned side)
{
  return beyond (all[side].connection, all[0].connection, SMALLEST);
}

static void
write_row (const struct plan *plan, struct table *table, unsigned side,
           const struct result *result)
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
    [CONNECTION] = cell_number (leak_connection (side)),
    [REQUEST] = cell_number (leak_request (side)),
  };

  table_row (table, cells);
  all[side].files = (double) result->files;
}

static int
rows (const struct plan *plan, struct table *table)
{
  for (unsigned i = 0; i < plan->nr_sides; i++) {
    struct result result;
    struct job job;

    if (measure_side (plan, &plan->sides[i], &job, &result) == -1)
      return -1;
    all[i] = figures_of (&job, &result.memory);
    write_row (plan, table, i, &result);
  }
  return 0;
}

/* In words what should not be. */
static void
print_leaks (const struct plan *plan, unsigned side)
{
  const char *name = plan->sides[side].name;

  if (leak_request (side) > 0)
    printf ("%s: memory grows by %.1f bytes with each request.\n", name,
            leak_request (side));
  if (leak_connection (side) > 0)
    printf ("%s: memory grows by %.0f bytes with each connection.\n", name,
            leak_connection (side));
  if (all[side].files > 0)
    printf ("%s: %.0f files were left open.\n", name, all[side].files);
}

int
overhead_memory (const struct plan *plan, struct tables *tables)
{
  struct table table = overhead_table (plan, tables, "memory", columns,
                                       NR_COLUMNS);

  table.title = "Memory, in bytes, and what is left behind";
  if (table_write (&table, plan, rows) == -1)
    return -1;
  for (unsigned i = 1; i < plan->nr_sides && !tables->as_json; i++)
    print_leaks (plan, i);
  return 0;
}
