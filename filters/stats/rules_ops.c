/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Which operation took the storage's time, with how many and how long each. */

#include <config.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "num2str.h"
#include "rules.h"

/* Whatever was in the operation's busy time, and how long each took. */

enum { REQUESTS_LEN = 200 };

static uint64_t
longest_ns (const struct op_totals *op)
{
  const uint64_t failed_ns = failures_total (&op->failures).longest_ns;

  return op->tally.requests && op->extremes.max_ns > failed_ns
    ? op->extremes.max_ns : failed_ns;
}

static void
add (char buf[REQUESTS_LEN], const char *fmt, ...)
  __attribute__ ((format (printf, 2, 3)));

static void
add (char buf[REQUESTS_LEN], const char *fmt, ...)
{
  const size_t length = strlen (buf);
  va_list args;

  va_start (args, fmt);
  vsnprintf (buf + length, REQUESTS_LEN - length, fmt, args);
  va_end (args);
}

/* Those that ended; a mean says little where one took most of the time. */
static void
add_ended (char buf[REQUESTS_LEN], const struct context *c)
{
  const struct op_totals *op = &c->layer->ops[c->op];
  const uint64_t ended = op_ended (op), failed = failed_of (c, c->op);
  const uint64_t all_ns = op_latency_ns (op);
  char mean[NUM2STR_LEN], longest[NUM2STR_LEN];

  add (buf, "%" PRIu64 " request%s of %s%s", ended, plural (ended),
       num2str (mean, ratio (all_ns, ended), NUM_TIME),
       ended == 1 ? "" : " on average");
  if (ended > 2 && longest_ns (op) > all_ns / 2)
    add (buf, " (one took %s)",
         num2str (longest, (double) longest_ns (op), NUM_TIME));
  if (failed)
    add (buf, ", of which %" PRIu64 " failed", failed);
}

static const char *
requests_words (char buf[REQUESTS_LEN], const struct context *c)
{
  const uint64_t in_flight = c->layer->time.in_flight[c->op];

  buf[0] = '\0';
  if (op_ended (&c->layer->ops[c->op]))
    add_ended (buf, c);
  if (in_flight)
    add (buf, "%s%" PRIu64 " still in flight", buf[0] ? ", and " : "",
         in_flight);
  return buf;
}

/* What to try, where the figures say so. */

/* Both did enough to compare, and nothing failed. */
static bool
is_zeroing_slower (const struct context *c)
{
  const struct op_totals *zero = &c->layer->ops[OP_ZERO];
  const struct op_totals *write = &c->layer->ops[OP_WRITE];

  return op_ended (zero) == zero->tally.requests && zero->tally.requests >= 10
    && op_ended (write) == write->tally.requests
    && write->tally.requests >= 10
    && ratio (zero->tally.latency_ns, zero->tally.bytes)
       > c->rule->growth * ratio (write->tally.latency_ns, write->tally.bytes);
}

static const char *
op_step (const struct context *c)
{
  if (c->op == OP_FLUSH
      && op_ended (&c->layer->ops[OP_FLUSH]) >= c->rule->requests)
    return " See whether the client needs each of them.";
  if (c->op == OP_ZERO && is_zeroing_slower (c))
    return " A byte took longer to zero than to write: see "
           "nbdkit-nozero-filter(1).";
  return "";
}

bool
check_op_time (struct context *c)
{
  static const char *const doing[NR_OPS] = {
    [OP_READ] = "Reading", [OP_WRITE] = "Writing", [OP_TRIM] = "Trimming",
    [OP_ZERO] = "Zeroing", [OP_EXTENTS] = "Asking for extents",
    [OP_CACHE] = "Caching", [OP_FLUSH] = "Flushing",
  };
  const uint64_t ns = untold_ns (c, c->op);
  const double share = percent (ns, c->layer->time.busy_ns);
  char requests[REQUESTS_LEN];

  if (ns == 0 || share < c->rule->threshold
      || *requests_words (requests, c) == '\0')
    return false;
  say (c->finding, elapsed_percent (c, ns), "%s%s took %.1f%% of the storage's "
       "busy time: %s.%s", doing[c->op], c->busy_told ? " alone" : "", share,
       requests, op_step (c));
  set_number (c->finding, 0, "percent_of_busy", share);
  set_number (c->finding, 1, "requests",
              (double) op_ended (&c->layer->ops[c->op]));
  return true;
}
