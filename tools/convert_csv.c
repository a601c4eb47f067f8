/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Reports as rows of CSV, for spreadsheets and plots: seconds, bytes and
 * requests in full, with the names in the first line.  What was not
 * measured is empty.
 */

#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "clock.h"
#include "convert.h"

static void
write_names (FILE *fp)
{
  fputs ("time,pid,layer,elapsed_s,interval_s,busy_s,in_flight_mean", fp);
  for (unsigned op = 0; op < NR_OPS; op++) {
    const char *name = op_name (op);

    fprintf (fp, ",%s_requests,%s_bytes,%s_failed,%s_busy_s,%s_p50_s,"
             "%s_p99_s", name, name, name, name, name, name);
  }
  fputc ('\n', fp);
}

static void
write_seconds (FILE *fp, uint64_t ns)
{
  fprintf (fp, ",%" PRIu64 ".%09" PRIu64, ns / NS_PER_S, ns % NS_PER_S);
}

static void
write_percentile (FILE *fp, const struct op_totals *op, unsigned thousandths)
{
  if (op->tally.requests)
    write_seconds (fp, op_percentile (op, thousandths));
  else
    fputc (',', fp);
}

static void
write_op (FILE *fp, const struct recorder_totals *layer, enum op i)
{
  const struct op_totals *op = &layer->ops[i];

  fprintf (fp, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, op->tally.requests,
           op->tally.bytes, failures_total (&op->failures).requests);
  write_seconds (fp, layer->time.op_busy_ns[i]);
  write_percentile (fp, op, 50000);
  write_percentile (fp, op, 99000);
}

/* What a row begins with is of the report: when, and which process. */
static void
write_row (FILE *fp, const struct stored_report *report, size_t i)
{
  const struct snapshot *snapshot = &report->snapshot;
  const struct recorder_totals *layer = &snapshot->layers[i];
  char when[32];
  struct tm tm;

  gmtime_r (&snapshot->time.tv_sec, &tm);
  strftime (when, sizeof when, "%Y-%m-%dT%H:%M:%S", &tm);
  fprintf (fp, "%s.%06ldZ,%ld,%zu", when, snapshot->time.tv_nsec / 1000,
           (long) snapshot->pid, i + 1);
  write_seconds (fp, report->now_ns);
  write_seconds (fp, snapshot->elapsed_ns);
  write_seconds (fp, layer->time.busy_ns);
  fprintf (fp, ",%.3f", layer_mean_in_flight (layer));
  for (unsigned op = 0; op < NR_OPS; op++)
    write_op (fp, layer, op);
  fputc ('\n', fp);
}

int
convert_csv (struct report_reader *reader, FILE *fp)
{
  struct stored_report stored = { .line = 0 };
  unsigned reports = 0, rows = 0;
  enum next next;

  write_names (fp);
  while ((next = report_reader_next (reader, &stored)) == NEXT_OBJECT) {
    reports++;
    for (size_t i = 0; i < stored.snapshot.nr_layers; i++) {
      if (!stored.final || rows == 0)
        write_row (fp, &stored, i);
    }
    rows = stored.final ? 0 : rows + 1;
  }
  stored_report_free (&stored);
  return convert_end (reader, next, reports, "report");
}
