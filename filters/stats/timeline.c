/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stddef.h>
#include <string.h>

#include "timeline.h"

void
timeline_init (struct timeline *timeline)
{
  memset (timeline, 0, sizeof *timeline);
  pthread_mutex_init (&timeline->lock, NULL);
}

void
timeline_destroy (struct timeline *timeline)
{
  pthread_mutex_destroy (&timeline->lock);
}

/* The begin of what is next in the log: a request that ended, then the
 * one in flight.  Returns false when nothing is left that began up to now.
 * What began later waits for the next sweep: a sweep may have waited for
 * another since it read the clock, and what is in flight in one log counts
 * up to now only.
 */
static bool
peek (struct timeline_log *log, uint64_t now)
{
  uint32_t tail = atomic_load_explicit (&log->tail, memory_order_relaxed);

  if (tail != log->limit)
    log->begin = log->ring[tail % TIMELINE_LOG_SIZE].begin;
  else if (log->pending)
    log->begin = log->pending >> OP_BITS;
  else
    return false;
  return log->begin <= now;
}

/* Take what peek saw out of the log. */
static struct interval
take (struct timeline_log *log, uint64_t now)
{
  uint32_t tail = atomic_load_explicit (&log->tail, memory_order_relaxed);
  struct interval interval;

  if (tail != log->limit) {
    interval = log->ring[tail % TIMELINE_LOG_SIZE];
    atomic_store_explicit (&log->tail, tail + 1, memory_order_release);
  }
  else {
    interval = (struct interval) {
      .begin = log->begin, .end = now,
      .op = log->pending & ((1 << OP_BITS) - 1),
    };
    log->pending = 0;
  }
  return interval;
}

/* Put a log into the queue, which is in the order of begins.  A thread
 * mostly runs on while others wait, so the place is near the front.
 */
static void
enqueue (struct timeline_log **queue, struct timeline_log *log)
{
  while (*queue && (*queue)->begin < log->begin)
    queue = &(*queue)->later;
  log->later = *queue;
  *queue = log;
}

/* See how far each log goes.  The request in flight is read before the
 * head: if it ended in between, it is in the log.
 */
static struct timeline_log *
open_queue (struct timeline *timeline, uint64_t now,
            struct timeline_totals *totals)
{
  struct timeline_log *queue = NULL;
  struct timeline_log *log;

  for (log = timeline->logs; log; log = log->next) {
    log->pending = atomic_load_explicit (&log->in_flight,
                                         memory_order_acquire);
    log->limit = atomic_load_explicit (&log->head, memory_order_acquire);
    if (totals && log->pending)
      totals->in_flight[log->pending & ((1 << OP_BITS) - 1)]++;
    if (peek (log, now))
      enqueue (&queue, log);
  }
  return queue;
}

static void
settle (struct timeline *timeline, const struct interval *interval)
{
  if (timeline->first_begin == 0 || interval->begin < timeline->first_begin)
    timeline->first_begin = interval->begin;
  busy_add (&timeline->all, interval->begin, interval->end);
  busy_add (&timeline->ops[interval->op], interval->begin, interval->end);
}

/* The merge.  The caller has the lock. */
static void
sweep (struct timeline *timeline, uint64_t now,
       struct timeline_totals *totals)
{
  struct timeline_log *queue = open_queue (timeline, now, totals);

  while (queue) {
    struct timeline_log *log = queue;
    struct interval interval = take (log, now);

    settle (timeline, &interval);
    queue = log->later;
    if (peek (log, now))
      enqueue (&queue, log);
  }
}

void
timeline_sweep (struct timeline *timeline, uint64_t now,
                struct timeline_totals *totals)
{
  pthread_mutex_lock (&timeline->lock);
  if (totals)
    memset (totals, 0, sizeof *totals);
  sweep (timeline, now, totals);
  if (totals) {
    totals->first_begin = timeline->first_begin;
    totals->last_end = timeline->all.until;
    totals->busy_ns = timeline->all.ns;
    for (unsigned op = 0; op < NR_OPS; op++)
      totals->op_busy_ns[op] = timeline->ops[op].ns;
  }
  pthread_mutex_unlock (&timeline->lock);
}

/* Another thread that sweeps empties our log too, so while there is room
 * we leave it alone.
 */
void
timeline_make_room (struct timeline *timeline, struct timeline_log *log,
                    uint64_t now)
{
  uint32_t used = atomic_load_explicit (&log->head, memory_order_relaxed)
    - atomic_load_explicit (&log->tail, memory_order_acquire);

  if (used >= TIMELINE_LOG_SIZE)
    pthread_mutex_lock (&timeline->lock);
  else if (pthread_mutex_trylock (&timeline->lock) != 0)
    return;
  sweep (timeline, now, NULL);
  pthread_mutex_unlock (&timeline->lock);
}

void
timeline_attach (struct timeline *timeline, struct timeline_log *log)
{
  pthread_mutex_lock (&timeline->lock);
  log->next = timeline->logs;
  timeline->logs = log;
  pthread_mutex_unlock (&timeline->lock);
}

void
timeline_detach (struct timeline *timeline, struct timeline_log *log,
                 uint64_t now)
{
  struct timeline_log **p = &timeline->logs;

  pthread_mutex_lock (&timeline->lock);
  sweep (timeline, now, NULL);
  while (*p != log)
    p = &(*p)->next;
  *p = log->next;
  pthread_mutex_unlock (&timeline->lock);
}
