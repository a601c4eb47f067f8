/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Adds up the intervals of a run, for unit tests: all figures that are
 * sums, but for the longest failure.
 */

#ifndef UNIT_INTERVALS_H
#define UNIT_INTERVALS_H

#include "recorder.h"

static inline void
add_failures (struct failures *sum, const struct failures *part)
{
  for (unsigned i = 0; i < MAX_FAILURES; i++) {
    sum->by_errno[i].requests += part->by_errno[i].requests;
    sum->by_errno[i].ns += part->by_errno[i].ns;
  }
}

static inline void
add_opens (struct opens *sum, const struct opens *part)
{
  sum->opened += part->opened;
  sum->failed += part->failed;
  sum->ns += part->ns;
}

static inline void
add_depths (struct depth_class *sum, const struct depth_class *part)
{
  for (unsigned i = 0; i < DEPTH_CLASSES; i++) {
    sum[i].requests += part[i].requests;
    sum[i].latency_ns += part[i].latency_ns;
  }
}

static inline void
add_time (struct timeline_totals *sum, const struct timeline_totals *part)
{
  for (unsigned op = 0; op < NR_OPS; op++) {
    sum->op_busy_ns[op] += part->op_busy_ns[op];
    sum->sequential[op] += part->sequential[op];
    sum->small_sequential[op] += part->small_sequential[op];
    sum->overlapped[op] += part->overlapped[op];
    sum->in_flight_ns[op] += part->in_flight_ns[op];
    add_depths (sum->depths[op], part->depths[op]);
    for (unsigned size = 0; size < SIZE_CLASSES; size++)
      add_depths (sum->size_depths[op][size], part->size_depths[op][size]);
  }
  sum->busy_ns += part->busy_ns;
  sum->request_busy_ns += part->request_busy_ns;
  sum->open_busy_ns += part->open_busy_ns;
  sum->waiting_ns += part->waiting_ns;
}

static inline void
add_layer (struct recorder_totals *sum, const struct recorder_totals *part)
{
  for (unsigned op = 0; op < NR_OPS; op++) {
    tally_add (&sum->ops[op].tally, &part->ops[op].tally);
    add_failures (&sum->ops[op].failures, &part->ops[op].failures);
  }
  add_time (&sum->time, &part->time);
  sum->connections.clients += part->connections.clients;
  add_opens (&sum->connections.other_exports,
             &part->connections.other_exports);
  add_opens (&sum->connections.all, &part->connections.all);
  for (unsigned i = 0; i < part->connections.nr_exports; i++)
    add_opens (&sum->connections.exports[i].opens,
               &part->connections.exports[i].opens);
  sum->unrecorded += part->unrecorded;
}

#endif /* UNIT_INTERVALS_H */
