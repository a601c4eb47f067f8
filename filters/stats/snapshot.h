/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* All counters at one instant, and what follows from them.
 *
 * Every report is written from a snapshot and works nothing out that is
 * not worked out here, so that all formats tell the same figures.  These
 * functions take numbers and give numbers; none of them fails.
 */

#ifndef STATS_SNAPSHOT_H
#define STATS_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "recorder.h"

struct snapshot {
  const char *nbdkit_version;
  const char *plugin;           /* its name, or NULL */
  const char *label;            /* statslabel, or NULL */
  struct timespec start_time;   /* wall clock, for people; */
  struct timespec time;         /* nothing is worked out from it */
  pid_t pid;
  bool ended;                   /* no request can come after it */
  uint64_t elapsed_ns;
  uint64_t start;               /* clock_now when elapsed was 0 */
  uint64_t threshold;           /* statsthreshold, thousandths of a percent */
  uint64_t block;               /* statsblock, 0: off */
  bool zero;                    /* statszero */
  int thread_model;             /* nbdkit's for the server, see below */
  size_t nr_layers;
  struct recorder_totals *layers; /* nearest the client first */
};

/* How much nbdkit lets through at once: the numbers are nbdkit's own. */
enum thread_model {
  THREADS_UNKNOWN = -1,
  THREADS_SERIALIZE_CONNECTIONS, /* one request, of one connection */
  THREADS_SERIALIZE_ALL_REQUESTS, /* one request */
  THREADS_SERIALIZE_REQUESTS,   /* one request of each connection */
  THREADS_PARALLEL,
};

/* nbdkit's own name of one, NULL for any other number. */
extern const char *thread_model_name (int thread_model);

/* Make room for one more layer, zeroed.  Returns -1 when there is no
 * memory; the snapshot is as it was then.
 */
extern int snapshot_add_layer (struct snapshot *snapshot);
extern void snapshot_free (struct snapshot *snapshot);

/* Make to the same as from.  Both have room for the same layers. */
extern void snapshot_copy (struct snapshot *to, const struct snapshot *from);

/* What happened between two snapshots, into interval, which has room for
 * the same layers.  All that is counted is the exact difference, so the
 * intervals of a run add up to its end.  What is no sum is told as far as
 * it is known: min and max to the width of a histogram bin, the highest
 * count in flight and of connections since before was taken, and of the
 * slowest requests of the run those that ended in the interval.
 */
extern void snapshot_subtract (struct snapshot *interval,
                               const struct snapshot *now,
                               const struct snapshot *before);

/* Whether an interval has anything to tell of an operation, and of the export
 * in a place.  What is left out where it has not is 0.
 */
extern bool op_has_news (const struct recorder_totals *interval, enum op op);
extern bool export_has_news (const struct recorder_totals *interval,
                             unsigned place);

/* What an export had of an operation, by its place among the exports of the
 * layer's connections, or PLACE_OF_OTHERS; and whether that is anything.
 */
extern struct export_op layer_export_op (const struct recorder_totals *layer,
                                         unsigned place, enum op op);
extern bool export_op_has_news (const struct export_op *export);

/* Whether requests are of more than one export. */
extern bool layer_has_exports (const struct recorder_totals *layer);

/* Data that travelled: bytes read and written. */
extern uint64_t layer_bytes_moved (const struct recorder_totals *layer);

/* Requests of all seven operations: those that succeeded, those that
 * failed, and those that were begun and have not ended.
 */
extern uint64_t layer_requests (const struct recorder_totals *layer);
extern uint64_t layer_failed (const struct recorder_totals *layer);
extern uint64_t layer_in_flight (const struct recorder_totals *layer);

/* Requests that ended, also those that failed or were refused, and the
 * time that these spent inside the layer below, summed up.
 */
extern uint64_t op_ended (const struct op_totals *op);
extern uint64_t op_latency_ns (const struct op_totals *op);

/* Requests in flight, summed up over time, in ns; and on average while there
 * was one, which is 0 where nothing was busy.  By Little's law that is the sum
 * of latencies / busy time, and so it is at the end of a run; in an interval
 * each request counts for the part of it that lies there.
 */
extern uint64_t layer_in_flight_ns (const struct recorder_totals *layer);
extern double op_mean_in_flight (const struct recorder_totals *layer,
                                 enum op op);
extern double layer_mean_in_flight (const struct recorder_totals *layer);

/* Mean latency of requests that succeeded, in ns; 0 without any. */
extern double op_mean_ns (const struct op_totals *op);
extern double export_op_mean_ns (const struct export_op *export);

/* Blocks of statsblock bytes that one of those with bytes touches on
 * average; 0 without any.
 */
extern double op_blocks_touched (const struct op_totals *op);

/* Their percentile, see histogram.h. */
extern uint64_t op_percentile (const struct op_totals *op,
                               unsigned thousandths);

/* From the first request's begin to the last request's end, in ns; 0 without
 * any.
 */
extern uint64_t layer_active_ns (const struct recorder_totals *layer);

/* n in ns nanoseconds, as n a second; 0 where no time passed. */
extern double per_second (uint64_t n, uint64_t ns);

/* a / b; 0 where b is 0. */
extern double ratio (uint64_t a, uint64_t b);

/* part / whole in percent; 0 where the whole is 0. */
extern double percent (uint64_t part, uint64_t whole);

#endif /* STATS_SNAPSHOT_H */
