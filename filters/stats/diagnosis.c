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

/* A run or a sample that is smaller than this proves nothing. */
#define MIN_ACTIVE_NS (1 * NS_PER_S)
#define MIN_REQUESTS 100

/* Half of the requests are below 16 KiB: the median is in a size class
 * that ends there.
 */
#define SMALL_CLASS_END 15

#define PAGE_BITS 12            /* misaligned means not to 4 KiB */
#define TAIL_MIN_NS (10 * NS_PER_S / 1000)
#define MANY_EXTENTS 1000
#define MIN_AT_DEPTH 10         /* requests, to compare their latency */

/* What a rule looks at. */
struct context {
  const struct snapshot *snapshot;
  const struct recorder_totals *layer;
  size_t layer_index;
  enum op op;                   /* of a rule about one operation */
  double threshold;             /* of the rule */
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

static const struct tally *
tally_of (const struct context *c, enum op op)
{
  return &c->layer->ops[op].tally;
}

/* Shares of the elapsed time. */

static double
elapsed_percent (const struct context *c, uint64_t ns)
{
  return percent (ns, c->snapshot->elapsed_ns);
}

static double
busy_percent (const struct context *c)
{
  return elapsed_percent (c, c->layer->time.busy_ns);
}

static bool
ran_long_enough (const struct context *c)
{
  return layer_active_ns (c->layer) >= MIN_ACTIVE_NS;
}

/* Then the client decides how much the storage can do at once. */
static bool
is_one_at_a_time (const struct context *c)
{
  return c->layer->time.most_in_flight == 1
    && layer_requests (c->layer) >= MIN_REQUESTS;
}

/* The rules.  Each returns whether it has something to say, and says it. */

static bool
check_failures (struct context *c)
{
  const uint64_t failed = layer_failed (c->layer);
  const struct failure *most = NULL;
  enum op most_op = 0;

  if ((double) failed < c->threshold)
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
  say (c->finding, 200, "%" PRIu64 " request%s failed: %" PRIu64 " %s "
       "request%s with %s%s.", failed, failed == 1 ? "" : "s",
       most->requests, op_name (most_op), most->requests == 1 ? "" : "s",
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

  if ((double) opens->failed < c->threshold)
    return false;
  say (c->finding, 190, "%" PRIu64 " of %" PRIu64 " connections could not be "
       "opened.", opens->failed, opens->failed + opens->opened);
  set_number (c->finding, 0, "failed_opens", (double) opens->failed);
  return true;
}

static bool
check_unrecorded (struct context *c)
{
  if ((double) c->layer->unrecorded < c->threshold)
    return false;
  say (c->finding, 180, "This report lacks %" PRIu64 " request%s, for want "
       "of memory.", c->layer->unrecorded,
       c->layer->unrecorded == 1 ? "" : "s");
  set_number (c->finding, 0, "unrecorded", (double) c->layer->unrecorded);
  return true;
}

static bool
check_unfinished (struct context *c)
{
  const uint64_t in_flight = layer_in_flight (c->layer);

  if (!c->snapshot->ended || (double) in_flight < c->threshold)
    return false;
  say (c->finding, 170, "%" PRIu64 " request%s still in flight at the end, "
       "and in the busy time only.", in_flight,
       in_flight == 1 ? " was" : "s were");
  set_number (c->finding, 0, "in_flight", (double) in_flight);
  return true;
}

static bool
check_storage_bound (struct context *c)
{
  const double busy = busy_percent (c);

  if (!ran_long_enough (c) || is_one_at_a_time (c) || busy < c->threshold)
    return false;
  say (c->finding, busy, "The storage is the limit: it was busy for %.1f%% "
       "of the elapsed time. With as many requests in flight, a faster client "
       "would save at most the other %.1f%%.", busy, 100 - busy);
  set_number (c->finding, 0, "busy_percent", busy);
  return true;
}

static bool
check_client_bound (struct context *c)
{
  const uint64_t active_ns = layer_active_ns (c->layer);
  const double idle = 100 - percent (c->layer->time.busy_ns, active_ns);

  if (!ran_long_enough (c) || idle < c->threshold)
    return false;
  say (c->finding,
       elapsed_percent (c, clock_since (c->layer->time.busy_ns, active_ns)),
       "The client is the limit: from the first request to the last the "
       "storage had nothing to do for %.1f%% of the time. Faster storage "
       "would save at most the other %.1f%%.", idle, 100 - idle);
  set_number (c->finding, 0, "idle_percent", idle);
  return true;
}

static bool
check_flush (struct context *c)
{
  const uint64_t flush_ns = c->layer->time.op_busy_ns[OP_FLUSH];
  const double share = percent (flush_ns, c->layer->time.busy_ns);
  const uint64_t requests = tally_of (c, OP_FLUSH)->requests;
  char mean[NUM2STR_LEN];

  if (!ran_long_enough (c) || requests == 0 || share < c->threshold)
    return false;
  say (c->finding, elapsed_percent (c, flush_ns), "Flushing took %.1f%% of "
       "the storage's busy time: %" PRIu64 " flush%s of %s%s.",
       share, requests, requests == 1 ? "" : "es",
       num2str (mean, op_mean_ns (&c->layer->ops[OP_FLUSH]), NUM_TIME),
       requests == 1 ? "" : " on average");
  set_number (c->finding, 0, "flush_percent_of_busy", share);
  set_number (c->finding, 1, "flushes", (double) requests);
  return true;
}

/* Flushes apart: they overlap with nothing here, and are another matter. */
static bool
check_one_at_a_time (struct context *c)
{
  const uint64_t requests = layer_requests (c->layer)
    - tally_of (c, OP_FLUSH)->requests;
  const uint64_t busy_ns = clock_since (c->layer->time.op_busy_ns[OP_FLUSH],
                                        c->layer->time.busy_ns);
  const double possible = per_second (requests, busy_ns);
  char mean[NUM2STR_LEN], rate[NUM2STR_LEN];

  if (!ran_long_enough (c) || !is_one_at_a_time (c) || requests == 0
      || percent (busy_ns, layer_active_ns (c->layer)) < c->threshold)
    return false;
  say (c->finding, elapsed_percent (c, busy_ns), "There was never more than "
       "one request in flight. At %s a request that allows at most %.0f "
       "requests a second, which is %s here; several at once may give more.",
       num2str (mean, (double) busy_ns / (double) requests, NUM_TIME),
       possible,
       num2str (rate, per_second (layer_bytes_moved (c->layer), busy_ns),
                NUM_BYTES_PER_S));
  set_number (c->finding, 0, "possible_iops", possible);
  return true;
}

/* The mean latency of the requests in the classes from to to - 1; 0 where
 * they are too few.
 */
static double
mean_at_depth (const struct depth_class *depths, unsigned from, unsigned to)
{
  struct depth_class sum = { 0 };

  for (unsigned i = from; i < to; i++) {
    sum.requests += depths[i].requests;
    sum.latency_ns += depths[i].latency_ns;
  }
  return sum.requests < MIN_AT_DEPTH
    ? 0 : (double) sum.latency_ns / (double) sum.requests;
}

/* Where requests only wait for one another, the latency grows with how
 * many are in flight.  From one or two in flight to the mean it must have
 * grown by at least half of that factor.
 */
static bool
check_saturated (struct context *c)
{
  const enum op op = c->op;
  const struct depth_class *depths = c->layer->time.depths[op];
  const double in_flight = op_mean_in_flight (c->layer, op);
  const unsigned deep = depth_class_of ((unsigned) in_flight);
  const double few_ns = mean_at_depth (depths, 0, 2);
  const double many_ns = mean_at_depth (depths, deep, DEPTH_CLASSES);
  char few[NUM2STR_LEN], many[NUM2STR_LEN];

  if (!ran_long_enough (c) || in_flight < c->threshold || few_ns == 0
      || many_ns < few_ns * in_flight / 4)
    return false;
  say (c->finding, elapsed_percent (c, c->layer->time.op_busy_ns[op]) * 0.8,
       "The storage is saturated by %ss: one took %s on average with one or "
       "two requests in flight, and %s with %u or more. More at once only "
       "wait longer.", op_name (op), num2str (few, few_ns, NUM_TIME),
       num2str (many, many_ns, NUM_TIME), depth_class_from (deep));
  set_number (c->finding, 0, "mean_in_flight", in_flight);
  set_number (c->finding, 1, "latency_ns_at_1_to_2", few_ns);
  set_number (c->finding, 2, "latency_ns_at_depth", many_ns);
  return true;
}

/* How many requests were below the size class. */
static uint64_t
requests_below (const struct tally *tally, unsigned class)
{
  uint64_t requests = 0;

  for (unsigned k = 0; k < class; k++)
    requests += tally->sizes[k].requests;
  return requests;
}

static bool
check_small (struct context *c)
{
  const enum op op = c->op;
  const struct tally *tally = tally_of (c, op);
  const double sequential = percent (c->layer->time.sequential[op],
                                     tally->requests);
  const double small = percent (requests_below (tally, SMALL_CLASS_END),
                                tally->requests);

  if (tally->requests < MIN_REQUESTS || sequential < c->threshold
      || small <= 50)
    return false;
  say (c->finding, elapsed_percent (c, c->layer->time.op_busy_ns[op]) * 0.7,
       "%.1f%% of the %ss are smaller than 16 KiB, while %.1f%% begin where "
       "another ended: larger requests would move the same data with fewer.",
       small, op_name (op), sequential);
  set_number (c->finding, 0, "small_percent", small);
  set_number (c->finding, 1, "sequential_percent", sequential);
  return true;
}

/* At least so many do not fit 4 KiB: those whose offset does not, or those
 * whose length does not, whichever are more.
 */
static uint64_t
requests_off_page (const struct tally *tally)
{
  uint64_t offsets = 0, lengths = 0;

  for (unsigned k = 0; k < PAGE_BITS; k++) {
    offsets += tally->offset_alignment[k];
    lengths += tally->length_alignment[k];
  }
  return offsets > lengths ? offsets : lengths;
}

static bool
check_misaligned (struct context *c)
{
  const enum op op = c->op;
  const struct tally *tally = tally_of (c, op);
  const double off_page = percent (requests_off_page (tally),
                                   tally->requests);

  if (tally->requests < MIN_REQUESTS || off_page < c->threshold)
    return false;
  say (c->finding,
       elapsed_percent (c, c->layer->time.op_busy_ns[op]) * off_page / 100,
       "%.1f%% of the %ss are not aligned to 4 KiB.", off_page, op_name (op));
  set_number (c->finding, 0, "misaligned_percent", off_page);
  return true;
}

static bool
check_block (struct context *c)
{
  const enum op op = c->op;
  const struct tally *tally = tally_of (c, op);
  const double off_block = percent (tally->requests - tally->blocks.aligned,
                                    tally->requests);
  char block[NUM2STR_LEN];

  if (c->snapshot->block == 0 || tally->requests < MIN_REQUESTS
      || off_block < c->threshold)
    return false;
  say (c->finding,
       elapsed_percent (c, c->layer->time.op_busy_ns[op]) * off_block / 100,
       "%.1f%% of the %ss do not fit blocks of %s: one touches %.2f of them "
       "on average.", off_block, op_name (op),
       num2str (block, (double) c->snapshot->block, NUM_BYTES),
       (double) tally->blocks.touched / (double) tally->requests);
  set_number (c->finding, 0, "misaligned_percent", off_block);
  set_number (c->finding, 1, "block", (double) c->snapshot->block);
  return true;
}

static bool
check_extents_time (struct context *c)
{
  const uint64_t ns = c->layer->time.op_busy_ns[OP_EXTENTS];
  const double share = percent (ns, c->layer->time.busy_ns);

  if (!ran_long_enough (c) || share < c->threshold)
    return false;
  say (c->finding, elapsed_percent (c, ns), "Asking for extents took %.1f%% "
       "of the storage's busy time, in %" PRIu64 " request%s.", share,
       tally_of (c, OP_EXTENTS)->requests,
       tally_of (c, OP_EXTENTS)->requests == 1 ? "" : "s");
  set_number (c->finding, 0, "extents_percent_of_busy", share);
  return true;
}

static bool
check_extents_count (struct context *c)
{
  const uint64_t extents = tally_of (c, OP_EXTENTS)->requests;
  const uint64_t data = tally_of (c, OP_READ)->requests
    + tally_of (c, OP_WRITE)->requests;

  if (extents < MANY_EXTENTS || (double) extents < c->threshold * (double) data)
    return false;
  say (c->finding,
       elapsed_percent (c, c->layer->time.op_busy_ns[OP_EXTENTS]),
       "The client asked for extents %" PRIu64 " times and moved data %"
       PRIu64 " times.", extents, data);
  set_number (c->finding, 0, "extents", (double) extents);
  set_number (c->finding, 1, "data_requests", (double) data);
  return true;
}

static bool
check_zeros (struct context *c)
{
  const struct tally *tally = tally_of (c, OP_WRITE);
  const double share = percent (tally->zero_bytes, tally->bytes);
  char zeros[NUM2STR_LEN];

  if (tally->zero_bytes == 0 || share < c->threshold)
    return false;
  say (c->finding,
       elapsed_percent (c, c->layer->time.op_busy_ns[OP_WRITE]) * share / 100,
       "%.1f%% of the written data, %s, is all zero: it could be zeroed or "
       "left out instead.", share,
       num2str (zeros, (double) tally->zero_bytes, NUM_BYTES));
  set_number (c->finding, 0, "zero_percent", share);
  set_number (c->finding, 1, "zero_bytes", (double) tally->zero_bytes);
  return true;
}

static bool
check_fua (struct context *c)
{
  const struct tally *tally = tally_of (c, OP_WRITE);
  const double share = percent (tally->flags[FLAG_FUA], tally->requests);

  if (tally->requests < MIN_REQUESTS || share < c->threshold)
    return false;
  say (c->finding, elapsed_percent (c, c->layer->time.op_busy_ns[OP_WRITE])
       * 0.6, "%.1f%% of the writes ask for FUA, so each waits until it is "
       "on stable storage; one flush at the end costs less.", share);
  set_number (c->finding, 0, "fua_percent", share);
  return true;
}

static bool
check_tail (struct context *c)
{
  const enum op op = c->op;
  const struct op_totals *totals = &c->layer->ops[op];
  const struct slow_request *slowest = &totals->extremes.slowest[0];
  const uint64_t p50 = op_percentile (totals, 50000);
  const uint64_t p99 = op_percentile (totals, 99000);
  char tail[NUM2STR_LEN], median[NUM2STR_LEN], worst[NUM2STR_LEN],
    size[NUM2STR_LEN], when[NUM2STR_LEN];

  if (totals->tally.requests < MIN_REQUESTS || p99 < TAIL_MIN_NS
      || (double) p99 <= c->threshold * (double) p50)
    return false;
  say (c->finding, percent (p99 * totals->tally.requests / 100,
                            c->snapshot->elapsed_ns),
       "One %s in a hundred took %s or more, and half of all %ss at most %s. "
       "The slowest took %s: %s at offset %" PRIu64 ", %s after the start.",
       op_name (op), num2str (tail, (double) p99, NUM_TIME), op_name (op),
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

  if (ns < MIN_ACTIVE_NS || share < c->threshold)
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
  char longest[NUM2STR_LEN];

  if ((double) opens->longest_ns < c->threshold)
    return false;
  say (c->finding, elapsed_percent (c, opens->longest_ns), "Opening a "
       "connection took up to %s, %" PRIu64 " %s opened.",
       num2str (longest, (double) opens->longest_ns, NUM_TIME),
       opens->opened, opens->opened == 1 ? "was" : "were");
  set_number (c->finding, 0, "longest_open_ns", (double) opens->longest_ns);
  return true;
}

/* Rules for a layer that has another below it. */

static const struct recorder_totals *
layer_below (const struct context *c)
{
  return c->layer_index + 1 < c->snapshot->nr_layers ? c->layer + 1 : NULL;
}

static bool
check_between (struct context *c)
{
  const struct recorder_totals *below = layer_below (c);
  uint64_t between_ns;
  double share;

  if (below == NULL || !ran_long_enough (c))
    return false;
  between_ns = clock_since (below->time.busy_ns, c->layer->time.busy_ns);
  share = percent (between_ns, c->layer->time.busy_ns);
  if (share < c->threshold)
    return false;
  say (c->finding, elapsed_percent (c, between_ns), "%.1f%% of the busy time "
       "of layer %zu is spent between it and layer %zu.", share,
       c->layer_index + 1, c->layer_index + 2);
  set_number (c->finding, 0, "between_percent_of_busy", share);
  return true;
}

static bool
check_amplified (struct context *c)
{
  const struct recorder_totals *below = layer_below (c);
  uint64_t above_bytes, below_bytes;
  double factor;

  if (below == NULL)
    return false;
  above_bytes = layer_bytes_moved (c->layer);
  below_bytes = layer_bytes_moved (below);
  factor = above_bytes ? (double) below_bytes / (double) above_bytes : 0;
  if (layer_requests (c->layer) < MIN_REQUESTS || factor < c->threshold)
    return false;
  say (c->finding, busy_percent (c) * 0.5, "For each byte that layer %zu "
       "moved, layer %zu below it moved %.2f.", c->layer_index + 1,
       c->layer_index + 2, factor);
  set_number (c->finding, 0, "byte_amplification", factor);
  return true;
}

/* What a rule is said of. */
enum scope {
  ONCE,                         /* the layer nearest the client */
  EACH_LAYER,
  READS_AND_WRITES,             /* each of them, of the layer nearest it */
};

/* All rules with their thresholds. */
static const struct rule {
  const char *code;
  double threshold;
  const char *unit;             /* of the threshold, for the reader here */
  enum scope scope;
  bool (*check) (struct context *c);
} rules[] = {
  { "failures",      1, "failed requests",   ONCE, check_failures },
  { "failed-opens",  1, "connections",       ONCE, check_open_failures },
  { "not-recorded",  1, "requests",          EACH_LAYER, check_unrecorded },
  { "unfinished",    1, "in flight at exit", ONCE, check_unfinished },
  { "storage-bound", 80, "% of elapsed busy", ONCE, check_storage_bound },
  { "client-bound",  50, "% of active idle", ONCE, check_client_bound },
  { "flush",         30, "% of busy",        ONCE, check_flush },
  { "one-at-a-time", 50, "% of active busy", ONCE, check_one_at_a_time },
  { "saturated",     8, "mean in flight",    READS_AND_WRITES,
    check_saturated },
  { "small-requests", 50, "% sequential",    READS_AND_WRITES, check_small },
  { "misaligned",    10, "% of requests",    READS_AND_WRITES,
    check_misaligned },
  { "block-misfit",  10, "% of requests",    READS_AND_WRITES, check_block },
  { "extents-time",  30, "% of busy",        ONCE, check_extents_time },
  { "extents-count", 1, "per data request",  ONCE, check_extents_count },
  { "zeros-written", 10, "% of bytes",       ONCE, check_zeros },
  { "fua",           50, "% of writes",      ONCE, check_fua },
  { "long-tail",     20, "p99 / p50",        READS_AND_WRITES, check_tail },
  { "late-start",    20, "% of elapsed",     ONCE, check_late_start },
  { "late-end",      20, "% of elapsed",     ONCE, check_late_end },
  { "slow-open",     1e9, "ns",              ONCE, check_slow_open },
  { "between-layers", 50, "% of busy",       EACH_LAYER, check_between },
  { "amplified",     1.5, "bytes below / above", EACH_LAYER,
    check_amplified },
};

static int
by_weight (const void *a, const void *b)
{
  const struct finding *x = a, *y = b;

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
    .snapshot = snapshot, .layer = &snapshot->layers[layer],
    .layer_index = layer, .op = op, .threshold = rule->threshold,
    .finding = &findings->list[findings->nr],
  };

  if (findings->nr == MAX_FINDINGS)
    return;
  *c.finding = (struct finding) {
    .code = rule->code, .rule = (unsigned) (rule - rules), .layer = layer,
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
