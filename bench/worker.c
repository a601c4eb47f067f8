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

#include "clock.h"
#include "random.h"
#include "worker.h"

/* How many requests a thread sends before it looks up: even, for as many
 * reads as writes, and few where each takes long.
 */
#define BATCH 32
#define SLOW_BATCH 2

/* Thousands of threads shall not need gigabytes. */
#define STACK_SIZE (256 * 1024)

static void
note_spent (struct spent *longest, struct spent spent)
{
  if (longest->time < spent.time)
    longest->time = spent.time;
  if (longest->cpu < spent.cpu)
    longest->cpu = spent.cpu;
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
}

/* Reads and writes in turn, through the filter or past it.  The loop is
 * compiled twice, so that one that does not watch does not ask.
 */
static inline __attribute__ ((always_inline)) void
send_requests (struct worker *worker, unsigned n, const bool watch)
{
  const struct layer *layer = worker->crew->layer;
  const struct nbdkit_filter *filter = layer->filter;
  const uint32_t count = layer->backend.workload->count;
  const uint64_t mask = BACKEND_SIZE / count - 1;
  nbdkit_next *next = worker->session->client.context.next;
  void *handle = worker->session->client.handle;
  void *buf = worker->buf;

  for (unsigned i = 0; i < n; i++) {
    const uint64_t offset = (random_next (&worker->random) & mask) * count;
    int err = 0, r;

    if (watch) {
      stopwatch_reset ();
      stopwatch_run ();
    }
    if (i % 2 == 0)
      r = (filter->pread
           ? filter->pread (next, handle, buf, count, offset, 0, &err)
           : next->pread (next, buf, count, offset, 0, &err));
    else
      r = (filter->pwrite
           ? filter->pwrite (next, handle, buf, count, offset, 0, &err)
           : next->pwrite (next, buf, count, offset, 0, &err));
    if (watch) {
      stopwatch_stop ();
      read_watch (worker);
    }
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
work (struct worker *worker)
{
  struct crew *crew = worker->crew;
  const bool slow = crew->layer && crew->layer->backend.workload->sleeps;
  const unsigned batch = slow ? SLOW_BATCH : BATCH;
  uint64_t done = 0;

  while (done < crew->limit
         && !atomic_load_explicit (&crew->stop, memory_order_relaxed)) {
    const uint64_t left = crew->limit - done;
    const unsigned n = left < batch ? (unsigned) left : batch;

    if (crew->layer == NULL)
      read_clock_twice (n);
    else if (crew->watch)
      send_requests (worker, n, true);
    else
      send_requests (worker, n, false);
    done += n;
    atomic_store_explicit (&worker->filter_cpu, worker->all.cpu,
                           memory_order_relaxed);
    atomic_store_explicit (&worker->done, done, memory_order_relaxed);
  }
}

/* Connections. */

/* From any thread; whoever is not the first waits for the first. */
static int
session_open (struct crew *crew, struct session *session)
{
  pthread_mutex_lock (&session->lock);
  if (!session->open)
    session->open = layer_connect (crew->layer, &session->client) == 0;
  pthread_mutex_unlock (&session->lock);
  return session->open ? 0 : -1;
}

static unsigned
nr_sessions (const struct crew *crew)
{
  if (crew->layer == NULL)
    return 0;
  return (crew->threads + crew->per_connection - 1) / crew->per_connection;
}

static int
sessions_open (struct crew *crew)
{
  for (unsigned i = 0; i < nr_sessions (crew); i++) {
    pthread_mutex_init (&crew->sessions[i].lock, NULL);
    if (!crew->at_once && session_open (crew, &crew->sessions[i]) == -1)
      return -1;
  }
  return 0;
}

static void
sessions_close (struct crew *crew)
{
  for (unsigned i = 0; i < nr_sessions (crew); i++) {
    if (crew->sessions[i].open)
      layer_disconnect (crew->layer, &crew->sessions[i].client);
    pthread_mutex_destroy (&crew->sessions[i].lock);
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
  if (crew->layer == NULL || session_open (crew, worker->session) == 0)
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
#define SESSIONS_SIZE(crew) ((crew)->threads * sizeof *(crew)->sessions)
#define BUFFERS_SIZE(crew) ((size_t) (crew)->threads * MAX_COUNT)

static int
reserve_all (struct crew *crew)
{
  crew->workers = reserve (WORKERS_SIZE (crew));
  crew->sessions = reserve (SESSIONS_SIZE (crew));
  crew->buffers = reserve (BUFFERS_SIZE (crew));
  if (crew->workers && crew->sessions && crew->buffers)
    return 0;
  nbdkit_error ("mmap: %m");
  return -1;
}

static void
release_all (struct crew *crew)
{
  munmap (crew->workers, WORKERS_SIZE (crew));
  munmap (crew->sessions, SESSIONS_SIZE (crew));
  munmap (crew->buffers, BUFFERS_SIZE (crew));
}

static int
start_threads (struct crew *crew)
{
  pthread_attr_t attr;

  pthread_attr_init (&attr);
  pthread_attr_setstacksize (&attr, STACK_SIZE);
  for (unsigned i = 0; i < crew->threads; i++) {
    struct worker *worker = &crew->workers[i];
    int r;

    worker->crew = crew;
    worker->session = &crew->sessions[i / crew->per_connection];
    worker->buf = &crew->buffers[(size_t) i * MAX_COUNT];
    worker->random = i;
    r = pthread_create (&worker->thread, &attr, worker_main, worker);
    if (r != 0) {
      nbdkit_error ("pthread_create: %s", strerror (r));
      return -1;
    }
  }
  pthread_attr_destroy (&attr);
  return 0;
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
  if (reserve_all (crew) == -1 || sessions_open (crew) == -1
      || start_threads (crew) == -1)
    return -1;
  if (crew->pin)
    pin_threads (crew);
  pthread_barrier_wait (&crew->barrier);
  return 0;
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
  sessions_close (crew);
  release_all (crew);
}

struct progress
crew_progress (struct crew *crew)
{
  struct progress progress = { 0 };

  for (unsigned i = 0; i < crew->threads; i++) {
    struct worker *worker = &crew->workers[i];

    progress.requests += atomic_load_explicit (&worker->done,
                                               memory_order_relaxed);
    progress.filter_cpu += atomic_load_explicit (&worker->filter_cpu,
                                                 memory_order_relaxed);
  }
  return progress;
}

void
crew_stop (struct crew *crew)
{
  atomic_store_explicit (&crew->stop, true, memory_order_relaxed);
}
