/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The Prometheus text exposition format, 0.0.4.
 *
 * Every figure is a whole number, of things or of nanoseconds, and is
 * written digit by digit: no floating point, so nothing is rounded,
 * nothing is nan or inf, and no locale matters.
 *
 * What clients choose, such as export names, is not in here: each value
 * of a label is a time series that the monitoring system keeps.  The user
 * may choose a label for all of them.
 */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "account.h"
#include "clock.h"
#include "errno_name.h"
#include "histogram.h"
#include "report.h"
#include "utf8.h"

#define PREFIX "nbdkit_stats_"

/* The bounds of the durations' buckets: 2^k - 1 nanoseconds for these k,
 * about 1 us to 69 s.
 *
 * le is inclusive.  A latency is a whole number of nanoseconds, so those
 * up to 2^k - 1 are exactly those below 2^k, where a bin of the histogram
 * begins: no bucket cuts through a bin, and each count is exact.
 */
#define FIRST_BUCKET_BITS 10
#define LAST_BUCKET_BITS 36

/* A figure that each layer has, or each operation of each layer. */
struct metric {
  const char *name;
  const char *type;
  const char *help;
  bool ns;                      /* nanoseconds, told in seconds */
  uint64_t (*of_layer) (const struct recorder_totals *layer);
  uint64_t (*of_op) (const struct recorder_totals *layer, enum op op);
};

static uint64_t
requests (const struct recorder_totals *layer, enum op op)
{
  return layer->ops[op].tally.requests;
}

static uint64_t
bytes (const struct recorder_totals *layer, enum op op)
{
  return layer->ops[op].tally.bytes;
}

static uint64_t
busy_ns (const struct recorder_totals *layer, enum op op)
{
  return layer->time.op_busy_ns[op];
}

static uint64_t
in_flight (const struct recorder_totals *layer, enum op op)
{
  return layer->time.in_flight[op];
}

static uint64_t
in_flight_ns (const struct recorder_totals *layer, enum op op)
{
  return layer->time.in_flight_ns[op];
}

static uint64_t
refused (const struct recorder_totals *layer, enum op op)
{
  return layer->ops[op].tally.fast_zero_refused.requests;
}

static uint64_t
layer_busy_ns (const struct recorder_totals *layer)
{
  return layer->time.busy_ns;
}

static uint64_t
request_busy_ns (const struct recorder_totals *layer)
{
  return layer->time.request_busy_ns;
}

static uint64_t
open_busy_ns (const struct recorder_totals *layer)
{
  return layer->time.open_busy_ns;
}

static uint64_t
clients (const struct recorder_totals *layer)
{
  return layer->connections.clients;
}

static uint64_t
connections (const struct recorder_totals *layer)
{
  return layer->connections.all.opened;
}

static uint64_t
failed_connections (const struct recorder_totals *layer)
{
  return layer->connections.all.failed;
}

static uint64_t
open_connections (const struct recorder_totals *layer)
{
  return layer->connections.now;
}

static uint64_t
unrecorded (const struct recorder_totals *layer)
{
  return layer->unrecorded;
}

static const struct metric metrics[] = {
  { .name = "requests_total", .type = "counter", .of_op = requests,
    .help = "Requests that succeeded." },
  { .name = "bytes_total", .type = "counter", .of_op = bytes,
    .help = "Bytes of the requests that succeeded: moved by read and write,"
            " only named by the others." },
  { .name = "busy_seconds_total", .type = "counter", .ns = true,
    .of_op = busy_ns,
    .help = "Time with at least one request of the operation in flight." },
  { .name = "layer_busy_seconds_total", .type = "counter", .ns = true,
    .of_layer = layer_busy_ns,
    .help = "Time with a request or an opening in flight." },
  { .name = "layer_request_busy_seconds_total", .type = "counter",
    .ns = true, .of_layer = request_busy_ns,
    .help = "Time with at least one request of any operation in flight." },
  { .name = "layer_opening_seconds_total", .type = "counter", .ns = true,
    .of_layer = open_busy_ns,
    .help = "Time with at least one opening of an export in flight." },
  { .name = "in_flight", .type = "gauge", .of_op = in_flight,
    .help = "Requests that were begun and have not ended." },
  { .name = "in_flight_seconds_total", .type = "counter", .ns = true,
    .of_op = in_flight_ns,
    .help = "Time that requests were in flight, summed up over all of them,"
            " also those that failed or have not ended." },
  { .name = "refused_requests_total", .type = "counter", .of_op = refused,
    .help = "Requests for a fast zero that were refused, which is no"
            " failure." },
  { .name = "unrecorded_requests_total", .type = "counter",
    .of_layer = unrecorded,
    .help = "Requests that nothing else counts, for want of memory." },
  { .name = "clients_total", .type = "counter", .of_layer = clients,
    .help = "Connections of clients, whatever they opened." },
  { .name = "connections_total", .type = "counter", .of_layer = connections,
    .help = "Exports that clients opened." },
  { .name = "failed_connections_total", .type = "counter",
    .of_layer = failed_connections,
    .help = "Exports that could not be opened." },
  { .name = "open_connections", .type = "gauge",
    .of_layer = open_connections,
    .help = "Exports that are open." },
};

static void
write_head (FILE *fp, const char *name, const char *type, const char *help)
{
  fprintf (fp, "# HELP " PREFIX "%s %s\n", name, help);
  fprintf (fp, "# TYPE " PREFIX "%s %s\n", name, type);
}

static void
write_seconds (FILE *fp, uint64_t ns)
{
  fprintf (fp, "%" PRIu64 ".%09" PRIu64, ns / NS_PER_S, ns % NS_PER_S);
}

/* What a sample ends with. */
static void
write_value (FILE *fp, uint64_t value, bool ns)
{
  fputc (' ', fp);
  if (ns)
    write_seconds (fp, value);
  else
    fprintf (fp, "%" PRIu64, value);
  fputc ('\n', fp);
}

/* What is not UTF-8 would have the whole file refused. */
static void
write_label (FILE *fp, const char *name, const char *value)
{
  fprintf (fp, "%s=\"", name);
  while (*value) {
    bool good;
    const size_t length = utf8_next (value, &good);

    if (!good)
      fputs (UTF8_REPLACEMENT, fp);
    else if (*value == '\n')
      fputs ("\\n", fp);
    else if (*value == '\\' || *value == '"')
      fprintf (fp, "\\%c", *value);
    else
      fwrite (value, 1, length, fp);
    value += length;
  }
  fputc ('"', fp);
}

/* What a sample begins with: its name, and the label that the user gave the
 * run; the caller goes on with more labels and closes the brace.
 */
static void
begin_series (FILE *fp, const struct snapshot *snapshot, const char *name)
{
  fprintf (fp, PREFIX "%s{", name);
  if (snapshot->label) {
    write_label (fp, "run", snapshot->label);
    fputc (',', fp);
  }
}

/* Layers are numbered as in the text report. */
static void
write_name (FILE *fp, const struct snapshot *snapshot, const char *name,
            size_t layer)
{
  begin_series (fp, snapshot, name);
  fprintf (fp, "layer=\"%zu\"", layer + 1);
}

static void
write_op_name (FILE *fp, const struct snapshot *snapshot, const char *name,
               size_t layer, enum op op)
{
  write_name (fp, snapshot, name, layer);
  fprintf (fp, ",op=\"%s\"", op_name (op));
}

static void
write_metric (FILE *fp, const struct snapshot *snapshot,
              const struct metric *metric)
{
  write_head (fp, metric->name, metric->type, metric->help);
  for (size_t i = 0; i < snapshot->nr_layers; i++) {
    const struct recorder_totals *layer = &snapshot->layers[i];

    if (metric->of_layer) {
      write_name (fp, snapshot, metric->name, i);
      fputc ('}', fp);
      write_value (fp, metric->of_layer (layer), metric->ns);
      continue;
    }
    for (unsigned op = 0; op < NR_OPS; op++) {
      write_op_name (fp, snapshot, metric->name, i, op);
      fputc ('}', fp);
      write_value (fp, metric->of_op (layer, op), metric->ns);
    }
  }
}

/* Failures by errno. */

static void
write_failure (FILE *fp, const struct snapshot *snapshot, size_t layer,
               enum op op, uint64_t error, uint64_t failed)
{
  char buf[ERRNO_NAME_LEN];

  write_op_name (fp, snapshot, "failed_requests_total", layer, op);
  fprintf (fp, ",errno=\"%s\"}", errno_name (buf, error));
  write_value (fp, failed, false);
}

static uint64_t
failed_with (const struct failures *failures, uint64_t error)
{
  for (unsigned i = 0; i < MAX_FAILURES; i++) {
    if (failures->by_errno[i].error == error)
      return failures->by_errno[i].requests;
  }
  return 0;
}

/* EIO is always there.  Prometheus sees no increase in a series that
 * begins with its first failure; in their sum over all errnos it does, if
 * there was a 0 before.
 */
static void
write_op_failures (FILE *fp, const struct snapshot *snapshot, size_t layer,
                   enum op op)
{
  const struct failures *failures = &snapshot->layers[layer].ops[op].failures;

  write_failure (fp, snapshot, layer, op, EIO, failed_with (failures, EIO));
  for (unsigned i = 0; i < MAX_FAILURES; i++) {
    const struct failure *failure = &failures->by_errno[i];

    if (failure->requests && failure->error != EIO)
      write_failure (fp, snapshot, layer, op, failure->error,
                     failure->requests);
  }
}

static void
write_failures (FILE *fp, const struct snapshot *snapshot)
{
  write_head (fp, "failed_requests_total", "counter",
              "Requests that failed, by the name of their errno.");
  for (size_t i = 0; i < snapshot->nr_layers; i++) {
    for (unsigned op = 0; op < NR_OPS; op++)
      write_op_failures (fp, snapshot, i, op);
  }
}

/* The account: states that exclude each other and stack to the elapsed time. */
static void
write_states (FILE *fp, const struct snapshot *snapshot)
{
  write_head (fp, "state_seconds_total", "counter",
              "Time in each state. There is one at each moment, so all"
              " states of a layer add up to the elapsed time.");
  for (size_t i = 0; i < snapshot->nr_layers; i++) {
    for (unsigned state = 0; state < NR_STATES; state++) {
      write_name (fp, snapshot, "state_seconds_total", i);
      fprintf (fp, ",state=\"%s\"}", account_state_name (state));
      write_value (fp, snapshot->layers[i].time.account[state], true);
    }
  }
}

/* Durations, of requests and of gaps. */

/* One histogram.  Where it is of no operation, op is NR_OPS. */
struct durations {
  const struct snapshot *snapshot;
  const char *name;
  size_t layer;
  unsigned op;
};

static void
write_durations_name (FILE *fp, const struct durations *durations,
                      const char *suffix)
{
  char name[80];

  snprintf (name, sizeof name, "%s%s", durations->name, suffix);
  if (durations->op < NR_OPS)
    write_op_name (fp, durations->snapshot, name, durations->layer,
                   durations->op);
  else
    write_name (fp, durations->snapshot, name, durations->layer);
}

static uint64_t
sum_bins (const uint64_t bins[HISTOGRAM_ALL], unsigned from, unsigned to)
{
  uint64_t sum = 0;

  for (unsigned bin = from; bin < to; bin++)
    sum += bins[bin];
  return sum;
}

/* bound in nanoseconds, UINT64_MAX: infinity. */
static void
write_bucket (FILE *fp, const struct durations *durations, uint64_t bound,
              uint64_t count)
{
  write_durations_name (fp, durations, "_bucket");
  fputs (",le=\"", fp);
  if (bound == UINT64_MAX)
    fputs ("+Inf", fp);
  else
    write_seconds (fp, bound);
  fputs ("\"}", fp);
  write_value (fp, count, false);
}

/* Returns how many there are in all. */
static uint64_t
write_buckets (FILE *fp, const struct durations *durations,
               const uint64_t bins[HISTOGRAM_ALL])
{
  unsigned from = 0;
  uint64_t count = 0;

  for (unsigned bits = FIRST_BUCKET_BITS; bits <= LAST_BUCKET_BITS; bits++) {
    const uint64_t end = UINT64_C (1) << bits;
    const unsigned to = histogram_bin (end);

    count += sum_bins (bins, from, to);
    from = to;
    write_bucket (fp, durations, end - 1, count);
  }
  count += sum_bins (bins, from, HISTOGRAM_ALL);
  write_bucket (fp, durations, UINT64_MAX, count);
  return count;
}

static void
write_histogram (FILE *fp, const struct durations *durations,
                 const struct tally *tally)
{
  const uint64_t count = write_buckets (fp, durations, tally->bins);

  write_durations_name (fp, durations, "_sum");
  fputc ('}', fp);
  write_value (fp, tally->latency_ns, true);
  write_durations_name (fp, durations, "_count");
  fputc ('}', fp);
  write_value (fp, count, false);
}

static void
write_gap_durations (FILE *fp, const struct snapshot *snapshot)
{
  struct durations durations = {
    .snapshot = snapshot, .name = "gap_duration_seconds", .op = NR_OPS,
  };

  write_head (fp, durations.name, "histogram",
              "How long a connected client let nothing be in flight before"
              " the next request.");
  for (size_t i = 0; i < snapshot->nr_layers; i++) {
    durations.layer = i;
    write_histogram (fp, &durations, &snapshot->layers[i].time.gaps.tally);
  }
}

static void
write_request_durations (FILE *fp, const struct snapshot *snapshot)
{
  struct durations durations = {
    .snapshot = snapshot, .name = "request_duration_seconds",
  };

  write_head (fp, durations.name, "histogram",
              "How long the requests that succeeded took.");
  for (size_t i = 0; i < snapshot->nr_layers; i++) {
    durations.layer = i;
    for (durations.op = 0; durations.op < NR_OPS; durations.op++)
      write_histogram (fp, &durations,
                       &snapshot->layers[i].ops[durations.op].tally);
  }
}

/* The process. */

static void
write_build_info (FILE *fp, const struct snapshot *snapshot)
{
  const char *nbdkit_version = snapshot->nbdkit_version;

  write_head (fp, "build_info", "gauge",
              "Whose figures these are, by version; always 1.");
  begin_series (fp, snapshot, "build_info");
  write_label (fp, "version", PACKAGE_VERSION);
  fputc (',', fp);
  write_label (fp, "nbdkit_version", nbdkit_version ? nbdkit_version : "");
  fputc ('}', fp);
  write_value (fp, 1, false);
}

/* What has no other label. */
static void
write_process_name (FILE *fp, const struct snapshot *snapshot,
                    const char *name)
{
  fprintf (fp, PREFIX "%s", name);
  if (snapshot->label) {
    fputc ('{', fp);
    write_label (fp, "run", snapshot->label);
    fputc ('}', fp);
  }
}

/* Elapsed time is a counter so that other counters can be held against
 * it: both are of the same moment, which is not that of the scrape.
 */
static void
write_process (FILE *fp, const struct snapshot *snapshot)
{
  write_build_info (fp, snapshot);
  write_head (fp, "start_time_seconds", "gauge",
              "When nbdkit started, since the epoch.");
  write_process_name (fp, snapshot, "start_time_seconds");
  fprintf (fp, " %" PRIdMAX ".%09ld\n",
           (intmax_t) snapshot->start_time.tv_sec,
           snapshot->start_time.tv_nsec);
  write_head (fp, "elapsed_seconds_total", "counter",
              "Time from the start to these figures.");
  write_process_name (fp, snapshot, "elapsed_seconds_total");
  write_value (fp, snapshot->elapsed_ns, true);
}

void
prometheus_write (FILE *fp, const struct report *report)
{
  const struct snapshot *snapshot = report->now;

  write_process (fp, snapshot);
  for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
    write_metric (fp, snapshot, &metrics[i]);
  write_failures (fp, snapshot);
  write_states (fp, snapshot);
  write_gap_durations (fp, snapshot);
  write_request_durations (fp, snapshot);
}
