/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */


/* Where the time went. */

#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "num2str.h"
#include "rules.h"

/* Opening is no time in which the storage had nothing to do. */
bool
check_client_bound (struct context *c)
{
  const uint64_t waiting_ns = c->layer->time.waiting_ns;
  const double idle = percent (waiting_ns, layer_active_ns (c->layer));

  if (idle < c->rule->threshold)
    return false;
  say (c->finding, elapsed_percent (c, waiting_ns),
       "The client is the limit: from the first request to the last the "
       "storage had nothing to do for %.1f%% of the time. Faster storage "
       "would save at most the other %.1f%%.", idle, 100 - idle);
  set_number (c->finding, 0, "idle_percent", idle);
  return true;
}

/* Whatever was in the operation's busy time, and how long each took. */

enum { OP_REQUESTS_LEN = 160 };

static void
set_unfinished (char buf[OP_REQUESTS_LEN], const char *before, uint64_t n)
{
  buf[0] = '\0';
  if (n)
    snprintf (buf, OP_REQUESTS_LEN, "%s%" PRIu64 " still in flight", before,
              n);
}

static const char *
op_requests (char buf[OP_REQUESTS_LEN], const struct context *c,
             const char *one, const char *several)
{
  const struct op_totals *totals = &c->layer->ops[c->op];
  const uint64_t ended = op_ended (totals), failed = failed_of (c, c->op);
  char mean[NUM2STR_LEN], failures[48] = "", unfinished[OP_REQUESTS_LEN];

  set_unfinished (unfinished, ended ? ", and " : "",
                  c->layer->time.in_flight[c->op]);
  if (ended == 0)
    return strcpy (buf, unfinished);
  if (failed)
    snprintf (failures, sizeof failures, ", of which %" PRIu64 " failed",
              failed);
  snprintf (buf, OP_REQUESTS_LEN, "%" PRIu64 " %s of %s%s%s%s", ended,
            ended == 1 ? one : several,
            num2str (mean, ratio (op_latency_ns (totals), ended), NUM_TIME),
            ended == 1 ? "" : " on average", failures, unfinished);
  return buf;
}

static bool
has_share_of_busy (const struct context *c)
{
  const struct timeline_totals *time = &c->layer->time;

  return op_ended (&c->layer->ops[c->op]) + time->in_flight[c->op] > 0
    && percent (time->op_busy_ns[c->op], time->busy_ns)
       >= c->rule->threshold;
}

bool
check_flush (struct context *c)
{
  const uint64_t flush_ns = c->layer->time.op_busy_ns[OP_FLUSH];
  const double share = percent (flush_ns, c->layer->time.busy_ns);
  char flushes[OP_REQUESTS_LEN];

  c->op = OP_FLUSH;
  if (!has_share_of_busy (c))
    return false;
  say (c->finding, elapsed_percent (c, flush_ns), "A flush was in flight for "
       "%.1f%% of the storage's busy time: %s.", share,
       op_requests (flushes, c, "flush", "flushes"));
  set_number (c->finding, 0, "flush_percent_of_busy", share);
  set_number (c->finding, 1, "flushes",
              (double) op_ended (&c->layer->ops[OP_FLUSH]));
  return true;
}

bool
check_extents_time (struct context *c)
{
  const uint64_t ns = c->layer->time.op_busy_ns[OP_EXTENTS];
  const double share = percent (ns, c->layer->time.busy_ns);
  char requests[OP_REQUESTS_LEN];

  c->op = OP_EXTENTS;
  if (!has_share_of_busy (c))
    return false;
  say (c->finding, elapsed_percent (c, ns), "Extents were asked for during "
       "%.1f%% of the storage's busy time: %s.", share,
       op_requests (requests, c, "request", "requests"));
  set_number (c->finding, 0, "extents_percent_of_busy", share);
  return true;
}

static bool
check_waiting (struct context *c, uint64_t ns, const char *what)
{
  const double share = elapsed_percent (c, ns);
  char seconds[NUM2STR_LEN];

  if (ns < c->rule->least_ns || share < c->rule->threshold)
    return false;
  say (c->finding, share, "%s passed %s, %.1f%% of the elapsed time.",
       seconds2str (seconds, (double) ns), what, share);
  set_number (c->finding, 0, "seconds", (double) ns / NS_PER_S);
  set_number (c->finding, 1, "percent_of_elapsed", share);
  return true;
}

bool
check_late_start (struct context *c)
{
  const uint64_t first = c->layer->time.first_begin;

  return first != 0
    && check_waiting (c, clock_since (c->snapshot->start, first),
                      "before the first request");
}

bool
check_late_end (struct context *c)
{
  const uint64_t end = c->snapshot->start + c->snapshot->elapsed_ns;

  return c->layer->time.first_begin != 0
    && check_waiting (c, clock_since (c->layer->time.last_end, end),
                      "after the last request");
}

bool
check_slow_open (struct context *c)
{
  const struct opens *opens = &c->layer->connections.all;
  const uint64_t ns = c->layer->time.open_busy_ns;
  const uint64_t ended = opens->opened + opens->failed;
  const double share = elapsed_percent (c, ns);
  char longest[NUM2STR_LEN], failed[48] = "";

  if (ns < c->rule->least_ns || share < c->rule->threshold)
    return false;
  if (opens->failed)
    snprintf (failed, sizeof failed, ", of which %" PRIu64 " failed",
              opens->failed);
  say (c->finding, share, "For %.1f%% of the elapsed time the storage was "
       "being opened for a client: %" PRIu64 " opening%s ended%s; the longest "
       "took %s.", share, ended, plural (ended), failed,
       num2str (longest, (double) opens->longest_ns, NUM_TIME));
  set_number (c->finding, 0, "percent_of_elapsed", share);
  set_number (c->finding, 1, "openings", (double) ended);
  set_number (c->finding, 2, "longest_open_ns", (double) opens->longest_ns);
  return true;
}
