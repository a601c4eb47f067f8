/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "diagnosis.h"
#include "num2str.h"

/* Something went wrong, or time went by. */
enum kind { FAULT, TIME };

/* What a rule is said of. */
enum scope {
  ONCE,                         /* the layer nearest the client */
  EACH_LAYER,
  READS_AND_WRITES,             /* each of them, of the layer nearest it */
};

struct context;

struct rule {
  const char *code;
  enum kind kind;
  enum scope scope;
  bool (*check) (struct context *c);
  double threshold;
  const char *unit;             /* of the threshold, for the reader */

  /* What proves too little without: */
  uint64_t requests;            /* at least so many to judge by */
  uint64_t active_ns;           /* the layer was active for so long */
  uint64_t least_ns;            /* what is said took so long */
  double overlapped;            /* percent of requests not alone, at most */
  double growth;                /* of a latency, at least, and */
  double growth_each;           /* that for each request in flight */
};

/* What a rule looks at. */
struct context {
  const struct rule *rule;
  const struct snapshot *snapshot;
  const struct recorder_totals *layer;
  size_t layer_index;
  enum op op;                   /* of a rule about one operation */
  struct finding *finding;      /* to fill in */
};

static void
say (struct finding *finding, double weight, const char *fmt, ...)
  __attribute__ ((format (printf, 3, 4)));

static void
say (struct finding *finding, double weight, const char *fmt, ...)
{
  va_list args;

  finding->weight = weight;
  va_start (args, fmt);
  vsnprintf (finding->text, sizeof finding->text, fmt, args);
  va_end (args);
}

static void
set_number (struct finding *finding, unsigned i, const char *name,
            double value)
{
  finding->numbers[i].name = name;
  finding->numbers[i].value = value;
}

static const char *
plural (uint64_t n)
{
  return n == 1 ? "" : "s";
}

static uint64_t
at_most (uint64_t ns, uint64_t limit)
{
  return ns < limit ? ns : limit;
}

static const struct tally *
tally_of (const struct context *c, enum op op)
{
  return &c->layer->ops[op].tally;
}

static uint64_t
failed_of (const struct context *c, enum op op)
{
  return failures_total (&c->layer->ops[op].failures).requests;
}

/* Shares of requests are of those that succeeded: said where there are
 * others.
 */
static const char *
that_succeeded (const struct context *c, enum op op)
{
  return op_ended (&c->layer->ops[op]) > tally_of (c, op)->requests
    ? " that succeeded" : "";
}

/* Shares of the elapsed time, which are the weights of findings. */

static double
elapsed_percent (const struct context *c, uint64_t ns)
{
  return percent (at_most (ns, c->snapshot->elapsed_ns),
                  c->snapshot->elapsed_ns);
}

static double
busy_percent (const struct context *c)
{
  return elapsed_percent (c, c->layer->time.busy_ns);
}

static double
op_busy_percent (const struct context *c, enum op op)
{
  return elapsed_percent (c, c->layer->time.op_busy_ns[op]);
}

/* The same for that many of its requests: none took longer than max. */
static double
requests_percent (const struct context *c, enum op op, uint64_t requests)
{
  const uint64_t busy_ns = c->layer->time.op_busy_ns[op];
  const uint64_t max_ns = c->layer->ops[op].extremes.max_ns;

  return requests && max_ns < busy_ns / requests
    ? elapsed_percent (c, requests * max_ns) : elapsed_percent (c, busy_ns);
}

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

/* The rules.  Each returns whether it has something to say, and says it.
 *
 * A sentence divides like by like.  Times of an operation (busy, latency)
 * have its failed requests in them, and busy also those in flight; counts,
 * bytes, sizes and percentiles are of the requests that succeeded alone.
 */

static bool
check_failures (struct context *c)
{
  const uint64_t failed = layer_failed (c->layer);
  const struct failure *most = NULL;
  enum op most_op = 0;

  if ((double) failed < c->rule->threshold)
    return false;
  for (unsigned op = 0; op < NR_OPS; op++) {
    for (unsigned i = 0; i < MAX_FAILURES; i++) {
      const struct failure *f = &c->layer->ops[op].failures.by_errno[i];

      if (f->requests && (most == NULL || f->requests > most->requests)) {
        most = f;
        most_op = op;
      }
    }
  }
  say (c->finding, 0, "%" PRIu64 " request%s failed: %" PRIu64 " %s "
       "request%s with %s%s.", failed, plural (failed),
       most->requests, op_name (most_op), plural (most->requests),
       most->error == FAILURE_OTHER ? "various errors"
                                    : strerror ((int) most->error),
       most->requests == failed ? "" : ", and others");
  set_number (c->finding, 0, "failed", (double) failed);
  set_number (c->finding, 1, "most_common", (double) most->requests);
  return true;
}

static bool
check_open_failures (struct context *c)
{
  const struct opens *opens = &c->layer->connections.all;

  if ((double) opens->failed < c->rule->threshold)
    return false;
  say (c->finding, 0, "%" PRIu64 " of %" PRIu64 " connections could not be "
       "opened.", opens->failed, opens->failed + opens->opened);
  set_number (c->finding, 0, "failed_opens", (double) opens->failed);
  return true;
}

static bool
check_unrecorded (struct context *c)
{
  if ((double) c->layer->unrecorded < c->rule->threshold)
    return false;
  say (c->finding, 0, "This report lacks %" PRIu64 " request%s, for want "
       "of memory.", c->layer->unrecorded, plural (c->layer->unrecorded));
  set_number (c->finding, 0, "unrecorded", (double) c->layer->unrecorded);
  return true;
}

static bool
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

static bool
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

/* Opening is no time in which the storage had nothing to do. */
static bool
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

static bool
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

static bool
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

static bool
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

/* Classes that end below 16 KiB. */
#define SMALL_CLASS_END 15

static uint64_t
small_latency_ns (const struct tally *tally)
{
  uint64_t ns = 0;

  for (unsigned k = 0; k < SMALL_CLASS_END; k++)
    ns += tally->sizes[k].latency_ns;
  return ns;
}

static bool
check_small (struct context *c)
{
  const struct tally *tally = tally_of (c, c->op);
  const double share = percent (c->layer->time.small_sequential[c->op],
                                tally->requests);

  if (tally->requests < c->rule->requests || share < c->rule->threshold)
    return false;
  say (c->finding,
       elapsed_percent (c, at_most (small_latency_ns (tally),
                                    c->layer->time.op_busy_ns[c->op])),
       "%.1f%% of the %ss%s are smaller than 16 KiB and begin where another "
       "ended: larger requests would move the same data with fewer.", share,
       op_name (c->op), that_succeeded (c, c->op));
  set_number (c->finding, 0, "small_sequential_percent", share);
  return true;
}

/* What requests were held against, see tally_alignment. */
static const char *
aligned_to (const struct context *c, char *buf, size_t size)
{
  const struct connections_totals *totals = &c->layer->connections;
  const uint32_t preferred = totals->block_sizes.preferred;
  char block[NUM2STR_LEN];

  if (totals->block_sizes_differ)
    return "the blocks that the storage prefers";
  if (preferred == 0)
    return "4 KiB";
  snprintf (buf, size, "the blocks of %s that the storage prefers",
            num2str (block, preferred, NUM_BYTES));
  return buf;
}

static bool
check_misaligned (struct context *c)
{
  const struct tally *tally = tally_of (c, c->op);
  const double share = percent (tally->misaligned, tally->requests);
  char blocks[80];

  if (tally->requests < c->rule->requests || share < c->rule->threshold)
    return false;
  say (c->finding, requests_percent (c, c->op, tally->misaligned),
       "%.1f%% of the %ss%s are not aligned to %s, in offset or length.",
       share, op_name (c->op), that_succeeded (c, c->op),
       aligned_to (c, blocks, sizeof blocks));
  set_number (c->finding, 0, "misaligned_percent", share);
  return true;
}

static bool
check_block (struct context *c)
{
  const struct tally *tally = tally_of (c, c->op);
  const uint64_t requests = tally->requests - tally->sizes[0].requests;
  const uint64_t off_block = requests - tally->blocks.aligned;
  const double share = percent (off_block, requests);
  const double block = (double) c->snapshot->block;
  char size[NUM2STR_LEN];

  if (c->snapshot->block == 0 || requests < c->rule->requests
      || share < c->rule->threshold)
    return false;
  say (c->finding, requests_percent (c, c->op, off_block),
       "%.1f%% of the %ss%s do not fit blocks of %s: all together touch %.2f "
       "times as many as their data would fill.", share, op_name (c->op),
       that_succeeded (c, c->op), num2str (size, block, NUM_BYTES),
       ratio (tally->blocks.touched, tally->bytes) * block);
  set_number (c->finding, 0, "misaligned_percent", share);
  set_number (c->finding, 1, "block", block);
  return true;
}

static bool
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

/* All that were asked, whatever the answer. */
static bool
check_extents_count (struct context *c)
{
  const uint64_t extents = op_ended (&c->layer->ops[OP_EXTENTS]);
  const uint64_t data = op_ended (&c->layer->ops[OP_READ])
    + op_ended (&c->layer->ops[OP_WRITE]);

  if (extents < c->rule->requests
      || (double) extents < c->rule->threshold * (double) data)
    return false;
  say (c->finding, op_busy_percent (c, OP_EXTENTS), "The client asked %"
       PRIu64 " time%s for extents, and %" PRIu64 " time%s to read or write.",
       extents, plural (extents), data, plural (data));
  set_number (c->finding, 0, "extents", (double) extents);
  set_number (c->finding, 1, "data_requests", (double) data);
  return true;
}

/* Whether the zero requests of this run do not speak against more. */
static bool
zeroing_may_pay (const struct context *c)
{
  const struct op_totals *zero = &c->layer->ops[OP_ZERO];
  const struct tally *write = tally_of (c, OP_WRITE);

  return op_ended (zero) == zero->tally.requests
    && ratio (zero->tally.latency_ns, zero->tally.bytes)
       <= ratio (write->latency_ns, write->bytes);
}

static bool
check_zeros (struct context *c)
{
  const struct tally *tally = tally_of (c, OP_WRITE);
  const double share = percent (tally->zero_bytes, tally->bytes);
  char zeros[NUM2STR_LEN];

  if (tally->zero_bytes == 0 || share < c->rule->threshold)
    return false;
  say (c->finding, op_busy_percent (c, OP_WRITE),
       "%.1f%% of the written data, %s, is all zero%s.", share,
       num2str (zeros, (double) tally->zero_bytes, NUM_BYTES),
       zeroing_may_pay (c)
       ? ": it may cost less to zero it or to leave it out" : "");
  set_number (c->finding, 0, "zero_percent", share);
  set_number (c->finding, 1, "zero_bytes", (double) tally->zero_bytes);
  return true;
}

/* Whether the flushes of this run do not speak against one more. */
static bool
flushing_may_pay (const struct context *c)
{
  return failed_of (c, OP_FLUSH) == 0
    && c->layer->time.in_flight[OP_FLUSH] == 0
    && c->layer->ops[OP_FLUSH].extremes.max_ns
       < c->layer->time.op_busy_ns[OP_WRITE];
}

static bool
check_fua (struct context *c)
{
  const struct tally *tally = tally_of (c, OP_WRITE);
  const double share = percent (tally->flags[FLAG_FUA], tally->requests);

  if (tally->requests < c->rule->requests || share < c->rule->threshold)
    return false;
  say (c->finding, op_busy_percent (c, OP_WRITE),
       "%.1f%% of the writes%s asked for FUA: each of these had to be on "
       "stable storage before it was answered.%s", share,
       that_succeeded (c, OP_WRITE),
       flushing_may_pay (c) ? " One flush at the end may cost less." : "");
  set_number (c->finding, 0, "fua_percent", share);
  return true;
}

/* The time of those in the bin of ns and above, at most. */
static uint64_t
latency_ns_from (const struct tally *tally, uint64_t ns)
{
  const unsigned end = histogram_bin (ns);
  uint64_t below_ns = 0;

  for (unsigned i = 0; i < end; i++)
    below_ns += tally->bins[i] * histogram_low (i);
  return tally->latency_ns - at_most (below_ns, tally->latency_ns);
}

static bool
check_tail (struct context *c)
{
  const struct op_totals *totals = &c->layer->ops[c->op];
  const struct slow_request *slowest = &totals->extremes.slowest[0];
  const uint64_t p50 = op_percentile (totals, 50000);
  const uint64_t p99 = op_percentile (totals, 99000);
  char tail[NUM2STR_LEN], median[NUM2STR_LEN], worst[NUM2STR_LEN],
    size[NUM2STR_LEN], when[NUM2STR_LEN];

  if (totals->tally.requests < c->rule->requests || p99 < c->rule->least_ns
      || (double) p99 <= c->rule->threshold * (double) p50)
    return false;
  say (c->finding,
       elapsed_percent (c, at_most (latency_ns_from (&totals->tally, p99),
                                    c->layer->time.op_busy_ns[c->op])),
       "Of the %ss that succeeded, one in a hundred took about %s or more, and "
       "half at most %s. The slowest took %s: %s at offset %" PRIu64 ", %s "
       "after the start.", op_name (c->op),
       num2str (tail, (double) p99, NUM_TIME),
       num2str (median, (double) p50, NUM_TIME),
       num2str (worst, (double) slowest->latency_ns, NUM_TIME),
       num2str (size, (double) slowest->count, NUM_BYTES), slowest->offset,
       seconds2str (when, (double) clock_since (c->snapshot->start,
                                                slowest->begin)));
  set_number (c->finding, 0, "p50_ns", (double) p50);
  set_number (c->finding, 1, "p99_ns", (double) p99);
  set_number (c->finding, 2, "slowest_ns", (double) slowest->latency_ns);
  set_number (c->finding, 3, "slowest_offset", (double) slowest->offset);
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

static bool
check_late_start (struct context *c)
{
  const uint64_t first = c->layer->time.first_begin;

  return first != 0
    && check_waiting (c, clock_since (c->snapshot->start, first),
                      "before the first request");
}

static bool
check_late_end (struct context *c)
{
  const uint64_t end = c->snapshot->start + c->snapshot->elapsed_ns;

  return c->layer->time.first_begin != 0
    && check_waiting (c, clock_since (c->layer->time.last_end, end),
                      "after the last request");
}

static bool
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

/* Rules for a layer that has another below it. */

static const struct recorder_totals *
layer_below (const struct context *c)
{
  return c->layer_index + 1 < c->snapshot->nr_layers ? c->layer + 1 : NULL;
}

/* The layer below may have been busy for itself meanwhile, so more of the
 * busy time can be between them, up to all of it.
 */
static bool
check_between (struct context *c)
{
  const struct recorder_totals *below = layer_below (c);
  double share;

  if (below == NULL)
    return false;
  share = percent (clock_since (below->time.busy_ns, c->layer->time.busy_ns),
                   c->layer->time.busy_ns);
  if (share < c->rule->threshold)
    return false;
  say (c->finding, busy_percent (c), "At least %.1f%% of the busy time of "
       "layer %zu is spent between it and layer %zu.", share,
       c->layer_index + 1, c->layer_index + 2);
  set_number (c->finding, 0, "between_percent_of_busy", share);
  return true;
}

/* What a request that failed or has not ended asked for is in no count of
 * bytes, and the layer below may have moved it: at most so much each.
 */
#define LARGEST_REQUEST (UINT64_C (64) << 20)

static uint64_t
uncounted_bytes (const struct context *c)
{
  uint64_t requests = 0;

  for (enum op op = OP_READ; op <= OP_WRITE; op++)
    requests += failed_of (c, op) + c->layer->time.in_flight[op];
  return requests * LARGEST_REQUEST;
}

static bool
check_amplified (struct context *c)
{
  const struct recorder_totals *below = layer_below (c);
  const uint64_t moved = tally_of (c, OP_READ)->requests
    + tally_of (c, OP_WRITE)->requests;
  const uint64_t uncounted = uncounted_bytes (c);
  double factor;

  if (below == NULL)
    return false;
  factor = ratio (layer_bytes_moved (below),
                  layer_bytes_moved (c->layer) + uncounted);
  if (moved < c->rule->requests || factor < c->rule->threshold)
    return false;
  say (c->finding, elapsed_percent (c, below->time.busy_ns),
       "For each byte that layer %zu moved, layer %zu below it moved %s%.2f.",
       c->layer_index + 1, c->layer_index + 2, uncounted ? "at least " : "",
       factor);
  set_number (c->finding, 0, "byte_amplification", factor);
  return true;
}

/* All rules with their thresholds. */
#define MS (NS_PER_S / 1000)

static const struct rule rules[] = {
  { "failures", FAULT, ONCE, check_failures,
    .threshold = 1, .unit = "failed requests" },
  { "failed-opens", FAULT, ONCE, check_open_failures,
    .threshold = 1, .unit = "openings" },
  { "not-recorded", FAULT, EACH_LAYER, check_unrecorded,
    .threshold = 1, .unit = "requests" },
  { "unfinished", FAULT, ONCE, check_unfinished,
    .threshold = 1, .unit = "in flight at exit" },
  { "storage-bound", TIME, ONCE, check_storage_bound,
    .threshold = 80, .unit = "% of elapsed busy", .active_ns = 1000 * MS,
    /* It says nothing of what one-at-a-time is about: */
    .requests = 100, .overlapped = 5 },
  { "client-bound", TIME, ONCE, check_client_bound,
    .threshold = 50, .unit = "% of active waiting", .active_ns = 1000 * MS },
  { "flush", TIME, ONCE, check_flush,
    .threshold = 30, .unit = "% of busy", .active_ns = 1000 * MS },
  { "one-at-a-time", TIME, ONCE, check_one_at_a_time,
    .threshold = 50, .unit = "% of active", .active_ns = 1000 * MS,
    .requests = 100, .overlapped = 5 },
  { "saturated", TIME, READS_AND_WRITES, check_saturated,
    .threshold = 8, .unit = "mean in flight", .active_ns = 1000 * MS,
    .requests = 10, .growth = 4, .growth_each = 0.25 },
  { "small-requests", TIME, READS_AND_WRITES, check_small,
    .threshold = 50, .unit = "% small and sequential", .requests = 100 },
  { "misaligned", TIME, READS_AND_WRITES, check_misaligned,
    .threshold = 10, .unit = "% of requests", .requests = 100 },
  { "block-misfit", TIME, READS_AND_WRITES, check_block,
    .threshold = 10, .unit = "% of requests", .requests = 100 },
  { "extents-time", TIME, ONCE, check_extents_time,
    .threshold = 30, .unit = "% of busy", .active_ns = 1000 * MS },
  { "extents-count", TIME, ONCE, check_extents_count,
    .threshold = 1, .unit = "for each read or write", .requests = 1000 },
  { "zeros-written", TIME, ONCE, check_zeros,
    .threshold = 10, .unit = "% of bytes" },
  { "fua", TIME, ONCE, check_fua,
    .threshold = 50, .unit = "% of writes", .requests = 100 },
  { "long-tail", TIME, READS_AND_WRITES, check_tail,
    .threshold = 20, .unit = "p99 / p50",
    .requests = 100, .least_ns = 10 * MS },
  { "late-start", TIME, ONCE, check_late_start,
    .threshold = 20, .unit = "% of elapsed", .least_ns = 1000 * MS },
  { "late-end", TIME, ONCE, check_late_end,
    .threshold = 20, .unit = "% of elapsed", .least_ns = 1000 * MS },
  { "slow-open", TIME, ONCE, check_slow_open,
    .threshold = 5, .unit = "% of elapsed", .least_ns = 1000 * MS },
  { "between-layers", TIME, EACH_LAYER, check_between,
    .threshold = 50, .unit = "% of busy", .active_ns = 1000 * MS },
  { "amplified", TIME, EACH_LAYER, check_amplified,
    .threshold = 1.5, .unit = "bytes below / above", .requests = 100 },
};

static int
by_weight (const void *a, const void *b)
{
  const struct finding *x = a, *y = b;

  if (x->fault != y->fault)
    return x->fault ? -1 : 1;
  if (x->weight != y->weight)
    return x->weight < y->weight ? 1 : -1;
  return x->rule < y->rule ? -1 : x->rule > y->rule;
}

struct findings {
  struct finding *list;
  size_t nr;
};

static void
try_rule (struct findings *findings, const struct rule *rule,
          const struct snapshot *snapshot, size_t layer, enum op op)
{
  struct context c = {
    .rule = rule, .snapshot = snapshot, .layer = &snapshot->layers[layer],
    .layer_index = layer, .op = op, .finding = &findings->list[findings->nr],
  };

  if (findings->nr == MAX_FINDINGS
      || layer_active_ns (c.layer) < rule->active_ns)
    return;
  *c.finding = (struct finding) {
    .code = rule->code, .rule = (unsigned) (rule - rules),
    .fault = rule->kind == FAULT, .layer = layer,
    .op = rule->scope == READS_AND_WRITES ? op_name (op) : NULL,
  };
  if (rule->check (&c))
    findings->nr++;
}

static void
apply (struct findings *findings, const struct rule *rule,
       const struct snapshot *snapshot)
{
  switch (rule->scope) {
  case ONCE:
    try_rule (findings, rule, snapshot, 0, 0);
    break;
  case READS_AND_WRITES:
    try_rule (findings, rule, snapshot, 0, OP_READ);
    try_rule (findings, rule, snapshot, 0, OP_WRITE);
    break;
  case EACH_LAYER:
    for (size_t layer = 0; layer < snapshot->nr_layers; layer++)
      try_rule (findings, rule, snapshot, layer, 0);
    break;
  }
}

size_t
diagnose (const struct snapshot *snapshot,
          struct finding list[MAX_FINDINGS])
{
  struct findings findings = { .list = list };

  if (snapshot->nr_layers == 0)
    return 0;
  for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++)
    apply (&findings, &rules[r], snapshot);
  qsort (list, findings.nr, sizeof list[0], by_weight);
  return findings.nr;
}
