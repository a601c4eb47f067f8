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

/* The account: all of the elapsed time is without a client, waiting for
 * requests, or the storage's.
 */

/* The state that has most of the storage's part. */
static enum account_state
largest_state (const struct context *c)
{
  const uint64_t *account = c->layer->time.account;
  unsigned largest = 0;

  for (unsigned state = 1; state <= ACCOUNT_SEVERAL; state++) {
    if (account[state] > account[largest])
      largest = state;
  }
  return largest;
}

static const char *
state_name (enum account_state state)
{
  if ((unsigned) state < NR_OPS)
    return op_name ((enum op) state);
  return state == ACCOUNT_OPENING ? "opening" : "several kinds at once";
}

enum { ACCOUNT_LEN = 200 };

/* One part of the time, if there was any. */
static void
add_part (char buf[ACCOUNT_LEN], const struct context *c, uint64_t ns,
          const char *where)
{
  const size_t length = strlen (buf);
  char seconds[NUM2STR_LEN];

  if (ns)
    snprintf (buf + length, ACCOUNT_LEN - length, "%s%s (%.1f%%) %s",
              length ? ", " : "", seconds2str (seconds, (double) ns),
              elapsed_percent (c, ns), where);
}

static void
add_largest (char buf[ACCOUNT_LEN], const struct context *c,
             enum account_state state)
{
  const uint64_t ns = c->layer->time.account[state];
  const size_t length = strlen (buf);
  char seconds[NUM2STR_LEN];

  if (ns && ns == c->layer->time.busy_ns)
    snprintf (buf + length, ACCOUNT_LEN - length, ", all of it %s",
              state_name (state));
  else if (ns)
    snprintf (buf + length, ACCOUNT_LEN - length, ", of which %s %s",
              state_name (state), seconds2str (seconds, (double) ns));
}

/* The layer that it is seen from, if there are several. */
static const char *
seen_from (char buf[40], const struct context *c)
{
  buf[0] = '\0';
  if (c->snapshot->nr_layers > 1)
    snprintf (buf, 40, "Seen from layer %zu, ", c->layer_index + 1);
  return buf;
}

/* Bounds: what goes away is the storage's part, or the waiting, and nothing
 * else changes.
 */
bool
check_account (struct context *c)
{
  const struct timeline_totals *time = &c->layer->time;
  const uint64_t no_client_ns = time->account[ACCOUNT_NO_CLIENT];
  const uint64_t waiting_ns = time->account[ACCOUNT_WAITING];
  const enum account_state largest = largest_state (c);
  char elapsed[NUM2STR_LEN], fast[NUM2STR_LEN], eager[NUM2STR_LEN];
  char layer[40], parts[ACCOUNT_LEN] = "";

  if (time->first_begin == 0 && time->busy_ns == 0)
    return false;
  add_part (parts, c, no_client_ns, "without a client");
  add_part (parts, c, waiting_ns, "waiting for requests");
  add_part (parts, c, time->busy_ns, "in the storage");
  add_largest (parts, c, largest);
  say (c->finding, 0, "%s%s went by%s%s. All else being equal, storage that "
       "takes no time would leave %s, and a client that never pauses %s.",
       seen_from (layer, c),
       seconds2str (elapsed, (double) c->snapshot->elapsed_ns),
       parts[0] ? ": " : "", parts,
       seconds2str (fast, (double) (no_client_ns + waiting_ns)),
       seconds2str (eager, (double) (no_client_ns + time->busy_ns)));
  if ((unsigned) largest < NR_OPS && time->account[largest])
    c->finding->op = op_name ((enum op) largest);
  set_number (c->finding, 0, "no_client_ns", (double) no_client_ns);
  set_number (c->finding, 1, "waiting_ns", (double) waiting_ns);
  set_number (c->finding, 2, "storage_ns", (double) time->busy_ns);
  set_number (c->finding, 3, "largest_ns", (double) time->account[largest]);
  set_number (c->finding, 4, "without_storage_ns",
              (double) (no_client_ns + waiting_ns));
  set_number (c->finding, 5, "without_pauses_ns",
              (double) (no_client_ns + time->busy_ns));
  return true;
}

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
