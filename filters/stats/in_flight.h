/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* How many requests are in flight at once, found from their intervals.
 *
 * The requests that are open at the moment are kept in the order of their
 * ends, the next to end last, so those that have ended by the begin of a
 * new one are taken off the end.  There are never more than threads, and
 * most begin and end at the end of the array, so this is a few
 * instructions a request.
 */

#ifndef STATS_IN_FLIGHT_H
#define STATS_IN_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "ops.h"

/* The end of a request that has not ended. */
#define IN_FLIGHT_OPEN UINT64_MAX

struct in_flight_request {
  uint64_t end;
  const void *owner;
  enum op op;
};

struct in_flight {
  struct in_flight_request *open;
  unsigned nr_open, capacity;
  uint64_t now;                 /* all that ended before is taken off */
  unsigned op_open[NR_OPS];
  unsigned most, op_most[NR_OPS];               /* the highest counts seen, */
  unsigned recent_most, op_recent_most[NR_OPS]; /* and recently */
};

/* Make room for owners that each have one request at a time.  Returns -1
 * when there is no memory.
 */
extern int in_flight_reserve (struct in_flight *in_flight, unsigned owners);
extern void in_flight_free (struct in_flight *in_flight);

/* The request of owner that was added as open ends. */
extern void in_flight_end (struct in_flight *in_flight, const void *owner,
                           uint64_t end);

/* Start the recent highest counts again, from what is open now. */
extern void in_flight_forget_recent (struct in_flight *in_flight);

/* These run once or twice a request. */

/* Take off all that ended by now. */
static inline void
in_flight_until (struct in_flight *in_flight, uint64_t now)
{
  while (in_flight->nr_open > 0
         && in_flight->open[in_flight->nr_open - 1].end <= now)
    in_flight->op_open[in_flight->open[--in_flight->nr_open].op]--;
  if (now > in_flight->now)
    in_flight->now = now;
}

/* Put a request into its place, mostly at the end.  There is room. */
static inline void
in_flight_insert (struct in_flight *in_flight, struct in_flight_request request)
{
  struct in_flight_request *place = &in_flight->open[in_flight->nr_open++];

  while (place > in_flight->open && place[-1].end < request.end) {
    place[0] = place[-1];
    place--;
  }
  *place = request;
}

/* The recent highest count is never above that of all time. */
static inline void
in_flight_raise (unsigned *most, unsigned *recent_most, unsigned n)
{
  if (n <= *recent_most)
    return;
  *recent_most = n;
  if (n > *most)
    *most = n;
}

/* A request of owner from begin to end, or to IN_FLIGHT_OPEN.  They come
 * in the order of their begins; one that comes late counts from now on.
 * Returns how many are in flight then, itself included.
 */
static inline unsigned
in_flight_add (struct in_flight *in_flight, const void *owner, enum op op,
               uint64_t begin, uint64_t end)
{
  unsigned op_open;

  in_flight_until (in_flight, begin);
  if (end <= in_flight->now || in_flight->nr_open == in_flight->capacity)
    return in_flight->nr_open + 1;
  in_flight_insert (in_flight, (struct in_flight_request) {
    .end = end, .owner = owner, .op = op,
  });
  op_open = ++in_flight->op_open[op];
  in_flight_raise (&in_flight->most, &in_flight->recent_most,
                   in_flight->nr_open);
  in_flight_raise (&in_flight->op_most[op], &in_flight->op_recent_most[op],
                   op_open);
  return in_flight->nr_open;
}

#endif /* STATS_IN_FLIGHT_H */
