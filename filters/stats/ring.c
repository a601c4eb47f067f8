/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stddef.h>

#include "ring.h"

void
ring_init (struct ring *ring, uint32_t size)
{
  atomic_store_explicit (&ring->mark, RING_IDLE, memory_order_relaxed);
  atomic_store_explicit (&ring->head, 0, memory_order_relaxed);
  atomic_store_explicit (&ring->tail, 0, memory_order_relaxed);
  atomic_store_explicit (&ring->listed, false, memory_order_relaxed);
  atomic_store_explicit (&ring->left, RING_HAS_THREAD, memory_order_relaxed);
  ring->look_at = size - size / 4;
  ring->size = size;
  atomic_store_explicit (&ring->last_end, 0, memory_order_relaxed);
  ring->recorder = NULL;
  ring->connection = NULL;
  ring->limit = 0;
  ring->open = 0;
  ring->begun = false;
  ring->full = false;
  ring->next_listed = NULL;
}

/* The record of a request moves head on after the mark said that it ends,
 * so a mark and the head around it belong together if head did not move.
 */
static uint64_t
consistent_mark (struct ring *ring)
{
  uint32_t again = atomic_load_explicit (&ring->head, memory_order_acquire);
  uint64_t mark;

  do {
    ring->limit = again;
    mark = atomic_load_explicit (&ring->mark, memory_order_acquire);
    again = atomic_load_explicit (&ring->head, memory_order_acquire);
  } while (again != ring->limit);
  return mark;
}

/* The thread has a time that we do not know.  It is not before the last
 * one that we know.  The thread writes no more to the last record as long as
 * that is not settled.
 */
static uint64_t
before_begin (const struct ring *ring, uint64_t known)
{
  const uint32_t tail = atomic_load_explicit (&ring->tail,
                                              memory_order_relaxed);
  const struct record *last
    = &ring->records[(ring->limit - 1) & (ring->size - 1)];

  return tail != ring->limit && last->end > known ? last->end : known;
}

/* The same where it ends: its begin stands in its record. */
static uint64_t
before_end (struct ring *ring, uint64_t known)
{
  const struct record *record
    = &ring->records[ring->limit & (ring->size - 1)];

  ring->open = mark_of (record);
  return record->begin > known ? record->begin : known;
}

uint64_t
ring_look (struct ring *ring, uint64_t known)
{
  const uint64_t mark = consistent_mark (ring);

  ring->open = 0;
  switch (mark_state (mark)) {
  case RING_IDLE:
    break;
  case RING_BEGINNING:
    return before_begin (ring, known);
  case RING_IN_FLIGHT:
    ring->open = mark;
    break;
  case RING_ENDING:
    if (mark >> RING_TIME_SHIFT == (ring->limit & (ring->size - 1)))
      return before_end (ring, known);
    break;
  }
  return UINT64_MAX;
}
