/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What went wrong. */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rules.h"

/* So nbdkit ends what waits when it is told to end, or a client is gone. */
static bool
is_cut_short (const struct failure *failure)
{
  return failure->error == ESHUTDOWN;
}

/* How many were, or have failed by themselves, and how long they took. */
static struct failure
sum_failures (const struct recorder_totals *layer, bool cut_short)
{
  struct failure sum = { 0 };

  for (unsigned op = 0; op < NR_OPS; op++) {
    for (unsigned i = 0; i < MAX_FAILURES; i++) {
      const struct failure *f = &layer->ops[op].failures.by_errno[i];

      if (is_cut_short (f) == cut_short) {
        sum.requests += f->requests;
        sum.ns += f->ns;
      }
    }
  }
  return sum;
}

bool
check_cut_short (struct context *c)
{
  const uint64_t requests = sum_failures (c->layer, true).requests;

  if ((double) requests < c->rule->threshold)
    return false;
  say (c->finding, 0, "%" PRIu64 " request%s cut short (ESHUTDOWN), as "
       "happens when nbdkit is told to end or a client goes away.", requests,
       requests == 1 ? " was" : "s were");
  set_number (c->finding, 0, "cut_short", (double) requests);
  return true;
}

/* A few may take most of the time, as timeouts do.  Means of all requests are
 * theirs then.
 */
static const char *
time_words (char buf[80], const struct context *c, uint64_t failed_ns)
{
  uint64_t all_ns = 0;
  double share;

  for (unsigned op = 0; op < NR_OPS; op++)
    all_ns += op_latency_ns (&c->layer->ops[op]);
  share = percent (failed_ns, all_ns);
  buf[0] = '\0';
  if (share > 50 && elapsed_percent (c, failed_ns) >= FINDING_WEIGHT)
    snprintf (buf, 80, " They took %.1f%% of the time of all requests, added "
              "up.", share);
  return buf;
}

bool
check_failures (struct context *c)
{
  const struct failure sum = sum_failures (c->layer, false);
  const uint64_t failed = sum.requests;
  const struct failure *most = NULL;
  enum op most_op = 0;
  char took[80];

  if ((double) failed < c->rule->threshold)
    return false;
  for (unsigned op = 0; op < NR_OPS; op++) {
    for (unsigned i = 0; i < MAX_FAILURES; i++) {
      const struct failure *f = &c->layer->ops[op].failures.by_errno[i];

      if (f->requests && !is_cut_short (f)
          && (most == NULL || f->requests > most->requests)) {
        most = f;
        most_op = op;
      }
    }
  }
  say (c->finding, 0, "%" PRIu64 " request%s failed: %" PRIu64 " %s "
       "request%s with %s%s.%s", failed, plural (failed),
       most->requests, op_name (most_op), plural (most->requests),
       most->error == FAILURE_OTHER ? "various errors"
                                    : strerror ((int) most->error),
       most->requests == failed ? "" : ", and others",
       time_words (took, c, sum.ns));
  set_number (c->finding, 0, "failed", (double) failed);
  set_number (c->finding, 1, "most_common", (double) most->requests);
  set_number (c->finding, 2, "failed_ns", (double) sum.ns);
  return true;
}

bool
check_open_failures (struct context *c)
{
  const struct opens *opens = &c->layer->connections.all;

  if ((double) opens->failed < c->rule->threshold)
    return false;
  say (c->finding, 0, "%" PRIu64 " of %" PRIu64 " opening%s of an export "
       "failed.", opens->failed, opens->failed + opens->opened,
       plural (opens->failed + opens->opened));
  set_number (c->finding, 0, "failed_opens", (double) opens->failed);
  return true;
}

bool
check_unrecorded (struct context *c)
{
  if ((double) c->layer->unrecorded < c->rule->threshold)
    return false;
  say (c->finding, 0, "This report lacks %" PRIu64 " request%s, for want "
       "of memory.", c->layer->unrecorded, plural (c->layer->unrecorded));
  set_number (c->finding, 0, "unrecorded", (double) c->layer->unrecorded);
  return true;
}

bool
check_unfinished (struct context *c)
{
  const uint64_t in_flight = layer_in_flight (c->layer);

  if (!c->snapshot->ended || (double) in_flight < c->rule->threshold)
    return false;
  say (c->finding, 0, "%" PRIu64 " request%s still in flight at the end. That "
       "time is busy time, and in no count of requests, bytes or latencies.",
       in_flight, in_flight == 1 ? " was" : "s were");
  set_number (c->finding, 0, "in_flight", (double) in_flight);
  return true;
}
