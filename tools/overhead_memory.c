/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdio.h>

#include "overhead_tables.h"

/* As many as nbdkit has for a connection. */
#define NR_THREADS 16

/* What malloc needs for the smallest thing: less each time is no leak of
 * one thing each time.
 */
#define SMALLEST 16

static struct measured measured;

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

/* What grows with each connection and with each request.  With all that
 * comes and goes there is a number of both, so these are the solution of two
 * equations.
 */
struct leaks {
  double connection, request;
};

static struct leaks
find_leaks (const struct job *job, const struct memory_use *use)
{
  const uint64_t others = job->connections - 1;
  const double nr = (double) (others - others / 2);
  const double requests = MEMORY_REQUESTS * (double) job->threads;
  const double asked
    = growth (use->last.heap, use->asked.heap, use->more.heap);
  const double came
    = growth (use->first.heap, use->half.heap, use->last.heap) / nr;
  struct leaks leaks;

  leaks.request = (asked - came) / (MEMORY_MORE - requests);
  leaks.connection = came - leaks.request * requests;
  if (leaks.connection < came / 1000)
    leaks.connection = 0;       /* no more than what malloc itself needs */
  return leaks;
}

static const struct column columns[] = {
  { "through", NULL, "through", measured_through, NO_FIGURE, 0, false },
  { "heap_per_thread", NULL, NULL, measured_figure, HEAP, 0, false },
  { "resident_per_thread", NULL, NULL, measured_figure, RESIDENT, 0, false },
  { "own_heap_per_thread", "heap", "a thread", measured_figure, OWN_HEAP, 0,
    false },
  { "own_resident_per_thread", "resident", "a thread", measured_figure,
    OWN_RESIDENT, 0, false },
  { "own_threads", "own", "threads", measured_figure, OWN_THREADS, 0, false },
  { "files_left", "files", "left", measured_figure, FILES_LEFT, 0, false },
  { "heap_grew", "heap", "grew", measured_figure, HEAP_GREW, 0, false },
  { "leak_per_connection", "leak a", "connection", measured_figure,
    LEAK_CONNECTION, 0, false },
  { "leak_per_request", "leak a", "request", measured_figure, LEAK_REQUEST, 1,
    false },
  { .key = NULL }
};

static double
value (unsigned side, enum figure figure)
{
  return measured.figures[figure][side].values[0];
}

/* What it is for each thread, and how much of that is the filter's own. */
static void
add_of_thread (unsigned side, enum figure figure, enum figure own,
               int64_t bytes)
{
  const double each = (double) bytes / (double) measured.m.job.threads;

  measured_add (&measured, side, figure, each);
  measured_add (&measured, side, own, each - value (0, figure));
}

/* Beyond what there is without a filter. */
static double
beyond (double figure, double bypassed, double threshold)
{
  return figure - bypassed >= threshold ? figure - bypassed : 0;
}

static void
add_leaks (unsigned side, const struct memory_use *use)
{
  static struct leaks bypassed;
  const struct leaks leaks = find_leaks (&measured.m.job, use);

  if (side == 0)
    bypassed = leaks;
  measured_add (&measured, side, LEAK_CONNECTION,
                beyond (leaks.connection, bypassed.connection, SMALLEST));
  measured_add (&measured, side, LEAK_REQUEST,
                beyond (leaks.request, bypassed.request, 1));
}

static int
measure_side (unsigned side)
{
  struct measurement *m = &measured.m;
  const struct memory_use *use;
  struct result result;

  m->side = &m->plan->sides[side];
  if (serve (m, &result) == -1)
    return -1;
  use = &result.memory;
  add_of_thread (side, HEAP, OWN_HEAP, use->working.heap);
  add_of_thread (side, RESIDENT, OWN_RESIDENT, use->working.resident);
  measured_add (&measured, side, OWN_THREADS, (double) result.own_threads);
  measured_add (&measured, side, FILES_LEFT, (double) result.files);
  measured_add (&measured, side, HEAP_GREW,
                (double) (use->last.heap - use->half.heap));
  add_leaks (side, use);
  return 0;
}

static int
rows (const struct plan *plan, const struct workload *backend,
      struct results *results)
{
  struct job *job = &measured.m.job;

  measured_init (&measured, plan, backend);
  measured.once = true;
  job->threads = job->sharing = plan_threads (plan, NR_THREADS,
                                              NR_THREADS);
  job->connections = plan->connections;
  for (unsigned i = 0; i < plan->nr_sides; i++) {
    if (measure_side (i) == -1)
      return -1;
  }
  results_rows (results, &measured);
  return 0;
}

/* What should not be. */
static void
tell_leaks (const struct plan *plan)
{
  for (unsigned i = 1; i < plan->nr_sides; i++) {
    const char *name = plan->sides[i].name;

    if (value (i, LEAK_REQUEST) > 0)
      printf ("%s: memory grows by %.1f bytes with each request.\n", name,
              value (i, LEAK_REQUEST));
    if (value (i, LEAK_CONNECTION) > 0)
      printf ("%s: memory grows by %.0f bytes with each connection.\n", name,
              value (i, LEAK_CONNECTION));
    if (value (i, FILES_LEFT) > 0)
      printf ("%s: %.0f files were left open.\n", name,
              value (i, FILES_LEFT));
  }
}

const struct measure measure_memory = {
  .key = "memory",
  .title = "Memory in bytes, and what is left behind",
  .columns = columns,
  .rows = rows,
  .tell = tell_leaks,
};
