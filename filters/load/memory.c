/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <time.h>

#include "clock.h"
#include "crew.h"
#include "measure.h"
#include "own_threads.h"

/* Without mallinfo2 only what is resident is known. */
static int64_t
heap_now (void)
{
#ifdef HAVE_MALLINFO2
  const struct mallinfo2 info = mallinfo2 (); /* of all arenas */

  return (int64_t) (info.uordblks + info.hblkhd);
#else
  return 0;
#endif
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

/* When a connection has gone.  What a filter frees in a thread of its own is
 * no leak: look until there is no more than had been left once before, or for
 * a while.
 */
#define LOOKS 15
#define BETWEEN_NS (NS_PER_S / 50)

static struct memory
memory_left (struct memory before, struct memory enough)
{
  const struct timespec between = clock_timespec (BETWEEN_NS);
  struct memory least = memory_since (before);

  for (unsigned i = 0; i < LOOKS && least.heap > enough.heap; i++) {
    struct memory now;

    nanosleep (&between, NULL);
    now = memory_since (before);
    if (now.heap < least.heap)
      least = now;
  }
  return least;
}

/* Static, since threads may still look where a measurement failed. */
static struct crew crew;

static int
connection_comes (const struct job *job, uint64_t requests)
{
  crew = (struct crew) {
    .job = job,
    .threads = (unsigned) job->threads,
    .sharing = (unsigned) job->sharing,
    .limit = requests,
  };
  return crew_start (&crew) == -1 ? -1 : crew_wait (&crew);
}

/* The first one comes, its threads work, and it goes. */
static int
first_connection (const struct job *job, struct memory before,
                  struct result *result)
{
  struct memory_use *use = &result->memory;

  if (connection_comes (job, MEMORY_REQUESTS) == -1)
    return -1;
  use->working = memory_since (before);
  result->own_threads = own_threads (&crew, 1).count;
  crew_join (&crew);
  use->first = memory_left (before, (struct memory) { 0 });
  return 0;
}

/* So many come and go, one after the other. */
static int
connections_go (const struct job *job, uint64_t count)
{
  for (uint64_t i = 0; i < count; i++) {
    if (connection_comes (job, MEMORY_REQUESTS) == -1)
      return -1;
    crew_join (&crew);
  }
  return 0;
}

/* One sends so many requests. */
static int
ask (const struct job *job)
{
  if (connection_comes (job, MEMORY_MORE / job->threads) == -1)
    return -1;
  crew_join (&crew);
  return 0;
}

int
measure_memory (const struct job *job, struct result *result)
{
  struct memory_use *use = &result->memory;
  const uint64_t others = job->connections - 1;
  struct memory before;

  memory_now ();                /* what looking takes, comes before */
  before = memory_now ();
  if (first_connection (job, before, result) == -1
      || connections_go (job, others / 2) == -1)
    return -1;
  use->half = memory_left (before, use->first);
  if (connections_go (job, others - others / 2) == -1)
    return -1;
  use->last = memory_left (before, use->first);
  if (ask (job) == -1)
    return -1;
  use->asked = memory_left (before, use->first);
  if (ask (job) == -1)
    return -1;
  use->more = memory_left (before, use->first);
  return 0;
}
