/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Reports in fio's own form, the one of --output-format=json+: the names,
 * units and bins are fio's, so that what reads its output reads ours.
 *
 * What the filter does not know, as the processor time of the client, is
 * left out.  Operations that fio does not have come under our names.
 */

#include <config.h>

#include <stdio.h>

#include "clock.h"
#include "convert.h"
#include "histogram.h"
#include "json_op.h"
#include "json_writer.h"

/* fio's last bin, in which all is that took longer: its histogram has 29
 * octaves of 64 bins, up to 2^34, and a bin is named by its middle.  Its
 * tools rely on that.
 */
#define LAST_BIN ((UINT64_C (1) << 34) - (UINT64_C (1) << 26))

/* How fio calls an operation. */
static const char *
fio_name (enum op op)
{
  return op == OP_FLUSH ? "sync" : op_name (op);
}

/* Without any the object is not there: tools look at the first of them. */
static void
add_bins (struct json *json, const uint64_t bins[HISTOGRAM_ALL])
{
  char key[JSON_DIGITS_LEN];
  uint64_t last = 0;

  if (histogram_count (bins) == 0)
    return;
  JSON_OBJECT (json, "bins") {
    for (unsigned bin = 0; bin < HISTOGRAM_ALL; bin++) {
      if (bin == HISTOGRAM_OVERFLOW || histogram_middle (bin) >= LAST_BIN)
        last += bins[bin];
      else if (bins[bin])
        json_count (json, json_digits (key, histogram_middle (bin)),
                    bins[bin]);
    }
    if (last)
      json_count (json, json_digits (key, LAST_BIN), last);
  }
}

/* 0 where there was none, as with fio. */
static void
add_bounds (struct json *json, const struct op_totals *op)
{
  const uint64_t n = op->tally.requests;

  json_count (json, "min", n ? op->extremes.min_ns : 0);
  json_count (json, "max", n ? op->extremes.max_ns : 0);
  json_real (json, "mean", op_mean_ns (op));
  json_real (json, "stddev", n ? extremes_stddev (&op->extremes, n,
                                                  op->tally.latency_ns) : 0);
  json_count (json, "N", n);
}

/* clat_ns is what fio gives percentiles and bins of: the time from the
 * submission of a request to its completion.
 */
static void
add_latencies (struct json *json, const struct op_totals *op)
{
  JSON_OBJECT (json, "clat_ns") {
    add_bounds (json, op);
    JSON_OBJECT (json, "percentile")
      json_percentiles (json, op);
    add_bins (json, op->tally.bins);
  }
  JSON_OBJECT (json, "lat_ns")
    add_bounds (json, op);
}

static void
add_op (struct json *json, const struct op_totals *op, uint64_t elapsed_ns)
{
  const struct tally *tally = &op->tally;
  const double bytes_per_s = per_second (tally->bytes, elapsed_ns);

  json_count (json, "io_bytes", tally->bytes);
  json_count (json, "io_kbytes", tally->bytes / 1024);
  json_count (json, "bw_bytes", (uint64_t) bytes_per_s);
  json_count (json, "bw", (uint64_t) (bytes_per_s / 1024));
  json_real (json, "iops", per_second (tally->requests, elapsed_ns));
  json_count (json, "runtime", elapsed_ns / (NS_PER_S / 1000));
  json_count (json, "total_ios", tally->requests);
  add_latencies (json, op);
}

/* An errno that requests failed with, 0: none did. */
static unsigned
job_error (const struct recorder_totals *layer)
{
  for (unsigned op = 0; op < NR_OPS; op++) {
    for (unsigned error = 0; error < MAX_FAILURES; error++) {
      if (layer->ops[op].failures.by_errno[error].requests)
        return error ? error : FAILURE_OTHER;
    }
  }
  return 0;
}

static void
add_job (struct json *json, const struct snapshot *snapshot, size_t i,
         unsigned reports)
{
  const struct recorder_totals *layer = &snapshot->layers[i];
  char name[64];

  snprintf (name, sizeof name, "run %u layer %zu", reports, i + 1);
  json_string (json, "jobname", name);
  json_count (json, "groupid", reports - 1);
  json_count (json, "error", job_error (layer));
  json_count (json, "elapsed", snapshot->elapsed_ns / NS_PER_S);
  JSON_OBJECT (json, "job options")
    json_string (json, "name", name);
  for (unsigned op = 0; op < NR_OPS; op++) {
    JSON_OBJECT (json, fio_name (op))
      add_op (json, &layer->ops[op], snapshot->elapsed_ns);
  }
}

static enum next
add_jobs (struct json *json, struct report_reader *reader,
          unsigned *reports)
{
  struct stored_report stored = { .line = 0 };
  enum next next;

  while ((next = report_reader_next (reader, &stored)) == NEXT_OBJECT) {
    if (!stored.final)
      continue;
    ++*reports;
    for (size_t i = 0; i < stored.snapshot.nr_layers; i++) {
      JSON_OBJECT (json, NULL)
        add_job (json, &stored.snapshot, i, *reports);
    }
  }
  stored_report_free (&stored);
  return next;
}

int
convert_fio (struct report_reader *reader, FILE *fp)
{
  struct json *json = &(struct json) { .fp = fp };
  unsigned reports = 0;
  enum next next = NEXT_END;

  JSON_OBJECT (json, NULL) {
    json_string (json, "fio version", PACKAGE_STRING);
    JSON_ARRAY (json, "jobs")
      next = add_jobs (json, reader, &reports);
  }
  fputc ('\n', fp);
  return convert_end (reader, next, reports, "final report");
}
