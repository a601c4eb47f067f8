/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* How much was asked for at once, and whether that is the limit. */

#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "num2str.h"
#include "rules.h"

/* Requests, and the time that these took. */
struct sample {
  uint64_t requests;
  uint64_t ns;
};

/* Flushes apart, which wait for others and are another matter. */
#define BUT_FLUSHES (((1u << NR_OPS) - 1) & ~(1u << OP_FLUSH))

/* Of a set of operations, all that ended. */
static struct sample
all_of (const struct context *c, unsigned ops)
{
  struct sample all = { 0 };

  for (unsigned op = 0; op < NR_OPS; op++) {
    if ((ops & 1u << op) == 0)
      continue;
    all.requests += op_ended (&c->layer->ops[op]);
    all.ns += op_latency_ns (&c->layer->ops[op]);
  }
  return all;
}

static int
longest_first (const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

  return x < y ? 1 : x > y ? -1 : 0;
}

/* Without the slowest hundredth, as far as these are known: one that hung
 * must not stand for them all.
 */
static struct sample
most_of (const struct context *c, unsigned ops)
{
  struct sample sample = all_of (c, ops);
  uint64_t slow[NR_OPS * (NR_SLOWEST + 1)], hundredth = sample.requests / 100;
  size_t n = 0;

  for (unsigned op = 0; op < NR_OPS; op++) {
    const struct op_totals *totals = &c->layer->ops[op];

    if ((ops & 1u << op) == 0)
      continue;
    for (unsigned i = 0; i < NR_SLOWEST; i++)
      slow[n++] = totals->extremes.slowest[i].latency_ns;
    slow[n++] = failures_total (&totals->failures).longest_ns;
  }
  qsort (slow, n, sizeof slow[0], longest_first);
  for (size_t i = 0; i < n && i < NR_SLOWEST && i < hundredth && slow[i]; i++) {
    sample.requests--;
    sample.ns -= at_most (slow[i], sample.ns);
  }
  return sample;
}

/* How many of them were in flight together with another, in percent. */
static double
overlapped_percent (const struct context *c)
{
  const uint64_t ended = all_of (c, BUT_FLUSHES).requests;
  uint64_t overlapped = 0;

  for (unsigned op = 0; op < NR_OPS; op++) {
    if (op != OP_FLUSH)
      overlapped += c->layer->time.overlapped[op];
  }
  return percent (at_most (overlapped, ended), ended);
}

/* How long one of them was in flight alone, at least.  They are in flight for
 * longer, added up, than the time that went by only where there are several.
 */
static uint64_t
alone_ns (const struct context *c)
{
  const struct timeline_totals *time = &c->layer->time;
  const uint64_t busy_ns = clock_since (time->account[OP_FLUSH]
                                        + time->account[ACCOUNT_OPENING],
                                        time->busy_ns);
  uint64_t in_flight_ns = 0;

  for (unsigned op = 0; op < NR_OPS; op++) {
    if (op != OP_FLUSH)
      in_flight_ns += time->in_flight_ns[op];
  }
  return clock_since (clock_since (busy_ns, in_flight_ns), busy_ns);
}

/* The operation that most of the time is of. */
static enum op
dominant_op (const struct context *c)
{
  uint64_t most_ns = 0;
  unsigned dominant = OP_READ;

  for (unsigned op = 0; op < NR_OPS; op++) {
    const uint64_t ns = op == OP_FLUSH ? 0 : most_of (c, 1u << op).ns;

    if (ns > most_ns) {
      most_ns = ns;
      dominant = op;
    }
  }
  return dominant;
}

/* Who sees to it that there is one request at a time, as far as known. */
static const char *
why_one_at_a_time (const struct context *c)
{
  switch (c->snapshot->thread_model) {
  case THREADS_SERIALIZE_CONNECTIONS:
    return ": nbdkit lets no more through, and one connection at a time, "
           "since the thread model is serialize_connections";
  case THREADS_SERIALIZE_ALL_REQUESTS:
    return ": nbdkit lets no more through, since the thread model is "
           "serialize_all_requests";
  case THREADS_SERIALIZE_REQUESTS:
    return ": nbdkit lets no more of a connection through, since the thread "
           "model is serialize_requests";
  default:
    return "";
  }
}

/* And what could change that. */
static const char *
more_at_a_time (const struct context *c)
{
  switch (c->snapshot->thread_model) {
  case THREADS_SERIALIZE_CONNECTIONS:
  case THREADS_SERIALIZE_ALL_REQUESTS:
    return ", however many the client sends.";
  case THREADS_SERIALIZE_REQUESTS:
    return ". Several connections may give more.";
  default:
    return c->op == OP_EXTENTS || c->op == OP_CACHE ? "."
      : ". See whether the client can send several at once: "
        "qemu-img convert -W -m 16.";
  }
}

static const char *
how_alone (char buf[96], const struct context *c)
{
  if (c->layer->time.most_in_flight > 1)
    snprintf (buf, 96, "But for flushes, only %.2g%% of the requests were in "
              "flight together with another", overlapped_percent (c));
  else
    strcpy (buf, "There was never more than one request in flight");
  return buf;
}

/* What so many a second move, if that means anything. */
static const char *
possible_rate (char buf[NUM2STR_LEN + 8], const struct context *c,
               double possible)
{
  const struct op_totals *op = &c->layer->ops[c->op];
  char number[NUM2STR_LEN];

  buf[0] = '\0';
  if (op->tally.bytes && op_kind (c->op) != KIND_QUERY)
    snprintf (buf, NUM2STR_LEN + 8, ", here %s",
              num2str (number, possible * ratio (op->tally.bytes,
                                                 op_ended (op)),
                       NUM_BYTES_PER_S));
  return buf;
}

/* All together are the limit; what each takes is told of those that have most
 * of it, since a mean of fast and slow kinds is that of neither.  A few that
 * were not alone may have had most of the time.
 */
bool
check_one_at_a_time (struct context *c)
{
  const uint64_t all_ns = most_of (c, BUT_FLUSHES).ns;
  const enum op op = dominant_op (c);
  const struct sample most = most_of (c, 1u << op);
  const double possible = per_second (most.requests, most.ns);
  char alone[96], mean[NUM2STR_LEN], rate[NUM2STR_LEN + 8];

  c->op = op;
  if (all_of (c, 1u << op).requests < c->rule->requests
      || overlapped_percent (c) > c->rule->overlapped
      || percent (at_most (all_ns, alone_ns (c)), connected_ns (c))
         < c->rule->threshold)
    return false;
  say (c->finding, elapsed_percent (c, untold_ns (c, op)),
       "%s%s. One %s took %s on average, but for the few slowest: that "
       "gives %.*f a second%s%s", how_alone (alone, c), why_one_at_a_time (c),
       op_noun (op, 1), num2str (mean, ratio (most.ns, most.requests),
                                 NUM_TIME),
       possible < 100, possible, possible_rate (rate, c, possible),
       more_at_a_time (c));
  set_op (c, op);
  set_number (c->finding, 0, "possible_iops", possible);
  set_number (c->finding, 1, "overlapped_percent", overlapped_percent (c));
  return true;
}

/* Latency by depth.  Requests of one size class are compared with each
 * other, few of them in flight and many; then the classes are added up, by
 * how many there were with many in flight.
 */
struct comparison {
  uint64_t requests;            /* with many in flight, of all sizes */
  struct sample many;           /* of those that can be compared */
  double few_ns;                /* what they had taken with few in flight */
};

/* Classes of depths: one or two in flight. */
#define FEW 2

static struct sample
sum_depths (const struct depth_class *depths, unsigned from, unsigned to)
{
  struct sample sum = { 0 };

  for (unsigned i = from; i < to; i++) {
    sum.requests += depths[i].requests;
    sum.ns += depths[i].latency_ns;
  }
  return sum;
}

static struct comparison
compare_depths (const struct context *c, unsigned deep)
{
  struct comparison all = { 0 };

  for (unsigned k = 0; k < SIZE_CLASSES; k++) {
    const struct depth_class *depths = c->layer->time.size_depths[c->op][k];
    const struct sample few = sum_depths (depths, 0, FEW);
    const struct sample many = sum_depths (depths, deep, DEPTH_CLASSES);

    all.requests += many.requests;
    if (few.requests < c->rule->requests || many.requests < c->rule->requests)
      continue;
    all.many.requests += many.requests;
    all.many.ns += many.ns;
    all.few_ns += ratio (few.ns, few.requests) * (double) many.requests;
  }
  return all;
}

/* How many took so long or longer.  A bin is taken as a whole. */
static uint64_t
requests_from (const struct tally *tally, double ns)
{
  uint64_t requests = 0;

  if (ns >= (double) UINT64_MAX)
    return 0;
  for (unsigned i = histogram_bin ((uint64_t) ns); i < HISTOGRAM_ALL; i++)
    requests += tally->bins[i];
  return requests;
}

/* Where requests only wait for one another, the latency grows with how
 * many are in flight.  Sizes within a class differ by up to a factor of 2,
 * and so may latencies; and half of them must have grown, not a few.
 */
static bool
has_grown (const struct context *c, const struct comparison *comparison,
           double in_flight)
{
  const double each = c->rule->growth_each * in_flight;
  const double growth = each > c->rule->growth ? each : c->rule->growth;
  const uint64_t requests = comparison->many.requests;
  const double few_ns = comparison->few_ns / (double) requests;

  return few_ns > 0
    && (double) comparison->many.ns >= growth * comparison->few_ns
    && requests_from (tally_of (c, c->op), growth * few_ns) >= requests / 2;
}

/* As many as the mean in flight, or more; and more than a few. */
static unsigned
deep_class (double in_flight)
{
  const unsigned depth = in_flight < UINT16_MAX ? (unsigned) in_flight
                                                : UINT16_MAX;
  const unsigned class = depth_class_of (depth);

  return class < FEW ? FEW : class;
}

/* Those that can be compared are half of them at least. */
static bool
is_comparable (const struct comparison *comparison)
{
  const uint64_t requests = comparison->many.requests;

  return comparison->many.ns > 0
    && requests >= comparison->requests - requests;
}

static double
few_mean_ns (const struct comparison *comparison)
{
  return comparison->few_ns / (double) comparison->many.requests;
}

static double
many_mean_ns (const struct comparison *comparison)
{
  return ratio (comparison->many.ns, comparison->many.requests);
}

bool
check_saturated (struct context *c)
{
  const double op_in_flight = op_mean_in_flight (c->layer, c->op);
  const double all_in_flight = layer_mean_in_flight (c->layer);
  const double in_flight = op_in_flight > all_in_flight ? op_in_flight
                                                        : all_in_flight;
  const unsigned deep = deep_class (in_flight);
  const struct comparison comparison = compare_depths (c, deep);
  char few[NUM2STR_LEN], many[NUM2STR_LEN];

  if (op_in_flight < c->rule->threshold || !is_comparable (&comparison)
      || !has_grown (c, &comparison, in_flight))
    return false;
  say (c->finding, op_busy_percent (c, c->op),
       "The storage looks saturated by %s: of the same size, one took %s on "
       "average with one or two requests in flight, and %s with %u or more. "
       "Where they wait for one another, more at once give no more.",
       op_noun (c->op, 2), num2str (few, few_mean_ns (&comparison), NUM_TIME),
       num2str (many, many_mean_ns (&comparison), NUM_TIME),
       depth_class_from (deep));
  set_number (c->finding, 0, "mean_in_flight", op_in_flight);
  set_number (c->finding, 1, "latency_ns_at_1_to_2", few_mean_ns (&comparison));
  set_number (c->finding, 2, "latency_ns_at_depth",
              many_mean_ns (&comparison));
  return true;
}

/* Whether more in flight would help, where a comparison proves it. */

/* The data requests that were in flight for longer. */
static enum op
busier_op (const struct context *c)
{
  const uint64_t *busy_ns = c->layer->time.op_busy_ns;

  return busy_ns[OP_WRITE] > busy_ns[OP_READ] ? OP_WRITE : OP_READ;
}

/* They took no longer with many in flight.  What they took with few was the
 * usual time: a stall then would hide that they do take longer.
 */
static bool
is_flat (const struct context *c, const struct comparison *comparison)
{
  const uint64_t requests = comparison->many.requests;
  const double p50_ns = (double) op_percentile (&c->layer->ops[c->op], 50000);

  return (double) comparison->many.ns <= c->rule->flat * comparison->few_ns
    && comparison->few_ns <= c->rule->medians * p50_ns * (double) requests;
}

enum { DEPTHS_LEN = 200 };

static const char *
depth_words (char buf[DEPTHS_LEN], struct context *c)
{
  const double in_flight = layer_mean_in_flight (c->layer);
  const unsigned deep = deep_class (in_flight);
  struct comparison comparison;
  char few[NUM2STR_LEN], many[NUM2STR_LEN];
  bool flat, grown;

  c->op = busier_op (c);
  comparison = compare_depths (c, deep);
  buf[0] = '\0';
  if (!is_comparable (&comparison))
    return buf;
  flat = is_flat (c, &comparison);
  grown = has_grown (c, &comparison, in_flight);
  if (flat || grown)
    snprintf (buf, DEPTHS_LEN, " A %s took %s on average with one or two in "
              "flight, and %s with %u or more: %s.",
              op_noun (c->op, 1),
              num2str (few, few_mean_ns (&comparison), NUM_TIME),
              num2str (many, many_mean_ns (&comparison), NUM_TIME),
              depth_class_from (deep),
              flat ? "more at once may give more"
              : "where they wait for one another, more at once would hardly "
                "help");
  return buf;
}

bool
check_storage_bound (struct context *c)
{
  const uint64_t busy_ns = c->layer->time.busy_ns;
  const double share = percent (at_most (busy_ns, connected_ns (c)),
                                connected_ns (c));
  char depths[DEPTHS_LEN] = "";

  if (busy_ns == 0 || share < c->rule->threshold)
    return false;
  if (!c->saturated)
    depth_words (depths, c);
  say (c->finding, elapsed_percent (c, busy_ns), "The storage takes most of "
       "the time: it was busy for %.1f%% of that with a client connected.%s",
       share, depths);
  set_number (c->finding, 0, "busy_percent", share);
  return true;
}
