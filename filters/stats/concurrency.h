/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What happens at once in one layer: which kinds of requests are in flight
 * and for how long, how many at most, how long nothing.
 *
 * It is told the begins and ends of requests and openings in the order of
 * time, and when clients come and go.  At each moment there is a set of what
 * is there: a bit for each kind that is in flight, and one for a client that
 * is connected.  Time is added up by that set, and nothing else:
 *
 *   time     ----------------------------------------->
 *   client        [=============================]
 *   read            [=======]    [===]
 *   write              [=========]
 *   set      -    c cr  crw  cw   cr   c           -
 *
 * What follows, follows by adding up: a kind is busy in all sets that have
 * it, the layer in all with any kind, and the account of time is the sets put
 * together by how many kinds they have.  So all of these fit together, and the
 * account adds up to the time that passed, to the nanosecond.
 *
 * What is told late, after something that came after it, counts from where
 * time has been added up already: it is wrong by no more than it is late.  The
 * same holds after a reading, since what was read stays.
 *
 * Not thread-safe: it belongs to whoever settles.
 */

#ifndef STATS_CONCURRENCY_H
#define STATS_CONCURRENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"

/* A set of what is there: bit 1 << kind, and: */
#define SET_CLIENT (1u << NR_KINDS)
#define SET_KINDS (SET_CLIENT - 1)
#define SET_REQUESTS ((1u << NR_OPS) - 1)
#define NR_SETS (SET_CLIENT << 1)

/* The account of time: every moment has one of these states.  First those in
 * which one kind is alone in flight, by its number.
 */
enum account_state {
  ACCOUNT_OPENING = KIND_OPENING,
  ACCOUNT_SEVERAL = NR_KINDS,   /* kinds in flight */
  ACCOUNT_WAITING,              /* nothing is, but a client is connected */
  ACCOUNT_NO_CLIENT,
  NR_STATES
};

/* The highest count seen: in the run, and since the last reading. */
struct most {
  unsigned run, recent;
};

/* What a request waited for: from when nothing was in flight any more to its
 * begin, with a client connected all the time.
 */
struct gap {
  uint64_t begin, ns;           /* ns is 0 where there was none */
};

struct concurrency {
  unsigned set;                 /* what is there */
  unsigned requests;            /* in flight, of all operations */
  uint64_t since;               /* times are added up until then */
  uint64_t idle_since;          /* see struct gap; 0 where there is none */
  unsigned n[NR_KINDS];         /* in flight */
  unsigned clients;             /* connected */
  struct most most, op_most[NR_OPS];
  uint64_t flight_ns[NR_OPS];   /* the ends that were told less the begins */
  uint64_t ns[NR_SETS];         /* how long each set was there */

  uint64_t first_begin;         /* of all requests, 0: there was none */
  uint64_t recent_first;        /* when one was first in flight since the
                                   last reading, 0: none was */
  uint64_t last_end;            /* of all requests */
  uint64_t idle_before_first;   /* with nothing in flight until the first */
  uint64_t idle_before_last;    /* request, and until the last began */
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

/* From time on there is another set. */
static inline void
concurrency_change (struct concurrency *c, unsigned set, uint64_t time)
{
  if (time > c->since) {
    c->ns[c->set] += time - c->since;
    c->since = time;
  }
  c->set = set;
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

/* No request was in flight.  If nothing was at all, that was a gap. */
static inline struct gap
concurrency_end_gap (struct concurrency *c, uint64_t time)
{
  const uint64_t begin = c->idle_since;

  c->idle_before_last = c->ns[0] + c->ns[SET_CLIENT];
  c->idle_since = 0;
  if (begin == 0 || time <= begin)
    return (struct gap) { 0 };
  return (struct gap) { begin, time - begin };
}

/* A request of kind, or an opening, begins at time.  Returns the gap that ends
 * with a request; an opening makes that it is none.
 */
static inline struct gap
concurrency_begin (struct concurrency *c, unsigned kind, uint64_t time)
{
  struct gap gap = { 0 };

  if (c->n[kind]++ == 0)
    concurrency_change (c, c->set | 1u << kind, time);
  if (kind >= NR_OPS) {
    c->idle_since = 0;
    return gap;
  }
  if (c->requests++ == 0)
    gap = concurrency_end_gap (c, c->since);
  if (c->recent_first == 0 || time < c->first_begin)
    concurrency_first (c, time);
  c->flight_ns[kind] -= time;
  most_raise (&c->op_most[kind], c->n[kind]);
  most_raise (&c->most, c->requests);
  return gap;
}

/* One ends at time. */
static inline void
concurrency_end (struct concurrency *c, unsigned kind, uint64_t time)
{
  if (--c->n[kind] == 0) {
    concurrency_change (c, c->set & ~(1u << kind), time);
    if (c->set == SET_CLIENT)
      c->idle_since = c->since;
  }
  if (kind >= NR_OPS)
    return;
  c->requests--;
  c->flight_ns[kind] += time;
  c->last_end = time_later (c->last_end, time);
}

/* A client is connected from time on, or no longer. */
extern void concurrency_connect (struct concurrency *c, uint64_t time);
extern void concurrency_disconnect (struct concurrency *c, uint64_t time);

/* Add up all times until now, where everything up to now was told.  What
 * comes later cannot take that back.
 */
extern void concurrency_settle (struct concurrency *c, uint64_t now);

/* The recent figures begin anew, at the moment settled last. */
extern void concurrency_forget_recent (struct concurrency *c);

/* These hold for the moment up to which times are added up. */

/* How long any of these kinds was in flight, a set of them. */
extern uint64_t concurrency_busy_ns (const struct concurrency *c,
                                     unsigned kinds);

/* The account: NR_STATES times that add up to all the time since init. */
extern void concurrency_account (const struct concurrency *c,
                                 uint64_t account[NR_STATES]);

/* Time that requests of an operation were in flight, summed up over the
 * requests, until now.
 */
extern uint64_t concurrency_in_flight_ns (const struct concurrency *c,
                                          enum op op, uint64_t now);

/* With nothing in flight, between the begins of the first request and of the
 * last.
 */
extern uint64_t concurrency_waiting_ns (const struct concurrency *c);

#endif /* STATS_CONCURRENCY_H */
