/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Rows of text while the server runs, one an interval. */

#include <config.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "num2str.h"
#include "report.h"

#define ROWS_A_HEADER 20

/* Data moves in the first ones; a row has no room for the bytes of more. */
static const enum op row_ops[]
  = { OP_READ, OP_WRITE, OP_ZERO, OP_TRIM, OP_FLUSH };
#define NR_ROW_OPS (sizeof row_ops / sizeof row_ops[0])

static void
write_header (FILE *fp)
{
  fprintf (fp, "UTC     seconds");
  for (size_t i = 0; i < NR_ROW_OPS; i++) {
    fprintf (fp, "%6s", op_name (row_ops[i]));
    if (op_kind (row_ops[i]) == KIND_MOVED)
      fprintf (fp, "%6s", "B/s");
  }
  fprintf (fp, " fail busy depth    p99\n");
}

/* The wall clock, and how long the server has run. */
static void
write_time (FILE *fp, const struct snapshot *now)
{
  char when[16], seconds[NUM2STR_LEN];
  struct tm tm = { .tm_hour = 0 };

  gmtime_r (&now->time.tv_sec, &tm);
  strftime (when, sizeof when, "%H:%M:%S", &tm);
  fprintf (fp, "%s%7s", when,
           decimal2str (seconds, (double) now->elapsed_ns / NS_PER_S, 2, 7));
}

/* The 99th percentile of all operations together. */
static const char *
row_p99 (char buf[NUM2STR_LEN], const struct recorder_totals *layer)
{
  struct op_totals all = { .tally = { .requests = 0 } };

  for (unsigned op = 0; op < NR_OPS; op++) {
    extremes_add (&all.extremes, all.tally.requests,
                  &layer->ops[op].extremes, layer->ops[op].tally.requests);
    tally_add (&all.tally, &layer->ops[op].tally);
  }
  if (all.tally.requests == 0)
    return "-";
  return num2str (buf, (double) op_percentile (&all, 99000),
                  NUM_SHORT_TIME);
}

static void
write_op (FILE *fp, const struct snapshot *interval, enum op op)
{
  const struct tally *tally = &interval->layers->ops[op].tally;
  const uint64_t ns = interval->elapsed_ns;
  char rate[NUM2STR_LEN];

  fprintf (fp, "%6s",
           rate2str (rate, per_second (tally->requests, ns), NUM_COUNT));
  if (op_kind (op) == KIND_MOVED)
    fprintf (fp, "%6s",
             rate2str (rate, per_second (tally->bytes, ns), NUM_SHORT_BYTES));
}

void
text_write_row (FILE *fp, const struct report *report)
{
  const struct snapshot *interval = report->interval;
  const struct recorder_totals *layer = interval->layers;
  char failed[NUM2STR_LEN], depth[NUM2STR_LEN], p99[NUM2STR_LEN];

  if (report->at_top || report->intervals % ROWS_A_HEADER == 0) {
    if (report->headed)
      text_write_head (fp, report->now);
    write_header (fp);
  }
  write_time (fp, report->now);
  for (size_t i = 0; i < NR_ROW_OPS; i++)
    write_op (fp, interval, row_ops[i]);
  fprintf (fp, "%5s%5.0f%6s%7s\n",
           count2str (failed, layer_failed (layer), 5),
           percent (layer->time.busy_ns, interval->elapsed_ns),
           decimal2str (depth, layer_mean_in_flight (layer), 1, 6),
           row_p99 (p99, layer));
}
