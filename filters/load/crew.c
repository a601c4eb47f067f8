/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend.h"
#include "clock.h"
#include "cold.h"
#include "crew.h"
#include "histogram.h"
#include "random.h"
#include "stopwatch.h"

/* Thousands of threads shall not need gigabytes. */
#define STACK_SIZE (256 * 1024)

static _Atomic bool all_stop;

static void
note_spent (struct spent *longest, struct spent spent)
{
  if (longest->time < spent.time)
    longest->time = spent.time;
  if (longest->cpu < spent.cpu)
    longest->cpu = spent.cpu;
}

/* Only its own thread writes there. */
static void
store (_Atomic uint64_t *where, uint64_t value)
{
  atomic_store_explicit (where, value, memory_order_relaxed);
}

static uint64_t
load (_Atomic uint64_t *where)
{
  return atomic_load_explicit (where, memory_order_relaxed);
}

void
crews_stop (void)
{
  atomic_store_explicit (&all_stop, true, memory_order_relaxed);
}

bool
crews_stopped (void)
{
  return atomic_load_explicit (&all_stop, memory_order_relaxed);
}

/* After a request. */
static void
read_watch (struct worker *worker)
{
  const struct spent spent = stopwatch_read ();

  if (worker->first.time == 0)
    worker->first = spent;
  note_spent (&worker->longest, spent);
  worker->all.time += spent.time;
  worker->all.cpu += spent.cpu;
  worker->bins[histogram_bin (spent.time)]++;
  store (&worker->inside_time, worker->all.time);
  store (&worker->inside_cpu, worker->all.cpu);
}

static bool
goes_on (const struct crew *crew, uint64_t done)
{
  return done < crew->limit
    && !atomic_load_explicit (&crew->stop, memory_order_relaxed)
    && !crews_stopped ();
}

/* Through the filter or past it, at random places.  The loop is compiled
 * twice, so that one that does not watch does not ask.
 */
static inline __attribute__ ((always_inline)) void
send_requests (struct worker *worker, const bool watch)
{
  const struct crew *crew = worker->crew;
  const uint32_t count = backend.workload->count;
  const uint64_t places = worker->place->session.size / count;
  const uint64_t writes = crew->job->writes;
  nbdkit_next *next = worker->place->session.next;
  void *buf = worker->buf;

  for (uint64_t i = 0; goes_on (crew, i); i++) {
    const uint64_t random = random_next (&worker->random);
    const uint64_t offset = (random * places >> 32) * count;
    int err = 0, r;

    if (watch) {
      cold_walk ();
      stopwatch_reset ();
      stopwatch_run ();
    }
    if (i % 2 + writes < 2)
      r = next->pread (next, buf, count, offset, 0, &err);
    else
      r = next->pwrite (next, buf, count, offset, 0, &err);
    if (watch) {
      stopwatch_stop ();
      read_watch (worker);
    }
    if (r == -1) {
      worker->failed++;
      worker->error = err;
    }
    store (&worker->done, i + 1);
  }
}

/* Instead: what no filter that measures time can do without. */
static void
read_clock_twice (struct worker *worker)
{
  for (uint64_t i = 0; goes_on (worker->crew, i); i++) {
    clock_now ();
    clock_now ();
    store (&worker->done, i + 1);
  }
}

static void
work (struct worker *worker)
{
  if (worker->crew->job->clocks)
    read_clock_twice (worker);
  else if (stopwatch != STOPWATCH_OFF)
    send_requests (worker, true);
  else
    send_requests (worker, false);
}

/* Sessions. */

/* From any thread; whoever is not the first waits for the first. */
static int
place_open (struct crew *crew, struct place *place)
{
  pthread_mutex_lock (&place->lock);
  if (!place->open)
    place->open = session_open (&place->session, crew->job->writes != 0,
                                backend.workload->count) == 0;
  pthread_mutex_unlock (&place->lock);
  return place->open ? 0 : -1;
}

static unsigned
nr_places (const struct crew *crew)
{
  return (crew->threads + crew->sharing - 1) / crew->sharing;
}

static int
places_open (struct crew *crew)
{
  for (unsigned i = 0; i < nr_places (crew); i++) {
    pthread_mutex_init (&crew->places[i].lock, NULL);
    if (!crew->job->at_once && place_open (crew, &crew->places[i]) == -1)
      return -1;
  }
  return 0;
}

static void
places_close (struct crew *crew)
{
  for (unsigned i = 0; i < nr_places (crew); i++) {
    if (crew->places[i].open)
      session_close (&crew->places[i].session);
    pthread_mutex_destroy (&crew->places[i].lock);
  }
}

/* Threads. */

static void *
worker_main (void *vp)
{
  struct worker *worker = vp;
  struct crew *crew = worker->crew;

  worker->tid = gettid ();
  pthread_barrier_wait (&crew->barrier); /* crew_start */
  worker->begin = clock_now ();
  if (place_open (crew, worker->place) == 0)
    work (worker);
  else {
    worker->failed = 1;
    worker->error = ECONNREFUSED;
  }
  worker->end = clock_now ();
  pthread_barrier_wait (&crew->barrier); /* crew_wait */
  pthread_barrier_wait (&crew->barrier); /* crew_join */
  return NULL;
}

/* Beyond any allocator, so that the only heap that is used is the
 * filter's.
 */
static void *
reserve (size_t size)
{
  void *p = mmap (NULL, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  return p == MAP_FAILED ? NULL : p;
}

#define WORKERS_SIZE(crew) ((crew)->threads * sizeof *(crew)->workers)
#define PLACES_SIZE(crew) ((crew)->threads * sizeof *(crew)->places)
#define BUFFERS_SIZE(crew) ((size_t) (crew)->threads * MAX_COUNT)
#define BINS_SIZE(crew)                                                   \
  ((size_t) (crew)->threads * HISTOGRAM_ALL * sizeof *(crew)->bins)

static int
reserve_all (struct crew *crew)
{
  crew->workers = reserve (WORKERS_SIZE (crew));
  crew->places = reserve (PLACES_SIZE (crew));
  crew->buffers = reserve (BUFFERS_SIZE (crew));
  crew->bins = reserve (BINS_SIZE (crew));
  if (crew->workers && crew->places && crew->buffers && crew->bins)
    return 0;
  nbdkit_error ("mmap: %m");
  return -1;
}

static void
release_all (struct crew *crew)
{
  munmap (crew->workers, WORKERS_SIZE (crew));
  munmap (crew->places, PLACES_SIZE (crew));
  munmap (crew->buffers, BUFFERS_SIZE (crew));
  munmap (crew->bins, BINS_SIZE (crew));
  crew->workers = NULL;         /* own_threads looks there */
}

static int
start_threads (struct crew *crew)
{
  pthread_attr_t attr;
  int r = 0;

  pthread_attr_init (&attr);
  pthread_attr_setstacksize (&attr, STACK_SIZE);
  for (unsigned i = 0; i < crew->threads && r == 0; i++) {
    struct worker *worker = &crew->workers[i];

    worker->crew = crew;
    worker->place = &crew->places[i / crew->sharing];
    worker->buf = &crew->buffers[(size_t) i * MAX_COUNT];
    worker->bins = &crew->bins[(size_t) i * HISTOGRAM_ALL];
    worker->random = i;
    r = pthread_create (&worker->thread, &attr, worker_main, worker);
  }
  pthread_attr_destroy (&attr);
  if (r == 0)
    return 0;
  nbdkit_error ("pthread_create: %s", strerror (r));
  return -1;
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
  if (reserve_all (crew) == -1 || places_open (crew) == -1
      || start_threads (crew) == -1)
    return -1;
  if (crew->job->pin)
    pin_threads (crew);
  pthread_barrier_wait (&crew->barrier);
  return 0;
}

/* Of all requests of all workers; adds them all up in the first one's. */
static uint64_t
median (struct crew *crew)
{
  uint64_t *all = crew->bins;

  for (unsigned i = 1; i < crew->threads; i++) {
    for (unsigned bin = 0; bin < HISTOGRAM_ALL; bin++)
      all[bin] += crew->workers[i].bins[bin];
  }
  return histogram_percentile (all, 50000, 0, crew->longest.time);
}

static void
add_up_workers (struct crew *crew)
{
  uint64_t begin = UINT64_MAX, end = 0;

  for (unsigned i = 0; i < crew->threads; i++) {
    const struct worker *worker = &crew->workers[i];

    crew->failed += worker->failed;
    if (worker->failed > 0)
      crew->error = worker->error;
    if (begin > worker->begin)
      begin = worker->begin;
    if (end < worker->end)
      end = worker->end;
    note_spent (&crew->first, worker->first);
    note_spent (&crew->longest, worker->longest);
  }
  crew->time = end - begin;
  if (stopwatch != STOPWATCH_OFF)
    crew->median = median (crew);
}

int
crew_wait (struct crew *crew)
{
  pthread_barrier_wait (&crew->barrier);
  add_up_workers (crew);
  if (crew->failed == 0)
    return 0;
  nbdkit_error ("%" PRIu64 " requests failed, the last one with: %s",
                crew->failed, strerror (crew->error));
  return -1;
}

void
crew_join (struct crew *crew)
{
  pthread_barrier_wait (&crew->barrier);
  for (unsigned i = 0; i < crew->threads; i++)
    pthread_join (crew->workers[i].thread, NULL);
  pthread_barrier_destroy (&crew->barrier);
  places_close (crew);
  release_all (crew);
}

struct progress
crew_progress (struct crew *crew)
{
  struct progress progress = { 0 };

  for (unsigned i = 0; i < crew->threads; i++) {
    struct worker *worker = &crew->workers[i];

    progress.requests += load (&worker->done);
    progress.inside_time += load (&worker->inside_time);
    progress.inside_cpu += load (&worker->inside_cpu);
  }
  return progress;
}

void
crew_stop (struct crew *crew)
{
  atomic_store_explicit (&crew->stop, true, memory_order_relaxed);
}
