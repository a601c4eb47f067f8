/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "diagnosis.h"
#include "num2str.h"
#include "report.h"
#include "account.h"
#include "tables.h"
#include "utf8.h"

void
text_write_head (FILE *fp, const struct snapshot *snapshot)
{
  char when[32];
  struct tm tm = { .tm_mday = 1 };

  gmtime_r (&snapshot->time.tv_sec, &tm);
  strftime (when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &tm);
  fprintf (fp, "report: %s, pid %ld", when, (long) snapshot->pid);
  if (snapshot->label) {
    fputs (", run ", fp);
    utf8_write_plain (fp, snapshot->label);
  }
  fputc ('\n', fp);
}

/* What stands at the end of an operation's line and of the total. */
static void
write_line_end (FILE *fp, uint64_t failed, uint64_t in_flight)
{
  if (failed)
    fprintf (fp, ", %" PRIu64 " failed", failed);
  if (in_flight)
    fprintf (fp, ", %" PRIu64 " still in flight", in_flight);
  fputc ('\n', fp);
}

static void
write_rates (FILE *fp, uint64_t bytes, uint64_t busy_ns, uint64_t elapsed_ns)
{
  char size[NUM2STR_LEN], op[NUM2STR_LEN], total[NUM2STR_LEN];

  fprintf (fp, ", %s, %s op, %s total",
           num2str (size, (double) bytes, NUM_BYTES),
           num2str (op, per_second (bytes, busy_ns), NUM_BYTES_PER_S),
           num2str (total, per_second (bytes, elapsed_ns), NUM_BYTES_PER_S));
}

static void
write_returned (FILE *fp, const struct tally *tally)
{
  const double data = (double) tally->extents.data;
  const double hole = (double) tally->extents.hole;
  const double zero = (double) tally->extents.zero;
  char asked[NUM2STR_LEN], size[NUM2STR_LEN];

  fprintf (fp, ", %s, %s returned",
           num2str (asked, (double) tally->bytes, NUM_BYTES),
           num2str (size, data + hole + zero, NUM_BYTES));
  if (data > 0)
    fprintf (fp, ", %s data", num2str (size, data, NUM_BYTES));
  if (hole > 0)
    fprintf (fp, ", %s hole", num2str (size, hole, NUM_BYTES));
  if (zero > 0)
    fprintf (fp, ", %s zero", num2str (size, zero, NUM_BYTES));
  fprintf (fp, ", %" PRIu64 " extents", tally->extents.count);
}

static void
write_op (FILE *fp, const struct recorder_totals *layer, enum op op,
          uint64_t elapsed_ns)
{
  const struct tally *tally = &layer->ops[op].tally;
  const uint64_t busy_ns = layer->time.op_busy_ns[op];
  const uint64_t failed = failures_total (&layer->ops[op].failures).requests;
  const uint64_t in_flight = layer->time.in_flight[op];
  const uint64_t refused = tally->fast_zero_refused.requests;
  char seconds[NUM2STR_LEN];

  if (tally->requests + failed + in_flight + refused == 0)
    return;
  fprintf (fp, "%s: %" PRIu64 " ops, %s", op_name (op), tally->requests,
           seconds2str (seconds, (double) busy_ns));
  switch (op_kind (op)) {
  case KIND_MOVED:
  case KIND_RANGE:
    write_rates (fp, tally->bytes, busy_ns, elapsed_ns);
    break;
  case KIND_QUERY:
    write_returned (fp, tally);
    break;
  case KIND_NONE:
    break;
  }
  if (refused)
    fprintf (fp, ", %" PRIu64 " fast zeros refused", refused);
  write_line_end (fp, failed, in_flight);
}

static void
write_total (FILE *fp, const struct recorder_totals *layer,
             uint64_t elapsed_ns)
{
  char seconds[NUM2STR_LEN];

  fprintf (fp, "total: %" PRIu64 " ops, %s", layer_requests (layer),
           seconds2str (seconds, (double) layer->time.request_busy_ns));
  write_rates (fp, layer_bytes_moved (layer), layer->time.request_busy_ns,
               elapsed_ns);
  write_line_end (fp, layer_failed (layer), layer_in_flight (layer));
}

static void
write_times (FILE *fp, const struct recorder_totals *layer,
             const struct snapshot *snapshot)
{
  char seconds[NUM2STR_LEN], since[NUM2STR_LEN];

  fprintf (fp, "busy time: %s, %.1f%% of elapsed\n",
           seconds2str (seconds, (double) layer->time.busy_ns),
           percent (layer->time.busy_ns, snapshot->elapsed_ns));
  if (layer->time.first_begin)
    fprintf (fp, "active time: %s, first request after %s\n",
             seconds2str (seconds, (double) layer_active_ns (layer)),
             seconds2str (since, (double) clock_since (snapshot->start,
                                             layer->time.first_begin)));
}

static void
write_first_lines (FILE *fp, const struct snapshot *snapshot, size_t place)
{
  const struct recorder_totals *layer = &snapshot->layers[place];

  write_times (fp, layer, snapshot);
  fprintf (fp, "bytes: read %" PRIu64 ", written %" PRIu64
           ", zeroed %" PRIu64 ", trimmed %" PRIu64 "\n",
           layer->ops[OP_READ].tally.bytes, layer->ops[OP_WRITE].tally.bytes,
           layer->ops[OP_ZERO].tally.bytes, layer->ops[OP_TRIM].tally.bytes);
  write_total (fp, layer, snapshot->elapsed_ns);
  for (unsigned op = 0; op < NR_OPS; op++)
    write_op (fp, layer, op, snapshot->elapsed_ns);
  if (layer->unrecorded)
    fprintf (fp, "not recorded: %" PRIu64 " ops, for want of memory\n",
             layer->unrecorded);
}

/* What is told of a layer, in this order. */
static const struct section {
  table_fn *write;
  bool brief;                   /* in a brief report as well */
} sections[] = {
  { write_first_lines,   true },
  { table_latency,       true },
  { table_account,       true },
  { table_in_flight,     false },
  { table_depths,        false },
  { table_sizes,         false },
  { table_alignment,     false },
  { table_block_fit,     false },
  { table_kinds,         false },
  { table_failures,      true },
  { table_slowest,       false },
  { table_openings,      false },
  { table_amplification, false },
};
#define NR_SECTIONS (sizeof sections / sizeof sections[0])

static void
write_layer (FILE *fp, const struct report *report, size_t place)
{
  for (size_t i = 0; i < NR_SECTIONS; i++) {
    if (sections[i].brief || report->full)
      sections[i].write (fp, report->now, place);
  }
}

static void
write_layer_heading (FILE *fp, size_t i, size_t nr_layers)
{
  fprintf (fp, "\nlayer %zu of %zu", i + 1, nr_layers);
  if (i == 0)
    fprintf (fp, ", nearest the client");
  else if (i == nr_layers - 1)
    fprintf (fp, ", nearest the plugin");
  fprintf (fp, "\n");
}

/* Broken into lines of at most 80 columns. */
static void
write_lines (FILE *fp, const char *text)
{
  enum { WIDTH = 78 };
  const char *indent = "- ";

  while (*text) {
    size_t n = strlen (text);

    if (n > WIDTH) {
      for (n = WIDTH; n > 1 && text[n] != ' '; n--)
        ;
      if (n == 1)               /* one word that fills the line */
        n = WIDTH;
    }
    fprintf (fp, "%s%.*s\n", indent, (int) n, text);
    text += n;
    text += strspn (text, " ");
    indent = "  ";
  }
}

/* With the name under which the manual has it. */
static void
write_finding (FILE *fp, const struct finding *finding)
{
  char text[sizeof finding->text + 32];

  snprintf (text, sizeof text, "%s [%s]", finding->text, finding->code);
  write_lines (fp, text);
}

static bool
is_worth_telling (const struct finding *finding)
{
  return finding->kind != TIME || finding->weight >= FINDING_WEIGHT;
}

static void
write_diagnosis (FILE *fp, const struct snapshot *snapshot)
{
  struct finding findings[MAX_FINDINGS];
  const size_t nr = diagnose (snapshot, findings);
  bool heading = false;

  for (size_t i = 0; i < nr; i++) {
    if (!is_worth_telling (&findings[i]))
      continue;
    if (!heading)
      fprintf (fp, "\ndiagnosis\n");
    heading = true;
    write_finding (fp, &findings[i]);
  }
}

void
text_write (FILE *fp, const struct report *report)
{
  const struct snapshot *snapshot = report->now;
  char elapsed[NUM2STR_LEN];

  if (report->intervals)
    fputc ('\n', fp);
  if (report->headed)
    text_write_head (fp, snapshot);
  fprintf (fp, "elapsed time: %s\n",
           seconds2str (elapsed, (double) snapshot->elapsed_ns));
  for (size_t i = 0; i < snapshot->nr_layers; i++) {
    if (snapshot->nr_layers > 1)
      write_layer_heading (fp, i, snapshot->nr_layers);
    write_layer (fp, report, i);
  }
  write_diagnosis (fp, snapshot);
}
