/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <string.h>

#include "concurrency.h"

void
concurrency_init (struct concurrency *c, uint64_t now)
{
  memset (c, 0, sizeof *c);
  c->settled = c->since = now;
}

void
concurrency_first (struct concurrency *c, uint64_t time)
{
  if (c->first_begin == 0) {
    c->first_begin = time;
    c->idle_before_first = c->idle_before_last;
  }
  if (time < c->first_begin)
    c->first_begin = time;
  if (c->recent_first == 0)
    c->recent_first = time_later (time, c->settled);
}

void
concurrency_connect (struct concurrency *c, uint64_t time)
{
  if (c->clients++ == 0)
    concurrency_change (c, c->set | SET_CLIENT, time);
}

void
concurrency_disconnect (struct concurrency *c, uint64_t time)
{
  if (c->clients == 0 || --c->clients > 0)
    return;
  concurrency_change (c, c->set & ~SET_CLIENT, time);
  c->idle_since = 0;
}

void
concurrency_settle (struct concurrency *c, uint64_t now)
{
  concurrency_change (c, c->set, now);
  c->settled = time_later (c->settled, now);
}

void
concurrency_forget_recent (struct concurrency *c)
{
  c->most.recent = c->requests;
  for (unsigned op = 0; op < NR_OPS; op++)
    c->op_most[op].recent = c->n[op];
  c->recent_first = c->requests ? c->settled : 0;
}

uint64_t
concurrency_busy_ns (const struct concurrency *c, unsigned kinds)
{
  uint64_t ns = 0;

  for (unsigned set = 0; set < NR_SETS; set++) {
    if (set & kinds)
      ns += c->ns[set];
  }
  return ns;
}

static enum account_state
state_of (unsigned set)
{
  const unsigned kinds = set & SET_KINDS;

  if (kinds == 0)
    return set ? ACCOUNT_WAITING : ACCOUNT_NO_CLIENT;
  return kinds & (kinds - 1) ? ACCOUNT_SEVERAL
    : (enum account_state) __builtin_ctz (kinds);
}

void
concurrency_account (const struct concurrency *c, uint64_t account[NR_STATES])
{
  memset (account, 0, NR_STATES * sizeof account[0]);
  for (unsigned set = 0; set < NR_SETS; set++)
    account[state_of (set)] += c->ns[set];
}

/* Of those in flight, the end would be now. */
uint64_t
concurrency_in_flight_ns (const struct concurrency *c, enum op op,
                          uint64_t now)
{
  return c->flight_ns[op] + c->n[op] * now;
}

uint64_t
concurrency_waiting_ns (const struct concurrency *c)
{
  return c->idle_before_last - c->idle_before_first;
}
