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
timeline_init (struct timeline *timeline, uint64_t now)
{
  memset (timeline, 0, sizeof *timeline);
  concurrency_init (&timeline->concurrency, now);
}

/* The one that counts it may end later, and until then there is one less than
 * was counted, which may be less than none.
 */
void
timeline_unfollow (struct timeline *timeline, const struct in_order *request,
                   const struct record *record, struct sequence *stream)
{
  if (request->follows.requests || !sequence_fail (stream, request->number))
    return;
  timeline->sequential[record->kind]--;
  timeline->small_sequential[record->kind] -= record->count < SEQUENCE_SMALL;
}

static uint64_t
never_less (uint64_t *told, uint64_t count)
{
  if ((int64_t) count > (int64_t) *told)
    *told = count;
  return *told;
}

static void
read_op (struct timeline *timeline, enum op op, uint64_t now,
         struct timeline_totals *totals)
{
  const struct concurrency *c = &timeline->concurrency;

  totals->op_busy_ns[op] = concurrency_busy_ns (c, 1u << op);
  totals->in_flight[op] = c->n[op];
  timeline->told_in_flight_ns[op]
    = time_later (timeline->told_in_flight_ns[op],
                  concurrency_in_flight_ns (c, op, now));
  totals->in_flight_ns[op] = timeline->told_in_flight_ns[op];
  totals->sequential[op] = never_less (&timeline->told_sequential[op],
                                       timeline->sequential[op]);
  totals->small_sequential[op]
    = never_less (&timeline->told_small_sequential[op],
                  timeline->small_sequential[op]);
  totals->op_most_in_flight[op] = c->op_most[op].run;
  totals->op_recent_most[op] = c->op_most[op].recent;
  for (unsigned size = 0; size < SIZE_CLASSES; size++) {
    for (unsigned depth = 0; depth < DEPTH_CLASSES; depth++) {
      const struct depth_class *class = &timeline->size_depths[op][size][depth];

      totals->depths[op][depth].requests += class->requests;
      totals->depths[op][depth].latency_ns += class->latency_ns;
    }
  }
}

void
timeline_read (struct timeline *timeline, uint64_t now,
               struct timeline_totals *totals)
{
  struct concurrency *c = &timeline->concurrency;

  concurrency_settle (c, now);
  memset (totals, 0, sizeof *totals);
  totals->first_begin = c->first_begin;
  totals->last_end = c->requests ? now : c->last_end;
  totals->recent_first = c->recent_first;
  totals->busy_ns = concurrency_busy_ns (c, SET_KINDS);
  totals->request_busy_ns = concurrency_busy_ns (c, SET_REQUESTS);
  totals->open_busy_ns = concurrency_busy_ns (c, 1u << KIND_OPENING);
  totals->waiting_ns = concurrency_waiting_ns (c);
  concurrency_account (c, totals->account);
  totals->gaps = timeline->gaps;
  totals->most_in_flight = c->most.run;
  totals->recent_most = c->most.recent;
  for (unsigned op = 0; op < NR_OPS; op++)
    read_op (timeline, op, now, totals);
  memcpy (totals->size_depths, timeline->size_depths,
          sizeof totals->size_depths);
  memcpy (totals->overlapped, timeline->overlapped, sizeof totals->overlapped);
  concurrency_forget_recent (c);
}
