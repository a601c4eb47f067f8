/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "recorder.h"

/* A thread ends. */
static void
leave_ring (void *vp)
{
  struct ring *ring = vp;

  settler_leave_ring (ring->recorder->settler, ring);
}

struct recorder *
recorder_new (struct settler *settler, uint64_t block)
{
  struct recorder *recorder = calloc (1, sizeof *recorder);
  int r;

  if (recorder == NULL)
    return NULL;
  r = pthread_key_create (&recorder->key, leave_ring);
  if (r != 0) {
    free (recorder);
    errno = r;
    return NULL;
  }
  recorder->settler = settler;
  recorder->block = block;
  timeline_init (&recorder->timeline, clock_now ());
  connections_init (&recorder->connections);
  return recorder;
}

void
recorder_start (struct recorder *recorder, uint64_t now)
{
  timeline_init (&recorder->timeline, now);
}

void
recorder_free (struct recorder *recorder)
{
  if (recorder == NULL)
    return;
  pthread_key_delete (recorder->key);
  connections_free (&recorder->connections);
  by_export_free (&recorder->by_export);
  free (recorder);
}

/* Rings for those who serve. */

void
recorder_leave (struct recorder *recorder)
{
  struct ring *ring = pthread_getspecific (recorder->key);

  if (ring == NULL)
    return;
  pthread_setspecific (recorder->key, NULL);
  leave_ring (ring);
}

/* Make it the calling thread's. */
static bool
set_ring (struct recorder *recorder, struct ring *ring)
{
  ring->recorder = recorder;
  if (pthread_setspecific (recorder->key, ring) == 0)
    return true;
  settler_leave_ring (recorder->settler, ring);
  return false;
}

/* All records in a ring are of one connection, so that none need say so.
 * nbdkit starts threads for each connection; those that filters start may
 * serve several.
 */
static void
set_connection (struct ring *ring, struct connection *connection)
{
  if (ring->connection) {
    settler_drain (ring->recorder->settler, ring, ring->size);
    connection_release (ring->connection);
  }
  connection_keep (connection);
  connection_use (connection);
  ring->connection = connection;
}

/* Opening is of no connection yet, and any ring will do. */
struct ring *
recorder_find_ring (struct recorder *recorder, struct connection *connection,
                    unsigned kind)
{
  struct ring *ring = pthread_getspecific (recorder->key);

  if (ring == NULL) {
    ring = settler_get_ring (recorder->settler);
    if (ring && !set_ring (recorder, ring))
      ring = NULL;
  }
  if (ring == NULL || ring_is_in_flight (ring)) {
    if (ring == NULL || kind < NR_OPS)
      atomic_fetch_add (&recorder->unrecorded, 1);
    return NULL;
  }
  if (kind < NR_OPS && ring->connection != connection)
    set_connection (ring, connection);
  return ring;
}

void
recorder_change_ring (struct ring *full)
{
  struct recorder *recorder = full->recorder;
  struct ring *ring = settler_get_another (recorder->settler, full);

  if (ring == NULL) {
    settler_drain (recorder->settler, full, 1);
    return;
  }
  if (full->connection)
    connection_keep (full->connection);
  ring->connection = full->connection;
  /* This cannot fail where the thread has had a ring. */
  set_ring (recorder, ring);
  settler_leave_ring (recorder->settler, full);
}

/* In its place in the order of time, as a request that takes none. */
void
recorder_closed (struct recorder *recorder)
{
  static const struct request closing = {
    .kind = KIND_OPENING, .flags = OPENING_CLOSES,
  };
  struct ring *ring = recorder_begin (recorder, NULL, &closing);

  if (ring == NULL) {
    atomic_fetch_add (&recorder->unrecorded_closings, 1);
    return;
  }
  recorder_stop (ring, ring_record (ring));
  recorder_end (ring, ring_record (ring), 0);
}

/* What the settler counts. */

static bool
has_offset (unsigned kind)
{
  return kind < NR_OPS && kind != OP_FLUSH;
}

/* See whether it goes on with a stream, where it has an offset. */
static void
follow (struct ring *ring, const struct record *record)
{
  const unsigned kind = record->kind;
  struct sequence *stream;

  if (!has_offset (kind))
    return;
  stream = ring->connection->streams[kind];
  if (stream == NULL)
    stream = connection_stream (ring->connection, kind);
  if (stream)
    timeline_follow (&ring->request, record->offset, record->count, stream);
}

/* It has failed, so it went on with nothing. */
static void
unfollow (struct ring *ring, const struct record *record)
{
  struct sequence *stream = has_offset (record->kind)
    ? ring->connection->streams[record->kind] : NULL;

  if (stream)
    timeline_unfollow (&ring->recorder->timeline, &ring->request, record,
                       stream);
}

static void
count_success (struct ring *ring, const struct record *record, uint64_t ns)
{
  struct op_totals *op = &ring->recorder->ops[record->kind];

  extremes_record (&op->extremes, record, ns, op->tally.requests);
  tally_record (&op->tally, record, ns, ring->recorder->block);
  tally_alignment (&op->tally, record,
                   atomic_load_explicit (&ring->connection->preferred,
                                         memory_order_relaxed));
}

static void
count_failure (struct op_totals *op, const struct record *record, uint64_t ns)
{
  if (record_is_refused (record)) {
    op->tally.fast_zero_refused.requests++;
    op->tally.fast_zero_refused.ns += ns;
  }
  else
    failures_count (&op->failures, record->error, ns);
}

static bool
is_closing (const struct record *record)
{
  return record->kind == KIND_OPENING && record->flags & OPENING_CLOSES;
}

/* A client is there before the opening ends, so that there is no moment
 * without either.
 */
static void
tell_opened (struct ring *ring, const struct record *record)
{
  struct recorder *recorder = ring->recorder;
  struct concurrency *concurrency = &recorder->timeline.concurrency;

  if (is_closing (record)) {
    concurrency_disconnect (concurrency, record->begin);
    return;
  }
  if (record->flags & OPENING_CONNECTS && !record->failed)
    concurrency_connect (concurrency, record->end);
  concurrency_end (concurrency, KIND_OPENING, record->end);
}

static inline void
tell_end (struct ring *ring, const struct record *record)
{
  struct recorder *recorder = ring->recorder;
  const uint64_t ns = record->end - record->begin;

  if (record->kind >= NR_OPS) {
    tell_opened (ring, record);
    return;
  }
  timeline_end (&recorder->timeline, &ring->request, record);
  if (record->failed) {
    unfollow (ring, record);
    count_failure (&recorder->ops[record->kind], record, ns);
  }
  else
    count_success (ring, record, ns);
}

/* By export.  Whoever begins the first request of another has said so before,
 * and all that was told until this is seen is of the only one.
 */
static bool
counts_by_export (struct recorder *recorder)
{
  struct by_export *by = &recorder->by_export;

  if (!connections_used_several (&recorder->connections))
    return false;
  if (!by->counts)
    by_export_start (by, connections_first_used (&recorder->connections),
                     recorder->ops, &recorder->timeline.concurrency);
  return true;
}

/* The begin or the end of the record, which the timeline was told. */
static void
tell_export (struct ring *ring, const struct record *record)
{
  struct recorder *recorder = ring->recorder;
  struct by_export *by = &recorder->by_export;
  const struct concurrency *c = &recorder->timeline.concurrency;
  unsigned place;

  if (record->kind >= NR_OPS)
    return;
  place = atomic_load_explicit (&ring->connection->place,
                                memory_order_relaxed);
  if (ring->begun)
    by_export_end (by, place, record, c);
  else
    by_export_begin (by, place, record, c);
}

/* It begins, and may have ended.  What is asked stands in its record. */
static inline void
tell_begin (struct ring *ring, const struct record *record)
{
  struct timeline *timeline = &ring->recorder->timeline;

  if (record->kind >= NR_OPS) {
    if (!is_closing (record))
      concurrency_begin (&timeline->concurrency, KIND_OPENING, record->begin);
    return;
  }
  timeline_begin (timeline, &ring->request, record);
  follow (ring, record);
}

/* Mostly a request ends before anything else happens. */
uint64_t
recorder_tell (struct ring *ring, uint64_t bound, unsigned *budget)
{
  const bool by_export = counts_by_export (ring->recorder);
  uint32_t tail = atomic_load_explicit (&ring->tail, memory_order_relaxed);
  const struct record *record = ring_record_at (ring, tail);
  uint64_t next = ring_next_of (ring, tail, record);
  unsigned left = *budget;

  while (next <= bound && left > 0) {
    left--;
    if (!ring->begun) {
      tell_begin (ring, record);
      if (by_export)
        tell_export (ring, record);
      ring->begun = true;
      next = ring_next_of (ring, tail, record);
      if (next > bound)
        break;
    }
    tell_end (ring, record);
    if (by_export)
      tell_export (ring, record);
    ring->begun = false;
    record = ring_record_at (ring, ++tail);
    ring_prefetch_after (ring, tail);
    next = ring_next_of (ring, tail, record);
  }
  atomic_store_explicit (&ring->tail, tail, memory_order_release);
  *budget = left;
  return next;
}

void
recorder_forget_ring (struct ring *ring)
{
  if (ring->connection)
    connection_release (ring->connection);
  ring->connection = NULL;
}

/* Readers. */

void
recorder_read (struct recorder *recorder, uint64_t moment,
               struct recorder_totals *totals)
{
  while (atomic_load (&recorder->unrecorded_closings) > 0) {
    atomic_fetch_sub (&recorder->unrecorded_closings, 1);
    concurrency_disconnect (&recorder->timeline.concurrency, moment);
  }
  timeline_read (&recorder->timeline, moment, &totals->time);
  memcpy (totals->ops, recorder->ops, sizeof totals->ops);
  connections_read (&recorder->connections, &totals->connections);
  totals->by_export.only
    = connections_first_used (&recorder->connections);
  by_export_read (&recorder->by_export, moment, recorder->ops,
                  &totals->by_export);
  totals->unrecorded = atomic_load (&recorder->unrecorded);
}
