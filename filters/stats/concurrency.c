/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <string.h>

#include "clock.h"
#include "concurrency.h"

void
concurrency_init (struct concurrency *c, uint64_t now)
{
  memset (c, 0, sizeof *c);
  c->settled = now;
  c->all.since = c->requests.since = now;
  for (unsigned kind = 0; kind < NR_KINDS; kind++)
    c->kinds[kind].since = now;
}

void
concurrency_first (struct concurrency *c, uint64_t time)
{
  if (c->first_begin == 0 || time < c->first_begin)
    c->first_begin = time;
  if (c->recent_first == 0)
    c->recent_first = time_later (time, c->settled);
}

/* Up to now, which what follows cannot take back. */
static void
span_settle (struct span *span, uint64_t now)
{
  if (span->n > 0)
    span->ns += clock_since (span->since, now);
  span->since = time_later (span->since, now);
}

void
concurrency_settle (struct concurrency *c, uint64_t now)
{
  if (c->all.n == 0 && c->first_begin != 0)
    c->idle_ns += clock_since (c->all.since, now);
  span_settle (&c->all, now);
  span_settle (&c->requests, now);
  for (unsigned kind = 0; kind < NR_KINDS; kind++)
    span_settle (&c->kinds[kind], now);
  c->settled = time_later (c->settled, now);
}

void
concurrency_forget_recent (struct concurrency *c)
{
  c->most.recent = (unsigned) c->requests.n;
  for (unsigned op = 0; op < NR_OPS; op++)
    c->op_most[op].recent = (unsigned) c->kinds[op].n;
  c->recent_first = c->requests.n ? c->settled : 0;
}

uint64_t
concurrency_in_flight_ns (const struct concurrency *c, enum op op,
                          uint64_t now)
{
  return c->latency_ns[op] + c->kinds[op].n * now - c->open_begins[op];
}
