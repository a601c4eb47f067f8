/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>

#include "child.h"
#include "memory.h"
#include "table.h"
#include "worker.h"

/* Requests of each thread of a connection. */
#define REQUESTS 256

/* In bytes. */
struct memory {
  int64_t heap;                 /* allocated */
  int64_t resident;             /* of the process, but for mapped files */
};

/* Each as a difference to the time before the first connection. */
struct memory_use {
  struct memory working;        /* all threads have read and written */
  struct memory first;          /* the first connection has gone */
  struct memory last;           /* the last one has gone */
};

struct memory_load {
  const struct plan *plan;
  const struct side *side;
};

static int64_t
heap_now (void)
{
  const struct mallinfo2 info = mallinfo2 (); /* of all arenas */

  return (int64_t) (info.uordblks + info.hblkhd);
}

/* The kernel's other figures are rounded for speed, this one is exact. */
static int64_t
resident_now (void)
{
  FILE *fp = fopen ("/proc/self/smaps_rollup", "re");
  char line[256];
  int64_t kib = 0;

  if (fp == NULL)
    return 0;
  while (fgets (line, sizeof line, fp)) {
    if (sscanf (line, "Anonymous: %" SCNd64, &kib) == 1)
      break;
  }
  fclose (fp);
  return kib * 1024;
}

static struct memory
memory_now (void)
{
  return (struct memory) { .heap = heap_now (), .resident = resident_now () };
}

static struct memory
memory_since (struct memory before)
{
  const struct memory now = memory_now ();

  return (struct memory) {
    .heap = now.heap - before.heap,
    .resident = now.resident - before.resident,
  };
}

/* A connection comes, its threads work, and it goes. */
static int
one_connection (const struct memory_load *load, struct layer *layer,
                struct memory before, struct memory *working)
{
  struct crew crew = {
    .layer = layer,
    .threads = load->plan->threads[0],
    .per_connection = load->plan->threads[0],
    .limit = REQUESTS,
  };

  if (crew_start (&crew) == -1 || crew_wait (&crew) == -1)
    return -1;
  if (working)
    *working = memory_since (before);
  crew_join (&crew);
  return 0;
}

/* In the child. */
static int
memory_here (const void *arg, void *result)
{
  const struct memory_load *load = arg;
  struct memory_use *use = result;
  const struct nbdkit_backend backend = {
    .workload = load->plan->workloads[0],
    .directory = load->plan->directory,
  };
  struct layer layer;
  struct memory before;

  if (layer_start (&layer, load->side, &backend) == -1)
    return -1;
  memory_now ();                /* what looking takes, comes before */
  before = memory_now ();
  for (unsigned i = 0; i < load->plan->connections; i++) {
    if (one_connection (load, &layer, before,
                        i == 0 ? &use->working : NULL) == -1)
      return -1;
    if (i == 0)
      use->first = memory_since (before);
  }
  use->last = memory_since (before);
  layer_stop (&layer);
  return 0;
}

#define NR_COLUMNS 7

static const struct column columns[NR_COLUMNS] = {
  { -10, "through" },
  { 13, "heap a thread" },
  { 17, "resident a thread" },
  { 13, "own, heap" },
  { 13, "own, resident" },
  { 13, "heap grew" },
  { 13, "resident grew" },
};

/* In bytes; "own" is what it takes beyond what the threads take anyway. */
static void
print_row (const struct plan *plan, const char *name,
           const struct memory_use *use, const struct memory_use *bypassed)
{
  const int64_t threads = plan->threads[0];
  const struct memory *working = &use->working;
  const int64_t figures[NR_COLUMNS - 1] = {
    working->heap / threads,
    working->resident / threads,
    (working->heap - bypassed->working.heap) / threads,
    (working->resident - bypassed->working.resident) / threads,
    use->last.heap - use->first.heap,
    use->last.resident - use->first.resident,
  };
  char cells[NR_COLUMNS][TABLE_CELL];

  snprintf (cells[0], TABLE_CELL, "%s", name);
  for (unsigned i = 1; i < NR_COLUMNS; i++)
    snprintf (cells[i], TABLE_CELL, "%" PRIi64, figures[i - 1]);
  table_row (columns, NR_COLUMNS, cells);
}

int
memory_table (const struct plan *plan)
{
  struct memory_use bypassed = { 0 }, use = { 0 };

  table_head (columns, NR_COLUMNS);
  for (unsigned i = 0; i < plan->nr_sides; i++) {
    const struct memory_load load = { .plan = plan, .side = &plan->sides[i] };

    if (in_child (memory_here, &load, &use, sizeof use) == -1)
      return -1;
    if (i == 0)
      bypassed = use;
    print_row (plan, load.side->name, &use, &bypassed);
  }
  return 0;
}
