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

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "recorder.h"

struct snapshot {
  struct timespec start_time;   /* wall clock, for people; */
  struct timespec time;         /* nothing is worked out from it */
  pid_t pid;
  uint64_t elapsed_ns;
  uint64_t start;               /* clock_now when elapsed was 0 */
  size_t nr_layers;
  struct recorder_totals *layers; /* nearest the client first */
};

/* Data that travelled: bytes read and written. */
extern uint64_t layer_bytes_moved (const struct recorder_totals *layer);

/* Requests of all seven operations: those that succeeded, those that
 * failed, and those that were begun and have not ended.
 */
extern uint64_t layer_requests (const struct recorder_totals *layer);
extern uint64_t layer_failed (const struct recorder_totals *layer);
extern uint64_t layer_in_flight (const struct recorder_totals *layer);

/* From the first request's begin to the last request's end. */
extern uint64_t layer_active_ns (const struct recorder_totals *layer);

/* n in ns nanoseconds, as n a second; 0 where no time passed. */
extern double per_second (uint64_t n, uint64_t ns);

/* part / whole in percent; 0 where the whole is 0. */
extern double percent (uint64_t part, uint64_t whole);

#endif /* STATS_SNAPSHOT_H */
