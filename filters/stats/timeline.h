/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The timeline puts the requests of all threads into one order of time.
 *
 * Some questions have no answer within one thread: how long was at least
 * one request in flight, how many were in flight at most.  The usual way
 * is a counter that all threads change twice a request; its cache line
 * then travels between the cores twice a request, which costs more than
 * all else that a filter does.  Here a thread writes each request that
 * ended into a log of its own and shares nothing.  When its log is half
 * full it sweeps: it takes the logs of all threads, in the order of the
 * requests' begins, and settles them.  One thread sweeps at a time; the
 * others do not wait for it unless their log is quite full.
 *
 * A thread runs one request at a time, so each log is in order by itself
 * and a sweep is a merge.  A request that is still in flight is known by
 * its begin and counts up to the moment of the sweep; what follows is
 * added when it ends.
 *
 * What can go wrong: a thread reads the clock, is preempted, and says so
 * after a sweep.  Its request then begins late, behind the watermark of
 * busy.h, and the part before it is lost unless others were busy then.
 * The loss is less than the preemption, needs a sweep in that moment, and
 * makes busy time shorter, never longer than the time that passed.
 */

#ifndef STATS_TIMELINE_H
#define STATS_TIMELINE_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "busy.h"
#include "ops.h"

/* How far apart data of different threads must be: two cache lines,
 * since processors prefetch them in pairs.
 */
#define CACHE_ALIGN 128

/* A request that ended. */
struct interval {
  uint64_t begin, end;          /* nanoseconds of clock_now */
  enum op op;
};

#define TIMELINE_LOG_SIZE 512u   /* a power of two */

/* One thread's log, a ring.  The owner writes at head, a sweep takes
 * from tail; entries in between belong to the sweep.
 */
struct timeline_log {
  alignas (CACHE_ALIGN)
  _Atomic uint64_t in_flight;   /* begin << OP_BITS | op, or 0 */
  _Atomic uint32_t head;

  alignas (CACHE_ALIGN)
  _Atomic uint32_t tail;
  /* For the sweep alone, under the timeline's lock: */
  struct timeline_log *next;    /* all attached logs */
  struct timeline_log *later;   /* those with something left to merge */
  uint64_t begin;               /* when the next of it begins */
  uint64_t pending;             /* what in_flight was */
  uint32_t limit;               /* what head was */

  alignas (CACHE_ALIGN)
  struct interval ring[TIMELINE_LOG_SIZE];
};

struct timeline {
  pthread_mutex_t lock;         /* protects all below, and each log's tail */
  struct timeline_log *logs;
  uint64_t first_begin;
  struct busy all;
  struct busy ops[NR_OPS];
};

/* What a sweep found out, at one moment. */
struct timeline_totals {
  uint64_t first_begin;         /* of all requests, 0 where there was none */
  uint64_t last_end;            /* the moment of the sweep if one is running */
  uint64_t busy_ns;             /* with a request of any operation in flight */
  uint64_t op_busy_ns[NR_OPS];
  unsigned in_flight[NR_OPS];   /* begun and not ended */
};

extern void timeline_init (struct timeline *timeline);
extern void timeline_destroy (struct timeline *timeline);

/* Add a thread's log, zeroed, or take it away again; the log must outlive
 * its attachment.  Any thread; may wait for a sweep.
 */
extern void timeline_attach (struct timeline *timeline,
                             struct timeline_log *log);
extern void timeline_detach (struct timeline *timeline,
                             struct timeline_log *log, uint64_t now);

/* Settle all that ended up to now, a time of clock_now that was read just
 * before, and what is in flight up to now.  totals may be NULL.  Any
 * thread; may wait for another sweep.
 */
extern void timeline_sweep (struct timeline *timeline, uint64_t now,
                            struct timeline_totals *totals);

/* The slow part of timeline_end, not for others. */
extern void timeline_make_room (struct timeline *timeline,
                                struct timeline_log *log, uint64_t now);

#define OP_BITS 3
_Static_assert (NR_OPS <= 1 << OP_BITS, "an operation fits into OP_BITS");

/* A request of the log's thread begins now.  Only the log's owner. */
static inline void
timeline_begin (struct timeline_log *log, enum op op, uint64_t now)
{
  atomic_store_explicit (&log->in_flight, now << OP_BITS | op,
                         memory_order_release);
}

/* The request that the thread began last ends.  Only the log's owner.
 * The order matters to a sweep in another thread: one that no longer sees
 * the request in flight sees it in the log.
 */
static inline void
timeline_end (struct timeline *timeline, struct timeline_log *log,
              struct interval interval)
{
  uint32_t head = atomic_load_explicit (&log->head, memory_order_relaxed);
  uint32_t tail = atomic_load_explicit (&log->tail, memory_order_acquire);

  log->ring[head % TIMELINE_LOG_SIZE] = interval;
  atomic_store_explicit (&log->head, head + 1, memory_order_release);
  atomic_store_explicit (&log->in_flight, 0, memory_order_release);

  if (head + 1 - tail >= TIMELINE_LOG_SIZE / 2)
    timeline_make_room (timeline, log, interval.end);
}

#endif /* STATS_TIMELINE_H */
