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

/* The same number twice would be "nearly all". */
static void
add_largest (char buf[ACCOUNT_LEN], const struct context *c,
             enum account_state state)
{
  const uint64_t ns = c->layer->time.account[state];
  const uint64_t busy_ns = c->layer->time.busy_ns;
  const size_t length = strlen (buf);
  char seconds[NUM2STR_LEN], busy[NUM2STR_LEN];

  seconds2str (seconds, (double) ns);
  seconds2str (busy, (double) busy_ns);
  if (ns && strcmp (seconds, busy) == 0)
    snprintf (buf + length, ACCOUNT_LEN - length, ", %sall of it %s",
              ns == busy_ns ? "" : "nearly ", state_name (state));
  else if (ns)
    snprintf (buf + length, ACCOUNT_LEN - length, ", of which %s %s",
              state_name (state), seconds);
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

/* When requests came, where there were any. */
static const char *
when_requests_came (char buf[160], const struct context *c)
{
  const struct timeline_totals *time = &c->layer->time;
  const uint64_t end = c->snapshot->start + c->snapshot->elapsed_ns;
  char first[NUM2STR_LEN], last[NUM2STR_LEN];

  seconds2str (first, (double) clock_since (c->snapshot->start,
                                            time->first_begin));
  seconds2str (last, (double) clock_since (time->last_end, end));
  buf[0] = '\0';
  if (time->first_begin && layer_in_flight (c->layer))
    snprintf (buf, 160, " The first request came %s after the start.", first);
  else if (time->first_begin)
    snprintf (buf, 160, " The first request came %s after the start, and the "
              "last ended %s before the end.", first, last);
  return buf;
}

bool
check_no_client (struct context *c)
{
  const uint64_t ns = c->layer->time.account[ACCOUNT_NO_CLIENT];
  const double share = elapsed_percent (c, ns);
  char seconds[NUM2STR_LEN], when[160];

  if (!is_long (c, ns))
    return false;
  say (c->finding, share, "No client was connected for %s, %.1f%% of the "
       "elapsed time.%s", seconds2str (seconds, (double) ns), share,
       when_requests_came (when, c));
  set_number (c->finding, 0, "seconds", (double) ns / NS_PER_S);
  set_number (c->finding, 1, "percent_of_elapsed", share);
  return true;
}

/* Openings while requests are in flight cost these nothing that is known. */
bool
check_slow_open (struct context *c)
{
  const struct opens *opens = &c->layer->connections.all;
  const uint64_t ns = c->layer->time.account[ACCOUNT_OPENING];
  const uint64_t ended = opens->opened + opens->failed;
  const double share = elapsed_percent (c, ns);
  char longest[NUM2STR_LEN], failed[48] = "";

  if (!is_long (c, ns))
    return false;
  if (opens->failed)
    snprintf (failed, sizeof failed, ", of which %" PRIu64 " failed",
              opens->failed);
  say (c->finding, share, "For %.1f%% of the elapsed time the storage was "
       "only being opened: %" PRIu64 " opening%s ended%s; the longest took "
       "%s.", share, ended, plural (ended), failed,
       num2str (longest, (double) opens->longest_ns, NUM_TIME));
  set_number (c->finding, 0, "percent_of_elapsed", share);
  set_number (c->finding, 1, "openings", (double) ended);
  set_number (c->finding, 2, "longest_open_ns", (double) opens->longest_ns);
  return true;
}

/* How long something of a kind was in flight, also with others. */
static uint64_t
kind_ns (const struct timeline_totals *time, unsigned kind)
{
  return kind < NR_OPS ? time->op_busy_ns[kind] : time->open_busy_ns;
}

/* The kind that was in flight for longest, but for one. */
static unsigned
longest_kind (const struct timeline_totals *time, unsigned but)
{
  unsigned longest = but == 0;

  for (unsigned kind = 0; kind < NR_KINDS; kind++) {
    if (kind != but && kind_ns (time, kind) > kind_ns (time, longest))
      longest = kind;
  }
  return longest;
}

bool
check_several_kinds (struct context *c)
{
  const struct timeline_totals *time = &c->layer->time;
  const uint64_t ns = time->account[ACCOUNT_SEVERAL];
  const double share = percent (ns, time->busy_ns);
  const unsigned first = longest_kind (time, NR_KINDS);
  const unsigned second = longest_kind (time, first);

  if (ns == 0 || share < c->rule->threshold)
    return false;
  say (c->finding, elapsed_percent (c, ns), "For %.1f%% of the storage's busy "
       "time several kinds of work were in flight at once. Longest in flight "
       "were %s, for %.1f%% of it, and %s, for %.1f%%.", share,
       state_name (first), percent (kind_ns (time, first), time->busy_ns),
       state_name (second), percent (kind_ns (time, second), time->busy_ns));
  set_number (c->finding, 0, "percent_of_busy", share);
  return true;
}
