/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "clock.h"
#include "worker.h"

/* How many requests a thread sends before it looks up. */
#define BATCH 32

/* Beyond any allocator, so that the only heap that is used is the
 * filter's.
 */
alignas (4096) static char buffers[MAX_THREADS][MAX_COUNT];

/* Each worker's next random number. */
static inline uint64_t
next_random (struct worker *worker)
{
  worker->random = worker->random * UINT64_C (6364136223846793005)
    + UINT64_C (1442695040888963407);
  return worker->random >> 32;
}

/* Reads and writes in turn, through the filter or past it. */
static void
send_requests (struct worker *worker, void *buf, unsigned n)
{
  const struct layer *layer = worker->crew->layer;
  const struct nbdkit_filter *filter = layer->filter;
  const uint32_t count = layer->backend.workload->count;
  const uint64_t mask = BACKEND_SIZE / count - 1;
  nbdkit_next *next = worker->client->context.next;
  void *handle = worker->client->handle;

  for (unsigned i = 0; i < n; i++) {
    const uint64_t offset = (next_random (worker) & mask) * count;
    int err = 0, r;

    if (i % 2 == 0)
      r = (filter->pread
           ? filter->pread (next, handle, buf, count, offset, 0, &err)
           : next->pread (next, buf, count, offset, 0, &err));
    else
      r = (filter->pwrite
           ? filter->pwrite (next, handle, buf, count, offset, 0, &err)
           : next->pwrite (next, buf, count, offset, 0, &err));
    if (r == -1) {
      worker->failed++;
      worker->error = err;
    }
  }
}

/* Instead: what no filter that measures time can do without. */
static void
read_clock_twice (unsigned n)
{
  for (unsigned i = 0; i < 2 * n; i++)
    clock_now ();
}

static void
work (struct worker *worker, void *buf)
{
  struct crew *crew = worker->crew;
  uint64_t done = 0;

  while (done < crew->limit
         && !atomic_load_explicit (&crew->stop, memory_order_relaxed)) {
    const uint64_t left = crew->limit - done;
    const unsigned n = left < BATCH ? (unsigned) left : BATCH;

    if (crew->layer)
      send_requests (worker, buf, n);
    else
      read_clock_twice (n);
    done += n;
    atomic_store_explicit (&worker->done, done, memory_order_relaxed);
  }
}

static void *
worker_main (void *vp)
{
  struct worker *worker = vp;
  struct crew *crew = worker->crew;

  pthread_barrier_wait (&crew->barrier); /* crew_start */
  work (worker, buffers[worker - crew->workers]);
  pthread_barrier_wait (&crew->barrier); /* crew_wait */
  pthread_barrier_wait (&crew->barrier); /* crew_join */
  return NULL;
}

/* Bind each thread to one of the CPUs that we may use, in turn. */
static void
pin_threads (struct crew *crew)
{
  cpu_set_t allowed, one;
  int cpu = -1;

  if (sched_getaffinity (0, sizeof allowed, &allowed) == -1)
    return;
  for (unsigned i = 0; i < crew->threads; i++) {
    do
      cpu = (cpu + 1) % CPU_SETSIZE;
    while (!CPU_ISSET (cpu, &allowed));
    CPU_ZERO (&one);
    CPU_SET (cpu, &one);
    pthread_setaffinity_np (crew->workers[i].thread, sizeof one, &one);
  }
}

int
crew_start (struct crew *crew)
{
  pthread_barrier_init (&crew->barrier, NULL, crew->threads + 1);
  for (unsigned i = 0; i < crew->threads; i++) {
    struct worker *worker = &crew->workers[i];
    int r;

    worker->crew = crew;
    worker->random = i;
    r = pthread_create (&worker->thread, NULL, worker_main, worker);
    if (r != 0) {
      nbdkit_error ("pthread_create: %s", strerror (r));
      return -1;
    }
  }
  if (crew->pin)
    pin_threads (crew);
  pthread_barrier_wait (&crew->barrier);
  return 0;
}

void
crew_wait (struct crew *crew)
{
  pthread_barrier_wait (&crew->barrier);
  for (unsigned i = 0; i < crew->threads; i++) {
    crew->failed += crew->workers[i].failed;
    if (crew->workers[i].failed > 0)
      crew->error = crew->workers[i].error;
  }
}

void
crew_join (struct crew *crew)
{
  pthread_barrier_wait (&crew->barrier);
  for (unsigned i = 0; i < crew->threads; i++)
    pthread_join (crew->workers[i].thread, NULL);
  pthread_barrier_destroy (&crew->barrier);
}

uint64_t
crew_done (struct crew *crew)
{
  uint64_t done = 0;

  for (unsigned i = 0; i < crew->threads; i++)
    done += atomic_load_explicit (&crew->workers[i].done,
                                  memory_order_relaxed);
  return done;
}

void
crew_stop (struct crew *crew)
{
  atomic_store_explicit (&crew->stop, true, memory_order_relaxed);
}
