/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <string.h>

#include "clock.h"
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
  in_flight_free (&timeline->in_flight);
}

static enum op
in_flight_op (uint64_t in_flight)
{
  return in_flight & ((1 << OP_BITS) - 1);
}

/* See what is next in the log: a request that ended, then the one in
 * flight.  Returns false when nothing is left that began up to now.
 * What began later waits for the next sweep, since what is in flight in
 * one log counts up to now only.
 */
static bool
peek (struct timeline_log *log, uint64_t now)
{
  if (log->done)
    return false;
  if (log->cursor != log->limit)
    log->begin = log->ring[log->cursor % TIMELINE_LOG_SIZE].begin;
  else if (log->pending)
    log->begin = log->pending >> IN_FLIGHT_BEGIN_SHIFT;
  else
    return false;
  return log->begin <= now;
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

struct news {
  uint32_t head;
  uint64_t in_flight;           /* 0: none */
};

/* See how far the log goes, and what is in flight.  What has ended is in
 * the log, so the word is from before head was moved, and means nothing
 * any more, if the two differ in the odd bit.
 */
static struct news
look_at (const struct timeline_log *log)
{
  struct news news;
  uint32_t again = atomic_load_explicit (&log->head, memory_order_acquire);

  do {
    news.head = again;
    news.in_flight = atomic_load_explicit (&log->in_flight,
                                           memory_order_acquire);
    again = atomic_load_explicit (&log->head, memory_order_acquire);
  } while (again != news.head);
  if ((news.in_flight >> OP_BITS) % 2 != news.head % 2)
    news.in_flight = 0;
  return news;
}

/* Nothing has ended, and what is in flight was so at the last sweep. */
static bool
is_old (const struct timeline_log *log, const struct news *news)
{
  return news->head == atomic_load_explicit (&log->tail, memory_order_relaxed)
    && news->in_flight >> IN_FLIGHT_BEGIN_SHIFT == log->open_since;
}

/* Find the logs that have news, in the order of their begins, and how many
 * requests are in flight of each operation since before the last sweep.
 */
static struct timeline_log *
open_queue (struct timeline *timeline, uint64_t now,
            struct timeline_totals *totals, unsigned still_open[NR_OPS])
{
  struct timeline_log *queue = NULL;
  struct timeline_log *log;

  for (log = timeline->logs; log; log = log->next) {
    const struct news news = look_at (log);

    if (totals && news.in_flight)
      totals->in_flight[in_flight_op (news.in_flight)]++;
    if (is_old (log, &news)) {
      if (news.in_flight)
        still_open[in_flight_op (news.in_flight)]++;
      continue;
    }
    log->limit = news.head;
    log->pending = news.in_flight;
    log->cursor = atomic_load_explicit (&log->tail, memory_order_relaxed);
    log->swept_streams = log->streams;
    log->done = false;
    if (peek (log, now))
      enqueue (&queue, log);
  }
  return queue;
}

/* They began before all else that this sweep settles. */
static void
settle_still_open (struct timeline *timeline, uint64_t now,
                   const unsigned still_open[NR_OPS])
{
  for (unsigned op = 0; op < NR_OPS; op++) {
    if (still_open[op] == 0)
      continue;
    busy_add (&timeline->all, 0, now);
    busy_add (&timeline->ops[op], 0, now);
    timeline->in_flight_ns[op] += still_open[op] * (now - timeline->swept);
  }
}

static inline void
settle_busy (struct timeline *timeline, enum op op,
             uint64_t begin, uint64_t end)
{
  busy_add (&timeline->all, begin, end);
  busy_add (&timeline->ops[op], begin, end);
}

static void
settle_depth (struct timeline *timeline, const struct interval *interval,
              unsigned depth)
{
  struct depth_class *class
    = &timeline->depths[interval->op][depth_class_of (depth)];

  class->requests++;
  class->latency_ns += interval->end - interval->begin;
}

/* A request that ended.  If an earlier sweep saw it in flight, part of it
 * has been counted there: more than it all, where it ended before that.
 */
static void
settle_ended (struct timeline *timeline, struct timeline_log *log,
              const struct interval *interval)
{
  const bool was_open = log->open_since == interval->begin;
  const uint64_t since = was_open ? timeline->swept : interval->begin;
  unsigned depth;

  settle_busy (timeline, interval->op, interval->begin, interval->end);
  timeline->in_flight_ns[interval->op] += interval->end - since;
  if (was_open) {
    depth = log->open_depth;
    in_flight_end (&timeline->in_flight, log, interval->end);
  }
  else
    depth = in_flight_add (&timeline->in_flight, log, interval->op,
                           interval->begin, interval->end);
  log->open_since = 0;
  if (interval->succeeded)
    settle_depth (timeline, interval, depth);
  if (interval->in_stream)
    timeline->sequential[interval->op] +=
      sequence_add (&log->swept_streams[interval->op],
                    interval->offset, interval->count);
}

/* A request that has not ended by now: it is busy and in flight up to now,
 * and the rest follows when it is known.
 */
static void
settle_open (struct timeline *timeline, struct timeline_log *log,
             enum op op, uint64_t now)
{
  const bool was_open = log->open_since == log->begin;
  const uint64_t since = was_open ? timeline->swept : log->begin;

  settle_busy (timeline, op, log->begin, now);
  timeline->in_flight_ns[op] += now - since;
  if (!was_open) {
    log->open_since = log->begin;
    log->open_depth = in_flight_add (&timeline->in_flight, log, op,
                                     log->begin, IN_FLIGHT_OPEN);
  }
  log->done = true;
}

/* Settle what peek saw. */
static void
settle_next (struct timeline *timeline, struct timeline_log *log,
             uint64_t now)
{
  const struct interval *interval
    = &log->ring[log->cursor % TIMELINE_LOG_SIZE];

  if (log->cursor == log->limit)
    settle_open (timeline, log, in_flight_op (log->pending), now);
  else if (interval->end > now)
    settle_open (timeline, log, interval->op, now);
  else {
    settle_ended (timeline, log, interval);
    log->cursor++;
  }
}

/* The merge.  The caller has the lock. */
static void
sweep (struct timeline *timeline, uint64_t now,
       struct timeline_totals *totals)
{
  unsigned still_open[NR_OPS] = { 0 };
  struct timeline_log *queue, *log;
  bool more;

  /* It may have waited for another since it read the clock. */
  if (now < timeline->swept)
    now = timeline->swept;
  queue = open_queue (timeline, now, totals, still_open);
  settle_still_open (timeline, now, still_open);
  /* The queue is in order, so what comes first in it comes first at all. */
  if (queue && (timeline->first_begin == 0
                || queue->begin < timeline->first_begin))
    timeline->first_begin = queue->begin;

  while ((log = queue) != NULL) {
    queue = log->later;
    do {
      settle_next (timeline, log, now);
      more = peek (log, now);
    } while (more && (queue == NULL || log->begin <= queue->begin));
    if (more)
      enqueue (&queue, log);
    else
      atomic_store_explicit (&log->tail, log->cursor, memory_order_release);
  }
  in_flight_until (&timeline->in_flight, now);
  timeline->swept = now;
}

static void
fill_totals (struct timeline *timeline, struct timeline_totals *totals)
{
  totals->first_begin = timeline->first_begin;
  totals->last_end = timeline->all.until;
  totals->busy_ns = timeline->all.ns;
  totals->most_in_flight = timeline->in_flight.most;
  totals->recent_most = timeline->in_flight.recent_most;
  for (unsigned op = 0; op < NR_OPS; op++) {
    totals->op_busy_ns[op] = timeline->ops[op].ns;
    totals->op_most_in_flight[op] = timeline->in_flight.op_most[op];
    totals->op_recent_most[op] = timeline->in_flight.op_recent_most[op];
    totals->sequential[op] = timeline->sequential[op];
    totals->in_flight_ns[op] = timeline->in_flight_ns[op];
  }
  memcpy (totals->depths, timeline->depths, sizeof totals->depths);
  in_flight_forget_recent (&timeline->in_flight);
}

void
timeline_lock (struct timeline *timeline)
{
  pthread_mutex_lock (&timeline->lock);
}

void
timeline_unlock (struct timeline *timeline)
{
  pthread_mutex_unlock (&timeline->lock);
}

void
timeline_sweep_locked (struct timeline *timeline, uint64_t now,
                       struct timeline_totals *totals)
{
  if (totals)
    memset (totals, 0, sizeof *totals);
  sweep (timeline, now, totals);
  if (totals)
    fill_totals (timeline, totals);
}

void
timeline_sweep (struct timeline *timeline, uint64_t now,
                struct timeline_totals *totals)
{
  timeline_lock (timeline);
  timeline_sweep_locked (timeline, now, totals);
  timeline_unlock (timeline);
}

/* Another thread that sweeps empties our log too, so while there is room
 * we leave it alone, and look again only now and then.
 */
void
timeline_make_room (struct timeline *timeline, struct timeline_log *log,
                    uint64_t now)
{
  const uint32_t head = atomic_load_explicit (&log->head,
                                              memory_order_relaxed);
  uint32_t used = head - log->seen_tail;

  if (used % (TIMELINE_LOG_SIZE / 16) != 0)
    return;
  log->seen_tail = atomic_load_explicit (&log->tail, memory_order_acquire);
  used = head - log->seen_tail;
  if (used < TIMELINE_LOG_SIZE / 2)
    return;

  if (used >= TIMELINE_LOG_SIZE)
    pthread_mutex_lock (&timeline->lock);
  else if (pthread_mutex_trylock (&timeline->lock) != 0)
    return;
  sweep (timeline, now, NULL);
  pthread_mutex_unlock (&timeline->lock);
  log->seen_tail = atomic_load_explicit (&log->tail, memory_order_relaxed);
}

/* What the log holds belongs to the old ones. */
void
timeline_set_streams (struct timeline *timeline, struct timeline_log *log,
                      struct sequence *streams, uint64_t now)
{
  pthread_mutex_lock (&timeline->lock);
  sweep (timeline, now, NULL);
  log->streams = streams;
  pthread_mutex_unlock (&timeline->lock);
}

int
timeline_attach (struct timeline *timeline, struct timeline_log *log)
{
  int r;

  pthread_mutex_lock (&timeline->lock);
  r = in_flight_reserve (&timeline->in_flight, timeline->nr_logs + 1);
  if (r == 0) {
    timeline->nr_logs++;
      log->next = timeline->logs;
    timeline->logs = log;
  }
  pthread_mutex_unlock (&timeline->lock);
  return r;
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
  timeline->nr_logs--;
  pthread_mutex_unlock (&timeline->lock);
}
