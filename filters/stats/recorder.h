/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The data path: a request begins and ends.
 *
 * Each layer of the filter has one recorder.  Each thread that runs
 * requests has counters of its own in it, a shard, and only ever writes
 * there; a shard whose thread has gone is used again by the next.  After a
 * thread's first request of an operation there is no allocation, and no
 * system call but the clock, which the vDSO answers.
 */

#ifndef STATS_RECORDER_H
#define STATS_RECORDER_H

#include <stdint.h>

#include "connections.h"
#include "extremes.h"
#include "ops.h"
#include "request.h"
#include "tally.h"
#include "timeline.h"

/* What came back from an extents request, in extents and bytes. */
struct extents_returned {
  uint64_t count, data, hole, zero;
};

/* All counters of one operation. */
struct op_totals {
  struct tally tally;
  struct failures failures;
  struct extremes extremes;
};

/* All that a recorder knows, at one moment. */
struct recorder_totals {
  struct op_totals ops[NR_OPS];
  struct timeline_totals time;
  struct connections_totals connections;
  uint64_t unrecorded;          /* requests for which there was no memory */
};

/* block is the block size that requests are held against, or 0.  Returns
 * NULL and sets errno when there is no memory or no thread key.
 */
extern struct recorder *recorder_new (uint64_t block);

/* The layer's connections, for whoever opens and closes them. */
extern struct connections *recorder_connections (struct recorder *recorder);

/* No thread may be in recorder_begin or later.  Where a request was begun
 * and has not ended, its thread may yet come back: nothing is freed.
 */
extern void recorder_free (struct recorder *recorder);

/* Begin a request, which the calling thread then hands to the next layer.
 * A thread has one request at a time in a recorder.  Never fails: a
 * request for which there is no memory is only numbered.
 */
extern void recorder_begin (struct recorder *recorder,
                            struct request *request);

/* The request is back; error is 0 where it succeeded and its errno where
 * it failed.  Same thread as the begin.
 */
extern void recorder_end (struct request *request, int error);

/* After recorder_end of an extents request that succeeded: what came
 * back.  Apart, so that looking through the extents is not in the latency.
 */
extern void recorder_extents (struct request *request,
                              const struct extents_returned *returned);

/* Settle all requests that ended, so that their connection's streams are
 * no longer needed.  Any thread; no request of theirs may be in flight.
 */
extern void recorder_settle (struct recorder *recorder);

/* Sum up all counters as of now.  Any thread, at any time; it does not
 * stop the requests.  Each operation's counters of one thread are read as
 * they stood between two requests.
 */
extern void recorder_read (struct recorder *recorder, uint64_t now,
                           struct recorder_totals *totals);

/* The same in parts, for several recorders at one moment: hold all, read
 * the clock, take the times of all, release all, then take the counters.
 * While one is held its requests run on, but may soon have to wait.
 */
extern void recorder_hold (struct recorder *recorder);
extern void recorder_release (struct recorder *recorder);
extern void recorder_take_times (struct recorder *recorder, uint64_t now,
                                 struct recorder_totals *totals);
extern void recorder_take_counters (struct recorder *recorder,
                                    struct recorder_totals *totals);

#endif /* STATS_RECORDER_H */
