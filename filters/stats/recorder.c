/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "recorder.h"

/* One thread's counters of one operation.  The sequence number is odd
 * while the thread changes them, so a reader knows when to read again.
 */
struct counters {
  _Atomic uint64_t sequence;
  struct op_totals totals;
};

/* One thread's part of a recorder. */
struct shard {
  struct timeline_log log;      /* first: it has the strictest alignment */
  struct recorder *recorder;
  _Atomic (struct counters *) ops[NR_OPS]; /* NULL before the first request */

  /* Under the recorder's lock: */
  struct shard *next;           /* all shards ever made */
  bool in_use;                  /* has a thread */
};

struct recorder {
  struct timeline timeline;     /* first: it has the strictest alignment */
  pthread_key_t key;            /* a thread's shard */
  uint64_t block;
  _Atomic uint64_t unrecorded;
  struct connections connections;

  pthread_mutex_t lock;         /* protects all below */
  struct shard *shards;
  struct op_totals scratch;     /* for one copy at a time, by a reader */
};

/* The shard's counters stay, and wait for another thread. */
static void
shard_leave (struct shard *shard)
{
  pthread_mutex_lock (&shard->recorder->lock);
  shard->in_use = false;
  pthread_mutex_unlock (&shard->recorder->lock);
}

/* The thread ends. */
static void
shard_release (void *vp)
{
  struct shard *shard = vp;

  timeline_detach (&shard->recorder->timeline, &shard->log, clock_now ());
  shard_leave (shard);
}

/* Zeroed memory on cache lines of its own. */
static void *
calloc_aligned (size_t size)
{
  const size_t whole = (size + CACHE_ALIGN - 1) / CACHE_ALIGN * CACHE_ALIGN;
  void *p = aligned_alloc (CACHE_ALIGN, whole);

  return p ? memset (p, 0, whole) : NULL;
}

struct recorder *
recorder_new (uint64_t block)
{
  struct recorder *recorder = calloc_aligned (sizeof *recorder);
  int r;

  if (recorder == NULL)
    return NULL;
  r = pthread_key_create (&recorder->key, shard_release);
  if (r != 0) {
    free (recorder);
    errno = r;
    return NULL;
  }
  recorder->block = block;
  timeline_init (&recorder->timeline);
  connections_init (&recorder->connections);
  pthread_mutex_init (&recorder->lock, NULL);
  return recorder;
}

struct connections *
recorder_connections (struct recorder *recorder)
{
  return &recorder->connections;
}

void
recorder_free (struct recorder *recorder)
{
  struct shard *shard, *next;

  if (recorder == NULL)
    return;
  pthread_key_delete (recorder->key);
  for (shard = recorder->shards; shard; shard = shard->next) {
    if (atomic_load (&shard->log.in_flight))
      return;
  }
  for (shard = recorder->shards; shard; shard = next) {
    next = shard->next;
    for (unsigned op = 0; op < NR_OPS; op++)
      free (shard->ops[op]);
    free (shard);
  }
  timeline_destroy (&recorder->timeline);
  connections_free (&recorder->connections);
  pthread_mutex_destroy (&recorder->lock);
  free (recorder);
}

/* A shard without a thread, or a new one; NULL when there is no memory. */
static struct shard *
shard_find (struct recorder *recorder)
{
  struct shard *shard;

  pthread_mutex_lock (&recorder->lock);
  for (shard = recorder->shards; shard; shard = shard->next) {
    if (!shard->in_use)
      break;
  }
  if (shard == NULL) {
    shard = calloc_aligned (sizeof *shard);
    if (shard) {
      shard->recorder = recorder;
      shard->next = recorder->shards;
      recorder->shards = shard;
    }
  }
  if (shard)
    shard->in_use = true;
  pthread_mutex_unlock (&recorder->lock);
  return shard;
}

/* Give the calling thread a shard: its first request in this recorder. */
static struct shard *
shard_adopt (struct recorder *recorder)
{
  struct shard *shard = shard_find (recorder);

  if (shard == NULL)
    return NULL;
  if (timeline_attach (&recorder->timeline, &shard->log) == -1) {
    shard_leave (shard);
    return NULL;
  }
  if (pthread_setspecific (recorder->key, shard) != 0) {
    shard_release (shard);
    return NULL;
  }
  return shard;
}

/* The shard's first request of this operation. */
static bool
counters_add (struct shard *shard, enum op op)
{
  struct counters *counters = calloc_aligned (sizeof *counters);

  if (counters == NULL)
    return false;
  atomic_store_explicit (&shard->ops[op], counters, memory_order_release);
  return true;
}

void
recorder_begin (struct recorder *recorder, struct request *request)
{
  const enum op op = request->op;
  struct shard *shard = pthread_getspecific (recorder->key);

  request->recorder = recorder;
  request->shard = NULL;
  if (shard == NULL)
    shard = shard_adopt (recorder);
  if (shard == NULL
      || (atomic_load_explicit (&shard->ops[op], memory_order_relaxed) == NULL
          && !counters_add (shard, op))) {
    atomic_fetch_add (&recorder->unrecorded, 1);
    return;
  }

  request->shard = shard;
  request->begin = clock_now ();
  if (request->streams != shard->log.streams)
    timeline_set_streams (&recorder->timeline, &shard->log,
                          request->streams, request->begin);
  timeline_begin (&shard->log, op, request->begin);
}

/* The thread's counters of the request's operation, made odd. */
static struct op_totals *
open_counters (const struct request *request)
{
  struct counters *c = atomic_load_explicit (&request->shard->ops[request->op],
                                             memory_order_relaxed);
  uint64_t sequence = atomic_load_explicit (&c->sequence,
                                            memory_order_relaxed);

  atomic_store_explicit (&c->sequence, sequence + 1, memory_order_relaxed);
  return &c->totals;
}

static void
close_counters (const struct request *request)
{
  struct counters *c = atomic_load_explicit (&request->shard->ops[request->op],
                                             memory_order_relaxed);
  uint64_t sequence = atomic_load_explicit (&c->sequence,
                                            memory_order_relaxed);

  atomic_store_explicit (&c->sequence, sequence + 1, memory_order_release);
}

static void
record_success (struct op_totals *totals, const struct request *request,
                uint64_t latency_ns)
{
  extremes_request (&totals->extremes, request, latency_ns,
                    totals->tally.requests);
  tally_request (&totals->tally, request, latency_ns,
                 request->recorder->block);
}

/* A client that asks for a fast zero is ready for this answer. */
static bool
is_fast_zero_refused (const struct request *request, int error)
{
  return request->flags & 1 << FLAG_FAST_ZERO
    && (error == ENOTSUP || error == EOPNOTSUPP);
}

static void
record_failure (struct op_totals *totals, const struct request *request,
                uint64_t latency_ns, int error)
{
  if (is_fast_zero_refused (request, error)) {
    tally_count (&totals->tally.fast_zero_refused.requests, 1);
    tally_count (&totals->tally.fast_zero_refused.ns, latency_ns);
  }
  else
    failures_count (&totals->failures, error, latency_ns);
}

void
recorder_end (struct request *request, int error)
{
  struct shard *shard = request->shard;
  struct op_totals *totals;
  uint64_t end, latency_ns;

  if (shard == NULL)
    return;
  end = clock_now ();
  latency_ns = clock_since (request->begin, end);

  totals = open_counters (request);
  if (error == 0)
    record_success (totals, request, latency_ns);
  else
    record_failure (totals, request, latency_ns, error);
  close_counters (request);

  timeline_end (&request->recorder->timeline, &shard->log,
                (struct interval) {
                  .begin = request->begin, .end = end,
                  .offset = request->offset, .count = request->count,
                  .op = (uint8_t) request->op, .succeeded = error == 0,
                  .in_stream = error == 0 && request->streams
                    && op_kind (request->op) != KIND_NONE,
                });
}

void
recorder_settle (struct recorder *recorder)
{
  timeline_sweep (&recorder->timeline, clock_now (), NULL);
}

void
recorder_extents (struct request *request,
                  const struct extents_returned *returned)
{
  struct tally *tally;

  if (request->shard == NULL)
    return;
  tally = &open_counters (request)->tally;
  tally_count (&tally->extents.count, returned->count);
  tally_count (&tally->extents.data, returned->data);
  tally_count (&tally->extents.hole, returned->hole);
  tally_count (&tally->extents.zero, returned->zero);
  close_counters (request);
}

/* Copy live counters.  Word by word, since they may change meanwhile. */
static void
copy_live (struct op_totals *to, const struct op_totals *live)
{
  uint64_t *words = (uint64_t *) to;
  const uint64_t *from = (const uint64_t *) live;

  for (size_t i = 0; i < sizeof *to / sizeof *words; i++)
    words[i] = __atomic_load_n (&from[i], __ATOMIC_ACQUIRE);
}

/* Copy live counters as they stood between two requests.  Mostly the first
 * try does it.  A thread that was preempted while it counts must be let
 * run; one that ends requests faster than they can be copied, which no
 * real plugin does, would keep us here for ever: after many tries one of
 * its figures may be a request ahead of another.
 */
static void
copy_between_requests (struct op_totals *to, struct counters *counters)
{
  enum { QUICK_TRIES = 100, TRIES = 10000 };
  const struct timespec pause = { .tv_nsec = 50000 };
  uint64_t before, after;

  for (int i = 0; i < TRIES; i++) {
    before = atomic_load_explicit (&counters->sequence, memory_order_acquire);
    copy_live (to, &counters->totals);
    after = atomic_load_explicit (&counters->sequence, memory_order_relaxed);
    if (before == after && before % 2 == 0)
      return;
    if (i >= QUICK_TRIES || after % 2 == 1)
      nanosleep (&pause, NULL);
  }
}

static void
op_totals_add (struct op_totals *sum, const struct op_totals *part)
{
  extremes_add (&sum->extremes, sum->tally.requests,
                &part->extremes, part->tally.requests);
  tally_add (&sum->tally, &part->tally);
  failures_add (&sum->failures, &part->failures);
}

void
recorder_hold (struct recorder *recorder)
{
  timeline_lock (&recorder->timeline);
}

void
recorder_release (struct recorder *recorder)
{
  timeline_unlock (&recorder->timeline);
}

void
recorder_take_times (struct recorder *recorder, uint64_t now,
                     struct recorder_totals *totals)
{
  timeline_sweep_locked (&recorder->timeline, now, &totals->time);
}

void
recorder_take_counters (struct recorder *recorder,
                        struct recorder_totals *totals)
{
  struct shard *shard;
  struct counters *counters;

  memset (totals->ops, 0, sizeof totals->ops);
  connections_read (&recorder->connections, &totals->connections);
  pthread_mutex_lock (&recorder->lock);
  for (shard = recorder->shards; shard; shard = shard->next) {
    for (unsigned op = 0; op < NR_OPS; op++) {
      counters = atomic_load_explicit (&shard->ops[op], memory_order_acquire);
      if (counters == NULL)
        continue;
      copy_between_requests (&recorder->scratch, counters);
      op_totals_add (&totals->ops[op], &recorder->scratch);
    }
  }
  pthread_mutex_unlock (&recorder->lock);
  totals->unrecorded = atomic_load (&recorder->unrecorded);
}

void
recorder_read (struct recorder *recorder, uint64_t now,
               struct recorder_totals *totals)
{
  recorder_hold (recorder);
  recorder_take_times (recorder, now, totals);
  recorder_release (recorder);
  recorder_take_counters (recorder, totals);
}
