/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What follows from the order in which the requests of one layer begin and
 * end: times and numbers in flight, latency by depth, what was sequential.
 *
 * Not thread-safe: it belongs to whoever settles, who tells all begins and
 * ends in the order of time.
 */

#ifndef STATS_TIMELINE_H
#define STATS_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "concurrency.h"
#include "op_totals.h"
#include "record.h"
#include "sequence.h"

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

/* What a timeline tells at one moment. */
struct timeline_totals {
  uint64_t first_begin;         /* of all requests, 0 where there was none */
  uint64_t last_end;            /* the moment itself if one is in flight */
  uint64_t recent_first;        /* when one was first in flight since the
                                   totals before, 0 where none was */
  uint64_t busy_ns;             /* with a request or an opening in flight */
  uint64_t request_busy_ns;     /* with a request of any operation */
  uint64_t op_busy_ns[NR_OPS];
  uint64_t open_busy_ns;        /* with an opening in flight */
  uint64_t waiting_ns;          /* with nothing in flight, from the begin of
                                   the first request to that of the last */
  uint64_t account[NR_STATES];  /* adds up to all time up to the moment */
  struct op_totals gaps;        /* see struct gap */
  unsigned in_flight[NR_OPS];   /* begun and not ended */
  uint64_t in_flight_ns[NR_OPS]; /* requests in flight, summed over time */
  unsigned most_in_flight, op_most_in_flight[NR_OPS];
  unsigned recent_most, op_recent_most[NR_OPS]; /* since the totals before */
  struct depth_class depths[NR_OPS][DEPTH_CLASSES];
  struct depth_class size_depths[NR_OPS][SIZE_CLASSES][DEPTH_CLASSES];
  uint64_t overlapped[NR_OPS];  /* requests that ended and were not alone in
                                   flight all the time */
  uint64_t sequential[NR_OPS];  /* requests, see sequence.h */
  uint64_t small_sequential[NR_OPS]; /* of these, smaller than 16 KiB */
};

/* A request between its begin and its end. */
struct in_order {
  unsigned depth;               /* requests in flight then, itself included */
  bool overlapped;              /* another was in flight then, or since */
  struct sequence_found follows; /* what it makes sequential, see
                                   timeline_follow */
  uint64_t number;              /* in its stream */
};

struct timeline {
  struct concurrency concurrency;
  struct op_totals gaps;
  struct in_order *alone;       /* the only request in flight, if no other
                                   was in flight since it began */
  struct depth_class size_depths[NR_OPS][SIZE_CLASSES][DEPTH_CLASSES];
  uint64_t overlapped[NR_OPS];
  uint64_t sequential[NR_OPS], small_sequential[NR_OPS];

  /* What was told, which never becomes less. */
  uint64_t told_in_flight_ns[NR_OPS];
  uint64_t told_sequential[NR_OPS], told_small_sequential[NR_OPS];
};

extern void timeline_init (struct timeline *timeline, uint64_t now);

static inline void
timeline_count_gap (struct timeline *timeline, struct gap gap)
{
  struct op_totals *gaps = &timeline->gaps;

  if (extremes_latency (&gaps->extremes, gap.ns, gaps->tally.requests))
    extremes_slow (&gaps->extremes, &(struct record) { .begin = gap.begin },
                   gap.ns);
  tally_latency (&gaps->tally, gap.ns);
}

/* A request begins, as the record says.  The caller keeps request, which is
 * filled in, until its end.  Of openings only concurrency is told.
 *
 * Where two are in flight neither is alone, now or later.
 */
static inline void
timeline_begin (struct timeline *timeline, struct in_order *request,
                const struct record *record)
{
  struct concurrency *c = &timeline->concurrency;
  const struct gap gap = concurrency_begin (c, record->kind, record->begin);

  if (gap.ns)
    timeline_count_gap (timeline, gap);
  request->follows = (struct sequence_found) { 0 };
  request->depth = c->requests;
  request->overlapped = request->depth > 1;
  if (!request->overlapped)
    timeline->alone = request;
  else if (timeline->alone) {
    timeline->alone->overlapped = true;
    timeline->alone = NULL;
  }
}

/* One that failed is in its place on the disk all the same, so what it makes
 * sequential does not depend on when it was looked at; but itself it does not
 * count.
 */
static inline void
timeline_count_sequential (struct timeline *timeline,
                           const struct in_order *request,
                           const struct record *record)
{
  const struct sequence_found *found = &request->follows;
  const bool itself = record->failed;

  timeline->sequential[record->kind] += found->requests - itself;
  timeline->small_sequential[record->kind]
    += found->small - (itself && record->count < SEQUENCE_SMALL);
}

/* It ends, as the record says. */
static inline void
timeline_end (struct timeline *timeline, struct in_order *request,
              const struct record *record)
{
  const unsigned kind = record->kind;
  struct depth_class *class;

  concurrency_end (&timeline->concurrency, kind, record->end);
  if (timeline->alone == request)
    timeline->alone = NULL;
  timeline->overlapped[kind] += request->overlapped;
  if (request->follows.requests)
    timeline_count_sequential (timeline, request, record);
  if (record->failed)
    return;
  class = &timeline->size_depths[kind][size_class (record->count)]
                                [depth_class_of (request->depth)];
  class->requests++;
  class->latency_ns += record->end - record->begin;
}

/* After its begin, for one that has an offset: see whether it goes on with
 * the stream of its connection and operation.  It counts when it ends, so
 * that no figure is ever taken back.
 */
static inline void
timeline_follow (struct in_order *request, uint64_t offset, uint32_t count,
                 struct sequence *stream)
{
  request->number = stream->next;
  sequence_add (stream, offset, count, &request->follows);
}

/* Such a request has failed, as the record says.  If it came too early, and
 * the one that it follows has counted it, that is taken back.
 */
extern void timeline_unfollow (struct timeline *timeline,
                               const struct in_order *request,
                               const struct record *record,
                               struct sequence *stream);

/* All as it is at the moment now, when everything up to now was told. */
extern void timeline_read (struct timeline *timeline, uint64_t now,
                           struct timeline_totals *totals);

#endif /* STATS_TIMELINE_H */
