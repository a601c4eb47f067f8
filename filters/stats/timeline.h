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
 * makes busy time shorter.  At its end the same makes it longer: a sweep
 * takes the request to be in flight still.  In both cases busy time is
 * never longer than the time that passed.
 */

#ifndef STATS_TIMELINE_H
#define STATS_TIMELINE_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "busy.h"
#include "in_flight.h"
#include "ops.h"
#include "sequence.h"

/* How far apart data of different threads must be: two cache lines,
 * since processors prefetch them in pairs.
 */
#define CACHE_ALIGN 128

/* A request that ended. */
struct interval {
  uint64_t begin, end;          /* nanoseconds of clock_now */
  uint64_t offset;
  uint32_t count;               /* bytes */
  uint8_t op;                   /* enum op */
  bool succeeded;
  bool in_stream;               /* one of the log's streams goes on with it */
};

/* Latencies by how many requests of all operations were in flight when the
 * request began, itself included: 1, 2, 3-4, 5-8 ... 33-64, and more.
 */
#define DEPTH_CLASSES 8

struct depth_class {
  uint64_t requests;            /* that succeeded */
  uint64_t latency_ns;          /* of these, summed up */
};

/* The smallest depth of a class. */
static inline unsigned
depth_class_from (unsigned class)
{
  return class ? (1u << (class - 1)) + 1 : 1;
}

static inline unsigned
depth_class_of (unsigned depth)
{
  const unsigned class = depth > 1
    ? 32 - (unsigned) __builtin_clz (depth - 1) : 0;

  return class < DEPTH_CLASSES ? class : DEPTH_CLASSES - 1;
}

/* A power of two.  Half as many entries cost 3 to 5 ns a request more on
 * several threads and save 8 KiB a thread.
 */
#define TIMELINE_LOG_SIZE 512u

/* One thread's log, a ring.  The owner writes at head, a sweep takes
 * from tail; entries in between belong to the sweep.  What the owner
 * writes and what a sweep writes lie on cache lines of their own, and a
 * sweep looks at the owner's once: had it to look there for each entry,
 * two threads would lose 30 ns a request.  A sweep writes nothing to a log
 * with no news, so that the lines of idle threads stay where they are.
 */
struct timeline_log {
  alignas (CACHE_ALIGN)
  _Atomic uint64_t in_flight;   /* see timeline_begin, or 0 */
  _Atomic uint32_t head;
  uint32_t seen_tail;           /* the tail when the owner last looked */
  struct sequence *streams;     /* NR_OPS of the thread's connection */

  alignas (CACHE_ALIGN)
  _Atomic uint32_t tail;        /* moved on at the end of a sweep */
  /* For the sweep alone, under the timeline's lock: */
  struct timeline_log *next;    /* all attached logs */
  struct timeline_log *later;   /* those with something left to merge */
  struct sequence *swept_streams; /* what streams was */
  uint32_t cursor, limit;       /* from where to where it merges */
  uint64_t pending;             /* what in_flight was */
  bool done;                    /* nothing left that can be merged now */
  uint64_t begin;               /* when the next to merge begins */
  /* A request that an earlier sweep saw in flight: */
  uint64_t open_since;          /* its begin, 0: there is none */
  unsigned open_depth;          /* how many were in flight when it began */

  alignas (CACHE_ALIGN)
  struct interval ring[TIMELINE_LOG_SIZE];
};

struct timeline {
  /* Protects all below and what is the sweep's in each log.  Those who only
   * try it must not disturb the one who has it.
   */
  alignas (CACHE_ALIGN)
  pthread_mutex_t lock;

  alignas (CACHE_ALIGN)
  struct timeline_log *logs;
  uint64_t first_begin;
  struct busy all;
  struct busy ops[NR_OPS];
  uint64_t swept;               /* the moment of the last sweep */
  struct in_flight in_flight;
  uint64_t in_flight_ns[NR_OPS]; /* those in flight counted up to swept */
  struct depth_class depths[NR_OPS][DEPTH_CLASSES];
  uint64_t sequential[NR_OPS];
  unsigned nr_logs;
};

/* What a sweep found out, at one moment. */
struct timeline_totals {
  uint64_t first_begin;         /* of all requests, 0 where there was none */
  uint64_t last_end;            /* the moment of the sweep if one is running */
  uint64_t busy_ns;             /* with a request of any operation in flight */
  uint64_t op_busy_ns[NR_OPS];
  unsigned in_flight[NR_OPS];   /* begun and not ended */
  uint64_t in_flight_ns[NR_OPS]; /* requests in flight, summed over time */
  struct depth_class depths[NR_OPS][DEPTH_CLASSES];
  unsigned most_in_flight, op_most_in_flight[NR_OPS];
  unsigned recent_most, op_recent_most[NR_OPS]; /* since the last totals */
  uint64_t sequential[NR_OPS];  /* requests, see sequence.h */
};

extern void timeline_init (struct timeline *timeline);
extern void timeline_destroy (struct timeline *timeline);

/* Add a thread's log, zeroed, or take it away again; the log must outlive
 * its attachment.  Attaching returns -1 when there is no memory.  Any
 * thread; may wait for a sweep.
 */
extern int timeline_attach (struct timeline *timeline,
                             struct timeline_log *log);
extern void timeline_detach (struct timeline *timeline,
                             struct timeline_log *log, uint64_t now);

/* Settle all that ended up to now, a time of clock_now that was read just
 * before, and what is in flight up to now.  totals may be NULL.  Any
 * thread; may wait for another sweep.
 */
extern void timeline_sweep (struct timeline *timeline, uint64_t now,
                            struct timeline_totals *totals);

/* The same in parts: a clock that is read between lock and unlock is not
 * behind that of any sweep before, so that what happened between two such
 * sweeps fits into the time between them.
 */
extern void timeline_lock (struct timeline *timeline);
extern void timeline_unlock (struct timeline *timeline);
extern void timeline_sweep_locked (struct timeline *timeline, uint64_t now,
                                   struct timeline_totals *totals);

/* From now on the log's requests belong to these NR_OPS streams.  Only the
 * log's owner; may wait for a sweep.
 */
extern void timeline_set_streams (struct timeline *timeline,
                                  struct timeline_log *log,
                                  struct sequence *streams, uint64_t now);

/* The slow part of timeline_end, not for others. */
extern void timeline_make_room (struct timeline *timeline,
                                struct timeline_log *log, uint64_t now);

#define OP_BITS 3
_Static_assert (NR_OPS <= 1 << OP_BITS, "an operation fits into OP_BITS");

/* What is in flight is told in one word: its begin, whether head is odd,
 * and the operation.  A request that has just ended moves head on before it
 * takes the word away; by the odd bit a sweep sees that it is the old one.
 */
#define IN_FLIGHT_BEGIN_SHIFT (OP_BITS + 1)

/* A request of the log's thread begins now.  Only the log's owner. */
static inline void
timeline_begin (struct timeline_log *log, enum op op, uint64_t now)
{
  const uint64_t odd
    = atomic_load_explicit (&log->head, memory_order_relaxed) % 2;

  atomic_store_explicit (&log->in_flight,
                         now << IN_FLIGHT_BEGIN_SHIFT | odd << OP_BITS | op,
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

  log->ring[head % TIMELINE_LOG_SIZE] = interval;
  atomic_store_explicit (&log->head, head + 1, memory_order_release);
  atomic_store_explicit (&log->in_flight, 0, memory_order_release);

  if (head + 1 - log->seen_tail >= TIMELINE_LOG_SIZE / 2)
    timeline_make_room (timeline, log, interval.end);
}

#endif /* STATS_TIMELINE_H */
