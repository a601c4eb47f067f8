/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The recorder of one layer: the data path on one side, on which a request
 * begins and ends and leaves a record, and all that was counted of the
 * records on the other.
 *
 *   served by any thread                  by whoever settles
 *   begin, end -> ring of the thread  ->  order of time -> counts
 */

#ifndef STATS_RECORDER_H
#define STATS_RECORDER_H

#include <pthread.h>
#include <stdint.h>

#include "by_export.h"
#include "connections.h"
#include "op_totals.h"
#include "ops.h"
#include "ring.h"
#include "settler.h"
#include "timeline.h"

/* All that a recorder knows, at one moment. */
struct recorder_totals {
  struct op_totals ops[NR_OPS];
  struct timeline_totals time;
  struct connections_totals connections;
  struct by_export_totals by_export;
  uint64_t unrecorded;          /* requests for which there was no memory */
};

struct recorder {
  struct settler *settler;
  pthread_key_t key;            /* a thread's ring */
  _Atomic uint64_t unrecorded;
  _Atomic unsigned unrecorded_closings;
  struct connections connections;

  /* For whoever settles: */
  uint64_t block;
  struct timeline timeline;
  struct op_totals ops[NR_OPS];
  struct by_export by_export;
};

/* block is the block size that requests are held against, or 0.  Returns
 * NULL and sets errno when there is no memory or no thread key.
 */
extern struct recorder *recorder_new (struct settler *settler,
                                      uint64_t block);

/* Time begins to count, and no request came before. */
extern void recorder_start (struct recorder *recorder, uint64_t now);

/* The settler was freed before, so that no thread is in here. */
extern void recorder_free (struct recorder *recorder);

/* The calling thread will send nothing more to this recorder. */
extern void recorder_leave (struct recorder *recorder);

/* What a request is. */
struct request {
  unsigned kind;                /* enum op, or KIND_OPENING */
  uint32_t count;               /* bytes */
  uint64_t offset;
  uint32_t flags;               /* as in struct record */
  uint32_t zero_bytes;          /* of written data that was looked through */
};

/* The slow part of recorder_begin, not for others: a ring for the thread,
 * that of the connection.
 */
extern struct ring *recorder_find_ring (struct recorder *recorder,
                                        struct connection *connection,
                                        unsigned kind)
  __attribute__ ((cold));

/* The slow part of recorder_end: the thread's ring is full. */
extern void recorder_change_ring (struct ring *ring);

/* A request begins, which the calling thread then hands to the next layer:
 * it waits, or works, before that and not after.  connection is NULL for
 * what belongs to none.  A thread has one request at a time in a recorder:
 * what another filter opens while it is being opened is part of that.
 * Returns the thread's ring, or NULL where there is no memory: then the
 * request is only numbered.
 */
static inline __attribute__ ((always_inline)) struct ring *
recorder_begin (struct recorder *recorder, struct connection *connection,
                const struct request *request)
{
  struct ring *ring = pthread_getspecific (recorder->key);
  struct record *record;

  if (ring == NULL || ring_is_in_flight (ring)
      || (ring->connection != connection && request->kind < NR_OPS)) {
    ring = recorder_find_ring (recorder, connection, request->kind);
    if (ring == NULL)
      return NULL;
  }
  record = ring_record (ring);
  record->kind = (uint8_t) request->kind;
  record->count = request->count;
  record->offset = request->offset;
  record->flags = (uint8_t) request->flags;
  record->zero_bytes = request->zero_bytes;

  ring_mark_beginning (ring);
  record->begin = clock_now ();
  /* A thread's own clock never goes back. */
  if (record->begin - atomic_load_explicit (&ring->last_end,
                                            memory_order_relaxed)
      >= SETTLER_LEASE_NS / 2) {
    settler_list (recorder->settler, ring);
    record->begin = clock_now ();
  }
  ring_mark_in_flight (ring, record);
  return ring;
}

/* The request is back, at this moment.  The same thread; ring is not NULL,
 * and record was its ring_record when the request began.
 */
static inline void
recorder_stop (struct ring *ring, struct record *record)
{
  ring_mark_ending (ring, record);
  record->end = clock_now ();
  if (record->end - record->begin >= SETTLER_LEASE_NS / 2)
    record->end = settler_list_ended (ring->recorder->settler, ring,
                                      record->end);
}

/* After recorder_stop: error is 0 where it succeeded and its errno where it
 * failed.  What extents asked for stands in the record.  Returns how long
 * it took, in ns.
 */
static inline uint64_t
recorder_end (struct ring *ring, struct record *record, int error)
{
  const uint64_t ns = clock_since (record->begin, record->end);

  record->failed = record->error = 0;
  if (error != 0) {
    record->failed = 1;
    if (error > 0 && (unsigned) error < NR_ERRNOS)
      record->error = (uint8_t) error;
  }
  if (ns >= SETTLER_LEASE_NS / 2)
    settler_wake (ring->recorder->settler);
  if (ring_publish (ring, record)
      && !settler_make_room (ring->recorder->settler, ring))
    recorder_change_ring (ring);
  return ns;
}

/* A client is no longer connected, whose opening said that it was. */
extern void recorder_closed (struct recorder *recorder);

/* All counters, at the moment that settler_hold returned, before
 * settler_release.
 */
extern void recorder_read (struct recorder *recorder, uint64_t moment,
                           struct recorder_totals *totals);

/* For the settler: count what happens next in the ring, as long as its
 * ring_next is not beyond bound, and a number of begins and ends, *budget,
 * which is taken down.  Returns ring_next of what is left.
 */
extern uint64_t recorder_tell (struct ring *ring, uint64_t bound,
                               unsigned *budget);

/* For the settler: no thread has this ring any more. */
extern void recorder_forget_ring (struct ring *ring);

#endif /* STATS_RECORDER_H */
