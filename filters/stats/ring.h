/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A ring of records: what passes between a thread that serves requests of
 * one layer, which writes, and whoever settles, who reads.
 *
 * The thread writes a record of each request, and moves head on when it is
 * complete.  Whoever settles takes records from tail on.  Nothing else is
 * shared, and neither waits for the other while there is room.
 *
 * What the thread is at is told in mark.  It is set before the clock is
 * read, at the begin and at the end of a request: whoever settles then knows
 * that there is a time that he does not know yet, and does not settle what
 * came later.  So a thread that is preempted between reading the clock and
 * saying so falsifies no order.
 */

#ifndef STATS_RING_H
#define STATS_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "record.h"
#include "timeline.h"

/* How far apart data of different threads must be: two cache lines,
 * since processors prefetch them in pairs.
 */
#define CACHE_ALIGN 128

/* A mark has the state in its lowest bits, then the begin of the request, or
 * the place of its record.
 */
enum ring_state { RING_IDLE, RING_BEGINNING, RING_IN_FLIGHT, RING_ENDING };
#define RING_TIME_SHIFT 2

/* Whether the thread still has it.  One that leaves first sees to it that
 * the settler will look, and says last that it has left: then the ring may
 * be another's.
 */
enum ring_left { RING_HAS_THREAD, RING_LEAVING, RING_LEFT };

struct ring {
  /* The thread's: */
  alignas (CACHE_ALIGN)
  _Atomic uint64_t mark;
  _Atomic uint32_t head;
  uint32_t look_at;             /* the head at which it looks for room */
  uint32_t size;                /* records, a power of two */
  _Atomic uint64_t last_end;
  struct recorder *recorder;
  struct connection *connection;  /* changes when all is settled */

  /* Of whoever settles, but for listed: */
  alignas (CACHE_ALIGN)
  _Atomic uint32_t tail;
  _Atomic bool listed;          /* the settler looks at it */
  _Atomic int left;             /* enum ring_left */
  uint32_t limit;               /* head, and */
  uint64_t open;                /* the mark in flight or 0, as last seen */
  bool begun;                   /* the begin of the record at tail was told */
  struct in_order request;      /* that is begun */
  bool full;                    /* its thread went on with another ring */
  struct ring *next_listed;
  _Atomic uint32_t next_returned; /* for rings.c, while nobody has it */

  alignas (CACHE_ALIGN)
  struct record records[];
};

/* The begin of a request that the mark tells. */
static inline uint64_t
mark_begin (uint64_t mark)
{
  return mark >> RING_TIME_SHIFT;
}

static inline enum ring_state
mark_state (uint64_t mark)
{
  return mark & ((1 << RING_TIME_SHIFT) - 1);
}

/* Make it an empty ring, but for what belongs to rings.c. */
extern void ring_init (struct ring *ring, uint32_t size);

/* The mark of a request in flight, as its record says. */
static inline uint64_t
mark_of (const struct record *record)
{
  return record->begin << RING_TIME_SHIFT | RING_IN_FLIGHT;
}

/* These are for the ring's thread alone. */

/* The record of the request that is being served. */
static inline struct record *
ring_record (struct ring *ring)
{
  const uint32_t head = atomic_load_explicit (&ring->head,
                                              memory_order_relaxed);

  return &ring->records[head & (ring->size - 1)];
}

/* A time will be read. */
static inline void
ring_mark_beginning (struct ring *ring)
{
  atomic_store_explicit (&ring->mark, RING_BEGINNING, memory_order_release);
}

/* It was read: the record says what begins. */
static inline void
ring_mark_in_flight (struct ring *ring, const struct record *record)
{
  atomic_store_explicit (&ring->mark, mark_of (record),
                         memory_order_release);
}

/* Nothing of the ring is read here: it may have left the caches while the
 * request was served, and the clock would wait for it.
 */
static inline void
ring_mark_ending (struct ring *ring, const struct record *record)
{
  const uint64_t place = (uint64_t) (record - ring->records);

  atomic_store_explicit (&ring->mark, place << RING_TIME_SHIFT | RING_ENDING,
                         memory_order_release);
}

/* The record is complete.  The mark stays, and means nothing any more as
 * soon as head has moved on.  Returns whether it is time to look for room.
 */
static inline bool
ring_publish (struct ring *ring, const struct record *record)
{
  const uint32_t head = atomic_load_explicit (&ring->head,
                                              memory_order_relaxed);

  atomic_store_explicit (&ring->last_end, record->end, memory_order_relaxed);
  atomic_store_explicit (&ring->head, head + 1, memory_order_release);
  return head + 1 == ring->look_at;
}

/* Is a request in flight? */
static inline bool
ring_is_in_flight (const struct ring *ring)
{
  return mark_state (atomic_load_explicit (&ring->mark, memory_order_relaxed))
    == RING_IN_FLIGHT;
}

/* These are for whoever settles. */

static inline const struct record *
ring_record_at (const struct ring *ring, uint32_t number)
{
  return &ring->records[number & (ring->size - 1)];
}

/* See how far the ring goes and what is in flight: set limit and open.
 * Returns the time up to which that is all there is, which is known is at
 * least, and UINT64_MAX where the thread is not about to tell a time.
 */
extern uint64_t ring_look (struct ring *ring, uint64_t known);

/* Have the record behind the next one on its way to the caches: its thread
 * wrote it, perhaps on another processor, so that takes as long as it takes to
 * count a request.  Not one that is not complete: its thread would have to
 * fetch it back.
 */
static inline void
ring_prefetch_after (const struct ring *ring, uint32_t tail)
{
  __builtin_prefetch (ring_record_at (ring, ring->limit - tail > 1
                                            ? tail + 1 : tail));
}

/* When the next thing happens that ring_look saw, and whether it is a
 * begin: twice the time, and one more for a begin, so that of two at the
 * same time ends come first; UINT64_MAX where there is nothing more.  record
 * is that at tail.
 */
static inline uint64_t
ring_next_of (const struct ring *ring, uint32_t tail,
              const struct record *record)
{
  if (tail != ring->limit)
    return ring->begun ? 2 * record->end : 2 * record->begin + 1;
  return ring->open && !ring->begun ? 2 * mark_begin (ring->open) + 1
    : UINT64_MAX;
}

static inline uint64_t
ring_next (const struct ring *ring)
{
  const uint32_t tail = atomic_load_explicit (&ring->tail,
                                              memory_order_relaxed);

  return ring_next_of (ring, tail, ring_record_at (ring, tail));
}

#endif /* STATS_RING_H */
