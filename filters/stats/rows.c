/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Rows of text while the server runs, one an interval. */

#include <config.h>

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "num2str.h"
#include "report.h"

#define ROWS_A_HEADER 20

static const enum op row_ops[] = { OP_READ, OP_WRITE, OP_ZERO, OP_TRIM };
#define NR_ROW_OPS (sizeof row_ops / sizeof row_ops[0])

static void
write_header (FILE *fp)
{
  fprintf (fp, "%8s", "seconds");
  for (size_t i = 0; i < NR_ROW_OPS; i++)
    fprintf (fp, "%7s%6s", op_name (row_ops[i]), "B/s");
  fprintf (fp, " busy depth      p99\n");
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
  return num2str (buf, (double) op_percentile (&all, 99000), NUM_TIME);
}

static void
write_op (FILE *fp, const struct tally *tally, uint64_t ns)
{
  char requests[NUM2STR_LEN], bytes[NUM2STR_LEN];

  fprintf (fp, "%7s%6s",
           rate2str (requests, per_second (tally->requests, ns), NUM_COUNT),
           rate2str (bytes, per_second (tally->bytes, ns), NUM_SHORT_BYTES));
}

void
text_write_row (FILE *fp, const struct report *report)
{
  const struct snapshot *interval = report->interval;
  const struct recorder_totals *layer = interval->layers;
  char seconds[NUM2STR_LEN], depth[NUM2STR_LEN], p99[NUM2STR_LEN];

  if (report->intervals % ROWS_A_HEADER == 0) {
    if (report->headed)
      text_write_head (fp, report->now);
    write_header (fp);
  }
  fprintf (fp, "%8s",
           decimal2str (seconds, (double) report->now->elapsed_ns / NS_PER_S,
                        2, 9));
  for (size_t i = 0; i < NR_ROW_OPS; i++)
    write_op (fp, &layer->ops[row_ops[i]].tally, interval->elapsed_ns);
  fprintf (fp, "%5.0f%6s%9s\n",
           percent (layer->time.busy_ns, interval->elapsed_ns),
           decimal2str (depth, layer_mean_in_flight (layer), 1, 6),
           row_p99 (p99, layer));
}
