/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "errno_name.h"
#include "num2str.h"
#include "tables.h"
#include "utf8.h"

/* Most tables have a row for each operation that had requests. */
static bool
had_success (const struct recorder_totals *layer, enum op op)
{
  return layer->ops[op].tally.requests > 0;
}

static bool
had_any (const struct recorder_totals *layer,
         bool (*test) (const struct recorder_totals *, enum op))
{
  for (unsigned op = 0; op < NR_OPS; op++) {
    if (test (layer, op))
      return true;
  }
  return false;
}

/* A column, whatever is in it. */
static void
write_count (FILE *fp, int width, uint64_t value)
{
  char buf[NUM2STR_LEN];

  fprintf (fp, "%*s", width, count2str (buf, value, width));
}

static void
write_decimal (FILE *fp, int width, int digits, double value)
{
  char buf[NUM2STR_LEN];

  fprintf (fp, "%*s", width, decimal2str (buf, value, digits, width));
}

/* Latency. */

static void
write_time (FILE *fp, double ns)
{
  char buf[NUM2STR_LEN];

  fprintf (fp, "%9s", num2str (buf, ns, NUM_TIME));
}

static void
write_latency (FILE *fp, const struct op_totals *op)
{
  static const unsigned percentiles[] = { 50000, 90000, 99000, 99900 };

  write_time (fp, op_mean_ns (op));
  write_time (fp, (double) op->extremes.min_ns);
  for (size_t i = 0; i < sizeof percentiles / sizeof percentiles[0]; i++)
    write_time (fp, (double) op_percentile (op, percentiles[i]));
  write_time (fp, (double) op->extremes.max_ns);
  write_time (fp, extremes_stddev (&op->extremes, op->tally.requests,
                                   op->tally.latency_ns));
  fputc ('\n', fp);
}

/* What the layer waited for requests stands beneath what these took. */
void
table_latency (FILE *fp, const struct snapshot *snapshot, size_t place)
{
  const struct recorder_totals *layer = &snapshot->layers[place];
  const struct op_totals *gaps = &layer->time.gaps;

  if (!had_any (layer, had_success) && gaps->tally.requests == 0)
    return;
  fprintf (fp, "\nlatency      mean      min      p50      p90      p99"
               "    p99.9      max   stddev\n");
  for (unsigned op = 0; op < NR_OPS; op++) {
    if (!had_success (layer, op))
      continue;
    fprintf (fp, "%-8s", op_name (op));
    write_latency (fp, &layer->ops[op]);
  }
  if (gaps->tally.requests) {
    fprintf (fp, "%-8s", "waiting");
    write_latency (fp, gaps);
  }
}

/* Requests in flight.  With never more than one, every figure is 1. */

static void
write_depth (FILE *fp, const char *name, double mean, unsigned most)
{
  fprintf (fp, "%-8s", name);
  write_decimal (fp, 9, 2, mean);
  write_count (fp, 9, most);
  fputc ('\n', fp);
}

void
table_in_flight (FILE *fp, const struct snapshot *snapshot, size_t place)
{
  const struct recorder_totals *layer = &snapshot->layers[place];

  if (layer->time.most_in_flight < 2)
    return;
  fprintf (fp, "\nin flight    mean     most\n");
  write_depth (fp, "all", layer_mean_in_flight (layer),
               layer->time.most_in_flight);
  for (unsigned op = 0; op < NR_OPS; op++) {
    if (layer->time.op_most_in_flight[op])
      write_depth (fp, op_name (op), op_mean_in_flight (layer, op),
                   layer->time.op_most_in_flight[op]);
  }
}

/* Latency by requests in flight.  With never more than one there is
 * nothing to compare.
 */

static void
set_depth_label (char label[16], unsigned class)
{
  const unsigned from = depth_class_from (class);
  const unsigned to = depth_class_from (class + 1) - 1;

  if (class == DEPTH_CLASSES - 1)
    snprintf (label, 16, ">%u", from - 1);
  else if (from == to)
    snprintf (label, 16, "%u", from);
  else
    snprintf (label, 16, "%u-%u", from, to);
}

void
table_depths (FILE *fp, const struct snapshot *snapshot, size_t place)
{
  const struct recorder_totals *layer = &snapshot->layers[place];
  char label[16], mean[NUM2STR_LEN];

  if (layer->time.most_in_flight < 2)
    return;
  fprintf (fp, "\nmean latency by requests in flight at the begin\n%8s", "");
  for (unsigned i = 0; i < DEPTH_CLASSES; i++) {
    set_depth_label (label, i);
    fprintf (fp, "%9s", label);
  }
  fputc ('\n', fp);
  for (unsigned op = 0; op < NR_OPS; op++) {
    if (!had_success (layer, op))
      continue;
    fprintf (fp, "%-8s", op_name (op));
    for (unsigned i = 0; i < DEPTH_CLASSES; i++) {
      const struct depth_class *class = &layer->time.depths[op][i];

      fprintf (fp, "%9s", class->requests == 0 ? "-"
               : num2str (mean, (double) class->latency_ns
                          / (double) class->requests, NUM_TIME));
    }
    fputc ('\n', fp);
  }
}

/* A breakdown: classes ranked by requests, as far as they are needed to
 * reach the threshold, and the rest in one row.
 */

struct class {
  char label[64];
  unsigned order;               /* of classes that weigh the same */
  uint64_t requests;
  uint64_t bytes, latency_ns;   /* of sizes */
  uint64_t lengths;             /* of alignments, beside the offsets */
};

struct breakdown {
  struct class classes[OFFSET_ALIGNMENTS];
  unsigned nr;
  struct class rest;
};

static uint64_t
weight (const struct class *class)
{
  return class->requests + class->lengths;
}

static int
by_weight (const void *a, const void *b)
{
  const struct class *x = a, *y = b;

  if (weight (x) != weight (y))
    return weight (x) < weight (y) ? 1 : -1;
  return x->order < y->order ? -1 : 1;
}

static void
class_add (struct class *sum, const struct class *part)
{
  sum->requests += part->requests;
  sum->bytes += part->bytes;
  sum->latency_ns += part->latency_ns;
  sum->lengths += part->lengths;
}

/* Rank the classes and move those that are not shown into the rest. */
static void
cut (struct breakdown *breakdown, uint64_t threshold)
{
  struct class all = { .requests = 0 };
  unsigned __int128 shown = 0;
  unsigned i;

  qsort (breakdown->classes, breakdown->nr, sizeof breakdown->classes[0],
         by_weight);
  for (i = 0; i < breakdown->nr; i++)
    class_add (&all, &breakdown->classes[i]);
  for (i = 0; i < breakdown->nr
         && shown * 100000 < (unsigned __int128) weight (&all) * threshold;
       i++)
    shown += weight (&breakdown->classes[i]);
  if (i + 1 == breakdown->nr)
    i++;                        /* the rest is one class: name it */
  for (unsigned rest = i; rest < breakdown->nr; rest++)
    class_add (&breakdown->rest, &breakdown->classes[rest]);
  snprintf (breakdown->rest.label, sizeof breakdown->rest.label,
            "%u others", breakdown->nr - i);
  breakdown->nr = i;
}

/* The values from low to high, and low with a unit. */
static void
set_label (struct class *class, uint64_t low, uint64_t high)
{
  char unit[NUM2STR_LEN], range[48];

  if (low == high)
    snprintf (range, sizeof range, "%" PRIu64, low);
  else
    snprintf (range, sizeof range, "%" PRIu64 "-%" PRIu64, low, high);
  if (low < 1024)
    snprintf (class->label, sizeof class->label, "%s B", range);
  else
    snprintf (class->label, sizeof class->label, "%s (%s)", range,
              num2str (unit, (double) low, NUM_BYTES));
}

/* Sizes. */

static void
break_down_sizes (struct breakdown *breakdown, const struct tally *tally)
{
  for (unsigned k = 0; k < SIZE_CLASSES; k++) {
    const struct size_class *size = &tally->sizes[k];
    const uint64_t low = k ? UINT64_C (1) << (k - 1) : 0;
    const uint64_t high = k ? 2 * low - 1 : 0;
    struct class *class = &breakdown->classes[breakdown->nr];

    if (size->requests == 0)
      continue;
    class->order = breakdown->nr++;
    class->requests = size->requests;
    class->bytes = size->bytes;
    class->latency_ns = size->latency_ns;
    /* None is smaller than low, so all are low if that is their mean. */
    set_label (class, low, size->bytes == low * size->requests ? low : high);
  }
}

static void
write_bar (FILE *fp, double share)
{
  const int width = 9;
  const int length = (int) (share / 100 * width + 0.5);

  fprintf (fp, "%s%.*s\n", length ? " " : "", length, "#########");
}

static void
write_size (FILE *fp, const struct class *class, uint64_t requests)
{
  const double share = percent (class->requests, requests);
  char bytes[NUM2STR_LEN], latency[NUM2STR_LEN];

  fprintf (fp, "  %-32s", class->label);
  write_count (fp, 10, class->requests);
  fprintf (fp, "%6.1f%% %9s %8s", share,
           num2str (bytes, (double) class->bytes, NUM_BYTES),
           num2str (latency,
                    (double) class->latency_ns / (double) class->requests,
                    NUM_TIME));
  write_bar (fp, share);
}

static bool
has_sizes (const struct recorder_totals *layer, enum op op)
{
  return op_kind (op) != KIND_NONE && had_success (layer, op);
}

void
table_sizes (FILE *fp, const struct snapshot *snapshot, size_t place)
{
  const struct recorder_totals *layer = &snapshot->layers[place];
  const uint64_t threshold = snapshot->threshold;

  if (threshold == 0 || !had_any (layer, has_sizes))
    return;
  fprintf (fp, "\n%-34s%10s%7s %9s %8s\n", "sizes", "requests", "%", "bytes",
           "latency");
  for (unsigned op = 0; op < NR_OPS; op++) {
    const struct tally *tally = &layer->ops[op].tally;
    struct breakdown breakdown = { .nr = 0 };

    if (!has_sizes (layer, op))
      continue;
    break_down_sizes (&breakdown, tally);
    cut (&breakdown, threshold);
    fprintf (fp, "%s\n", op_name (op));
    for (unsigned i = 0; i < breakdown.nr; i++)
      write_size (fp, &breakdown.classes[i], tally->requests);
    if (breakdown.rest.requests)
      write_size (fp, &breakdown.rest, tally->requests);
  }
}

/* Alignment. */

static void
break_down_alignment (struct breakdown *breakdown, const struct tally *tally)
{
  for (unsigned k = 0; k < OFFSET_ALIGNMENTS; k++) {
    const unsigned length_k = k == OFFSET_ALIGNMENTS - 1
      ? LENGTH_ALIGNMENTS - 1 : k;
    const bool has_length = k < LENGTH_ALIGNMENTS - 1
      || k == OFFSET_ALIGNMENTS - 1;
    const uint64_t lengths = has_length
      ? tally->length_alignment[length_k] : 0;
    struct class *class = &breakdown->classes[breakdown->nr];

    if (tally->offset_alignment[k] + lengths == 0)
      continue;
    class->order = breakdown->nr++;
    class->requests = tally->offset_alignment[k];
    class->lengths = lengths;
    if (k == OFFSET_ALIGNMENTS - 1)
      snprintf (class->label, sizeof class->label, "0, aligned to everything");
    else
      set_label (class, UINT64_C (1) << k, UINT64_C (1) << k);
  }
}

static void
write_alignment (FILE *fp, const struct class *class, uint64_t requests)
{
  fprintf (fp, "  %-30s", class->label);
  write_count (fp, 10, class->requests);
  fprintf (fp, "%6.1f%%", percent (class->requests, requests));
  write_count (fp, 10, class->lengths);
  fprintf (fp, "%6.1f%%\n", percent (class->lengths, requests));
}

static void
write_block_sizes (FILE *fp, const struct connections_totals *totals)
{
  const struct block_sizes *sizes = &totals->block_sizes;
  char minimum[NUM2STR_LEN], preferred[NUM2STR_LEN], maximum[NUM2STR_LEN];

  if (sizes->preferred == 0)
    return;
  fprintf (fp, "block sizes advertised: at least %s, preferred %s, "
           "at most %s\n",
           num2str (minimum, sizes->minimum, NUM_BYTES),
           num2str (preferred, sizes->preferred, NUM_BYTES),
           num2str (maximum, sizes->maximum, NUM_BYTES));
  if (totals->block_sizes_differ)
    fprintf (fp, "  and others, or none, for other connections\n");
}

void
table_alignment (FILE *fp, const struct snapshot *snapshot, size_t place)
{
  const struct recorder_totals *layer = &snapshot->layers[place];
  const uint64_t threshold = snapshot->threshold;

  if (threshold == 0 || !had_any (layer, has_sizes))
    return;
  fprintf (fp, "\n%-32s%10s%7s%10s%7s\n", "aligned to, and not to twice that",
           "offsets", "%", "lengths", "%");
  for (unsigned op = 0; op < NR_OPS; op++) {
    const struct tally *tally = &layer->ops[op].tally;
    struct breakdown breakdown = { .nr = 0 };

    if (!has_sizes (layer, op))
      continue;
    break_down_alignment (&breakdown, tally);
    cut (&breakdown, threshold);
    fprintf (fp, "%s\n", op_name (op));
    for (unsigned i = 0; i < breakdown.nr; i++)
      write_alignment (fp, &breakdown.classes[i], tally->requests);
    if (weight (&breakdown.rest))
      write_alignment (fp, &breakdown.rest, tally->requests);
  }
  write_block_sizes (fp, &layer->connections);
}

/* Block fit. */

void
table_block_fit (FILE *fp, const struct snapshot *snapshot, size_t place)
{
  const struct recorder_totals *layer = &snapshot->layers[place];
  const uint64_t block = snapshot->block;
  char size[NUM2STR_LEN];

  if (block == 0 || !had_any (layer, has_sizes))
    return;
  fprintf (fp, "\nblock fit, blocks of %" PRIu64 " bytes (%s)\n"
           "%-8s%10s%10s%12s%10s%10s%10s%10s\n",
           block, num2str (size, (double) block, NUM_BYTES),
           "", "aligned", "smaller", "blocks each", "touch 1", "2", "3",
           "more");
  for (unsigned op = 0; op < NR_OPS; op++) {
    const struct tally *tally = &layer->ops[op].tally;

    if (!has_sizes (layer, op))
      continue;
    fprintf (fp, "%-8s", op_name (op));
    write_count (fp, 10, tally->blocks.aligned);
    write_count (fp, 10, tally->blocks.smaller);
    write_decimal (fp, 12, 2, op_blocks_touched (&layer->ops[op]));
    for (unsigned i = 0; i < BLOCKS_TOUCHED; i++)
      write_count (fp, 10, tally->blocks.by_touched[i]);
    fputc ('\n', fp);
  }
}

/* What kind of requests they were. */

static bool
has_kinds (const struct recorder_totals *layer, enum op op)
{
  return has_sizes (layer, op)
    || layer->ops[op].tally.fast_zero_refused.requests;
}

static void
write_kind (FILE *fp, const struct recorder_totals *layer, enum op op,
            bool zero)
{
  const struct tally *tally = &layer->ops[op].tally;
  char zeros[NUM2STR_LEN];

  fprintf (fp, "%-8s%10.1f%%", op_name (op),
           percent (layer->time.sequential[op], tally->requests));
  write_count (fp, 9, tally->flags[FLAG_FUA]);
  write_count (fp, 10, tally->flags[FLAG_MAY_TRIM]);
  write_count (fp, 11, tally->flags[FLAG_FAST_ZERO]);
  write_count (fp, 10, tally->fast_zero_refused.requests);
  write_count (fp, 9, tally->flags[FLAG_REQ_ONE]);
  if (zero && op == OP_WRITE)
    fprintf (fp, "%11s", num2str (zeros, (double) tally->zero_bytes,
                                  NUM_BYTES));
  fputc ('\n', fp);
}

void
table_kinds (FILE *fp, const struct snapshot *snapshot, size_t place)
{
  const struct recorder_totals *layer = &snapshot->layers[place];
  const bool zero = snapshot->zero;

  if (!had_any (layer, has_kinds))
    return;
  fprintf (fp, "\nrequests sequential      FUA  may-trim  fast-zero"
               "   refused  one-ext%s\n", zero ? " zeros sent" : "");
  for (unsigned op = 0; op < NR_OPS; op++) {
    if (has_kinds (layer, op))
      write_kind (fp, layer, op, zero);
  }
}

/* Failures. */

static bool
had_failure (const struct recorder_totals *layer, enum op op)
{
  return failures_total (&layer->ops[op].failures).requests > 0;
}

static void
write_failure (FILE *fp, enum op op, const struct failure *failure)
{
  enum { NAME = 13, NAME_AND_TEXT = 40 };
  char mean[NUM2STR_LEN], longest[NUM2STR_LEN], buf[ERRNO_NAME_LEN];
  const char *name = errno_name (buf, failure->error);
  const char *text = failure->error == FAILURE_OTHER
    ? "" : strerror ((int) failure->error);
  const int len = (int) strlen (name);
  const int width = len < NAME ? NAME : len + 1;

  fprintf (fp, "%-8s%-*s%-*.*s", op_name (op), width, name,
           NAME_AND_TEXT - width, NAME_AND_TEXT - width - 1, text);
  write_count (fp, 10, failure->requests);
  fprintf (fp, "%10s%10s\n",
           num2str (mean, (double) failure->ns / (double) failure->requests,
                    NUM_TIME),
           num2str (longest, (double) failure->longest_ns, NUM_TIME));
}

void
table_failures (FILE *fp, const struct snapshot *snapshot, size_t place)
{
  const struct recorder_totals *layer = &snapshot->layers[place];

  if (!had_any (layer, had_failure))
    return;
  fprintf (fp, "\n%-48s%10s%10s%10s\n", "failures", "requests", "mean",
           "longest");
  for (unsigned op = 0; op < NR_OPS; op++) {
    const struct failure *failure = layer->ops[op].failures.by_errno;

    for (unsigned i = 0; i < MAX_FAILURES; i++) {
      if (failure[i].requests)
        write_failure (fp, op, &failure[i]);
    }
  }
}

/* The slowest requests, and the longest that the layer waited for one.
 * Three of each tell what there is to see; the JSON report has them all.
 */
#define SLOWEST_SHOWN 3

static bool
is_slowest (const struct op_totals *totals)
{
  return totals->extremes.slowest[0].latency_ns > 0;
}

static bool
has_slowest (const struct recorder_totals *layer, enum op op)
{
  return is_slowest (&layer->ops[op]);
}

static void
write_slow (FILE *fp, const char *name, bool has_place,
            const struct slow_request *slow, uint64_t start)
{
  const double after = (double) clock_since (start, slow->begin);
  char size[NUM2STR_LEN], latency[NUM2STR_LEN], when[NUM2STR_LEN];

  fprintf (fp, "%-8s%12s", name,
           num2str (latency, (double) slow->latency_ns, NUM_TIME));
  if (has_place)
    fprintf (fp, "%12s%22" PRIu64,
             num2str (size, (double) slow->count, NUM_BYTES), slow->offset);
  else
    fprintf (fp, "%34s", "");
  /* Eleven digits, decimals and unit would fill the column. */
  fprintf (fp, "%16s\n", after < 1e18 ? seconds2str (when, after)
                                      : num2str (when, after, NUM_TIME));
}

static void
write_slowest_of (FILE *fp, const char *name, bool has_place,
                  const struct op_totals *totals, uint64_t start)
{
  const struct slow_request *slowest = totals->extremes.slowest;

  for (unsigned i = 0; i < SLOWEST_SHOWN && slowest[i].latency_ns; i++)
    write_slow (fp, name, has_place, &slowest[i], start);
}

void
table_slowest (FILE *fp, const struct snapshot *snapshot, size_t place)
{
  const struct recorder_totals *layer = &snapshot->layers[place];

  if (!had_any (layer, has_slowest) && !is_slowest (&layer->time.gaps))
    return;
  fprintf (fp, "\n%-8s%12s%12s%22s%16s\n", "slowest", "latency", "size",
           "offset", "begun after");
  for (unsigned op = 0; op < NR_OPS; op++)
    write_slowest_of (fp, op_name (op), op_kind (op) != KIND_NONE,
                      &layer->ops[op], snapshot->start);
  write_slowest_of (fp, "waiting", false, &layer->time.gaps, snapshot->start);
}

/* Connections. */

static void
write_opens (FILE *fp, const struct opens *opens)
{
  const uint64_t attempts = opens->opened + opens->failed;
  char mean[NUM2STR_LEN], longest[NUM2STR_LEN];

  write_count (fp, 8, opens->opened);
  write_count (fp, 8, opens->failed);
  fprintf (fp, "%17s%9s",
           num2str (mean, (double) opens->ns / (double) attempts, NUM_TIME),
           num2str (longest, (double) opens->longest_ns, NUM_TIME));
}

/* A name that a client chose, made fit for a terminal and a column of width
 * characters: what is no ASCII becomes a question mark, one for a character.
 */
#define MAX_NAME_WIDTH 78u

static const char *
plain_name (char buf[MAX_NAME_WIDTH + 1], const char *name, size_t width)
{
  size_t length = 0;
  bool good;

  if (*name == '\0')
    return "(default export)";
  for (; length < width && *name; name += utf8_next (name, &good))
    buf[length++] = *name >= ' ' && *name < 0x7f ? *name : '?';
  buf[length] = '\0';
  return buf;
}


static void
write_export_opens (FILE *fp, const char *name, const struct opens *opens)
{
  if (opens->opened + opens->failed == 0)
    return;
  fprintf (fp, "  %-28s", name);
  write_opens (fp, opens);
  fputc ('\n', fp);
}

static void
write_opens_by_export (FILE *fp, const struct connections_totals *totals)
{
  char name[MAX_NAME_WIDTH + 1];

  for (unsigned i = 0; i < totals->nr_exports; i++)
    write_export_opens (fp, plain_name (name, totals->exports[i].name, 28),
                        &totals->exports[i].opens);
  write_export_opens (fp, "(others)", &totals->other_exports);
}

/* A client that asks what there is opens exports, too, so there are more
 * openings than clients.
 */
void
table_openings (FILE *fp, const struct snapshot *snapshot, size_t place)
{
  const struct connections_totals *totals
    = &snapshot->layers[place].connections;
  char clients[NUM2STR_LEN], label[64];

  if (totals->all.opened + totals->all.failed == 0)
    return;
  snprintf (label, sizeof label, "openings, by %s connection%s",
            num2str (clients, (double) totals->clients, NUM_COUNT),
            totals->clients == 1 ? "" : "s");
  fprintf (fp, "\n%-30s%8s%8s%17s%9s%8s\n%-30s", label, "opened", "failed",
           "took on average", "longest", "at once", "all");
  write_opens (fp, &totals->all);
  write_count (fp, 8, totals->most);
  fputc ('\n', fp);
  if (totals->nr_exports > 1)
    write_opens_by_export (fp, totals);
}

/* By export, where requests are of more than one: its name, and a row for each
 * operation that it had.
 */

static void
write_export_op (FILE *fp, enum op op, const struct export_op *export)
{
  char bytes[NUM2STR_LEN];

  fprintf (fp, "    %-14s", op_name (op));
  write_count (fp, 12, export->requests);
  write_count (fp, 9, export->failed);
  fprintf (fp, "%11s", op_kind (op) == KIND_NONE ? "-"
           : num2str (bytes, (double) export->bytes, NUM_BYTES));
  write_time (fp, (double) export->busy_ns);
  if (export->requests)
    write_time (fp, export_op_mean_ns (export));
  else
    fprintf (fp, "%9s", "-");
  if (export->p99_ns)
    write_time (fp, (double) export->p99_ns);
  else
    fprintf (fp, "%9s", "-");
  fputc ('\n', fp);
}

static void
write_export_heading (FILE *fp, const struct recorder_totals *layer,
                      unsigned place)
{
  char name[MAX_NAME_WIDTH + 1];

  fprintf (fp, "  %s\n", place == PLACE_OF_OTHERS ? "(others)"
           : plain_name (name, layer->connections.exports[place].name,
                         MAX_NAME_WIDTH));
}

static void
write_export (FILE *fp, const struct recorder_totals *layer, unsigned place)
{
  bool named = false;

  for (unsigned op = 0; op < NR_OPS; op++) {
    const struct export_op export = layer_export_op (layer, place, op);

    if (!export_op_has_news (&export))
      continue;
    if (!named)
      write_export_heading (fp, layer, place);
    named = true;
    write_export_op (fp, op, &export);
  }
}

void
table_by_export (FILE *fp, const struct snapshot *snapshot, size_t place)
{
  const struct recorder_totals *layer = &snapshot->layers[place];

  if (!layer_has_exports (layer))
    return;
  fprintf (fp, "\n%-18s%12s%9s%11s%9s%9s%9s\n", "by export", "requests",
           "failed", "bytes", "busy", "mean", "p99");
  for (unsigned i = 0; i < layer->connections.nr_exports; i++)
    write_export (fp, layer, i);
  write_export (fp, layer, PLACE_OF_OTHERS);
}

/* How much the layer had for each of what the one above had. */

struct ratio {
  double requests;
  double bytes;                 /* negative: the one above had none */
};

static struct ratio
op_ratio (const struct recorder_totals *layer, enum op op)
{
  const struct tally *above = &layer[-1].ops[op].tally;
  const struct tally *below = &layer->ops[op].tally;

  return (struct ratio) {
    .requests = (double) below->requests / (double) above->requests,
    .bytes = above->bytes
             ? (double) below->bytes / (double) above->bytes : -1,
  };
}

/* Would it be told as something else than 1.000? */
static bool
differs (double ratio)
{
  return ratio >= 0 && (ratio < 0.9995 || ratio >= 1.0005);
}

static bool
has_ratio (const struct recorder_totals *layer, enum op op)
{
  if (!had_success (&layer[-1], op))
    return false;
  return differs (op_ratio (layer, op).requests)
    || differs (op_ratio (layer, op).bytes);
}

void
table_amplification (FILE *fp, const struct snapshot *snapshot, size_t place)
{
  const struct recorder_totals *layer = &snapshot->layers[place];

  if (place == 0 || !had_any (layer, has_ratio))
    return;
  fprintf (fp, "\nfor each of the layer above  requests     bytes\n");
  for (unsigned op = 0; op < NR_OPS; op++) {
    struct ratio ratio;

    if (!had_success (&layer[-1], op))
      continue;
    ratio = op_ratio (layer, op);
    fprintf (fp, "%-28s", op_name (op));
    write_decimal (fp, 9, 3, ratio.requests);
    if (ratio.bytes >= 0)
      write_decimal (fp, 10, 3, ratio.bytes);
    fputc ('\n', fp);
  }
}
