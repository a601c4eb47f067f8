/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What happens at once in one layer: how long anything was in flight, how
 * much at most, how long nothing.
 *
 * It is told the begins and ends of requests and openings in the order of
 * time.  The union of intervals then needs one number, how many are in
 * flight:
 *
 *   time   ------------------------------->
 *   1st    [=========]
 *   2nd       [===]
 *   3rd            [=======]
 *   4th                        [====]
 *   n      0 1  2   1  2 1  0  1    0
 *   busy   [===============]   [====]
 *
 * and is settled where the number comes back to 0.  A begin that is told
 * late, after something that came after it, counts from its true time where
 * nothing was in flight meanwhile, so the union is still exact; else from
 * when anything was.  One that ends late was in flight until then for all
 * that is known.  So either is wrong by no more than it is late, and no kind
 * is longer in flight than all.  And what was read stays: times before the
 * last reading are taken for that moment, and what lies between two readings
 * is never more than the time between them.
 *
 * Not thread-safe: it belongs to whoever settles.
 */

#ifndef STATS_CONCURRENCY_H
#define STATS_CONCURRENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"

/* The union of intervals so far. */
struct span {
  uint64_t n;                   /* in flight */
  uint64_t since;               /* when n left 0, or came back to it */
  uint64_t last_end;            /* that was told */
  uint64_t ns;                  /* with n above 0, up to since */
};

/* The highest count seen: in the run, and since the last reading. */
struct most {
  unsigned run, recent;
};

struct concurrency {
  struct span all;              /* requests and openings */
  struct span kinds[NR_KINDS];
  struct span requests;         /* of all operations */
  struct most most, op_most[NR_OPS];
  uint64_t latency_ns[NR_OPS];  /* of all requests that ended, summed up */
  uint64_t open_begins[NR_OPS]; /* the begins of those that have not */

  uint64_t first_begin;         /* of all requests, 0: there was none */
  uint64_t recent_first;        /* when one was first in flight since the
                                   last reading, 0: none was */
  uint64_t idle_ns;             /* with nothing in flight since the last
                                   request ended: waiting, if one comes */
  uint64_t waiting_ns;
  uint64_t settled;             /* the moment of the last reading */
};

/* Begin with a time that is not behind that of any request. */
extern void concurrency_init (struct concurrency *c, uint64_t now);

/* These run once or twice a request. */

static inline uint64_t
time_later (uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

/* Returns from when it counts. */
static inline uint64_t
span_begin (struct span *span, uint64_t time)
{
  if (span->n++ == 0)
    span->since = time_later (span->since, time);
  return time_later (span->since, time);
}

static inline void
span_end (struct span *span, uint64_t time)
{
  span->last_end = time_later (span->last_end, time);
  if (--span->n == 0 && span->last_end > span->since) {
    span->ns += span->last_end - span->since;
    span->since = span->last_end;
  }
}

/* The recent highest count is never above that of all time. */
static inline void
most_raise (struct most *most, unsigned n)
{
  if (n <= most->recent)
    return;
  most->recent = n;
  if (n > most->run)
    most->run = n;
}

/* The first request, or the first after a reading. */
extern void concurrency_first (struct concurrency *c, uint64_t time);

/* A request of kind, or an opening, begins at time.  Returns how many
 * requests are in flight then, itself included.
 *
 * Where nothing was in flight, that was waiting for this request.
 */
static inline unsigned
concurrency_begin (struct concurrency *c, unsigned kind, uint64_t time)
{
  uint64_t from;

  if (c->all.n == 0 && c->first_begin != 0 && time > c->all.since)
    c->idle_ns += time - c->all.since;
  from = span_begin (&c->all, time);
  if (kind >= NR_OPS) {
    span_begin (&c->kinds[kind], from);
    return (unsigned) c->requests.n;
  }
  from = span_begin (&c->requests, from);
  span_begin (&c->kinds[kind], from);
  c->waiting_ns += c->idle_ns;
  c->idle_ns = 0;
  if (c->recent_first == 0 || time < c->first_begin)
    concurrency_first (c, time);
  c->open_begins[kind] += time;
  most_raise (&c->op_most[kind], (unsigned) c->kinds[kind].n);
  most_raise (&c->most, (unsigned) c->requests.n);
  return (unsigned) c->requests.n;
}

/* One that began at began ends at time. */
static inline void
concurrency_end (struct concurrency *c, unsigned kind, uint64_t began,
                 uint64_t time)
{
  span_end (&c->all, time);
  span_end (&c->kinds[kind], time);
  if (kind >= NR_OPS)
    return;
  span_end (&c->requests, time);
  c->open_begins[kind] -= began;
  c->latency_ns[kind] += time - began;
}

/* Bring all spans up to now, where everything up to now was told.  What
 * comes later cannot take that back.
 */
extern void concurrency_settle (struct concurrency *c, uint64_t now);

/* The recent figures begin anew, at the moment settled last. */
extern void concurrency_forget_recent (struct concurrency *c);

/* Time that requests of an operation were in flight, summed up over the
 * requests, until now.
 */
extern uint64_t concurrency_in_flight_ns (const struct concurrency *c,
                                          enum op op, uint64_t now);

#endif /* STATS_CONCURRENCY_H */
