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

#include "num2str.h"
#include "rules.h"

/* Requests, and the time that these took. */
struct sample {
  uint64_t requests;
  uint64_t ns;
};

/* Flushes apart, which wait for others and are another matter. */

static struct sample
all_but_flushes (const struct context *c)
{
  struct sample all = { 0 };

  for (unsigned op = 0; op < NR_OPS; op++) {
    if (op == OP_FLUSH)
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
without_slowest (const struct context *c, struct sample sample)
{
  uint64_t slow[NR_OPS * (NR_SLOWEST + 1)], hundredth = sample.requests / 100;
  size_t n = 0;

  for (unsigned op = 0; op < NR_OPS; op++) {
    const struct op_totals *totals = &c->layer->ops[op];

    if (op == OP_FLUSH)
      continue;
    for (unsigned i = 0; i < NR_SLOWEST; i++)
      slow[n++] = totals->extremes.slowest[i].latency_ns;
    slow[n++] = failures_total (&totals->failures).longest_ns;
  }
  qsort (slow, n, sizeof slow[0], longest_first);
  for (size_t i = 0; i < NR_SLOWEST && i < hundredth && slow[i]; i++) {
    sample.requests--;
    sample.ns -= at_most (slow[i], sample.ns);
  }
  return sample;
}

/* How many of them were in flight together with another, in percent. */
static double
overlapped_percent (const struct context *c, uint64_t ended)
{
  uint64_t overlapped = 0;

  for (unsigned op = 0; op < NR_OPS; op++) {
    if (op != OP_FLUSH)
      overlapped += c->layer->time.overlapped[op];
  }
  return percent (at_most (overlapped, ended), ended);
}

/* Then it is not the storage that decides how much it does at once. */
static bool
is_one_at_a_time (const struct context *c)
{
  const uint64_t ended = all_but_flushes (c).requests;

  return ended >= c->rule->requests
    && overlapped_percent (c, ended) <= c->rule->overlapped;
}

bool
check_storage_bound (struct context *c)
{
  const double busy = busy_percent (c);

  if (is_one_at_a_time (c) || busy < c->rule->threshold)
    return false;
  say (c->finding, busy, "The storage is the limit: it was busy for %.1f%% "
       "of the elapsed time. With as many requests in flight, a faster client "
       "would save at most the other %.1f%%.", busy, 100 - busy);
  set_number (c->finding, 0, "busy_percent", busy);
  return true;
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

/* And who could change that. */
static const char *
more_at_a_time (const struct context *c)
{
  switch (c->snapshot->thread_model) {
  case THREADS_SERIALIZE_CONNECTIONS:
  case THREADS_SERIALIZE_ALL_REQUESTS:
    return ", however many the client sends";
  case THREADS_SERIALIZE_REQUESTS:
    return "; several connections may give more";
  default:
    return "; several at once may give more";
  }
}

bool
check_one_at_a_time (struct context *c)
{
  const struct sample all = all_but_flushes (c);
  const struct sample most = without_slowest (c, all);
  const uint64_t busy_ns = c->layer->time.busy_ns;
  const double overlapped = overlapped_percent (c, all.requests);
  const double possible = per_second (most.requests, most.ns);
  const uint64_t bytes = layer_bytes_moved (c->layer);
  char alone[96] = "There was never more than one request in flight";
  char mean[NUM2STR_LEN], number[NUM2STR_LEN], rate[NUM2STR_LEN + 8] = "";

  if (!is_one_at_a_time (c)
      || percent (at_most (most.ns, busy_ns), layer_active_ns (c->layer))
         < c->rule->threshold)
    return false;
  if (c->layer->time.most_in_flight > 1)
    snprintf (alone, sizeof alone, "But for flushes, only %.2g%% of the "
              "requests were in flight together with another", overlapped);
  if (bytes)
    snprintf (rate, sizeof rate, ", here %s",
              num2str (number, possible * ratio (bytes, all.requests),
                       NUM_BYTES_PER_S));
  say (c->finding, elapsed_percent (c, at_most (all.ns, busy_ns)),
       "%s%s. At %s each, but for the few slowest, that gives %.0f requests "
       "a second%s%s.", alone, why_one_at_a_time (c),
       num2str (mean, ratio (most.ns, most.requests), NUM_TIME), possible,
       rate, more_at_a_time (c));
  set_number (c->finding, 0, "possible_iops", possible);
  set_number (c->finding, 1, "overlapped_percent", overlapped);
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
    const struct sample few = sum_depths (depths, 0, 2);
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

bool
check_saturated (struct context *c)
{
  const double op_in_flight = op_mean_in_flight (c->layer, c->op);
  const double all_in_flight = layer_mean_in_flight (c->layer);
  const double in_flight = op_in_flight > all_in_flight ? op_in_flight
                                                        : all_in_flight;
  const unsigned deep = depth_class_of (in_flight < UINT16_MAX
                                        ? (unsigned) in_flight : UINT16_MAX);
  const struct comparison comparison = compare_depths (c, deep);
  const uint64_t requests = comparison.many.requests;
  char few[NUM2STR_LEN], many[NUM2STR_LEN];

  if (op_in_flight < c->rule->threshold || comparison.many.ns == 0
      || requests < comparison.requests - requests
      || !has_grown (c, &comparison, in_flight))
    return false;
  say (c->finding, op_busy_percent (c, c->op),
       "The storage looks saturated by %ss: of the same size, one took %s on "
       "average with one or two requests in flight, and %s with %u or more. "
       "Where they wait for one another, more at once give no more.",
       op_name (c->op),
       num2str (few, comparison.few_ns / (double) requests, NUM_TIME),
       num2str (many, ratio (comparison.many.ns, requests), NUM_TIME),
       depth_class_from (deep));
  set_number (c->finding, 0, "mean_in_flight", op_in_flight);
  set_number (c->finding, 1, "latency_ns_at_1_to_2",
              comparison.few_ns / (double) requests);
  set_number (c->finding, 2, "latency_ns_at_depth",
              ratio (comparison.many.ns, requests));
  return true;
}
