/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What requests come to by the export that they are of: a few figures of each
 * operation, for each place in the list of names of connections.h.
 *
 * Mostly all requests are of one export.  As long as they are, nothing is
 * counted here, since what the layer has counted is that export's.  With the
 * first request of another, the layer's figures so far become the first one's,
 * and from then on each is counted:
 *
 *   requests   a a a a a b a c b ...
 *   counted              a b a c b      behind what the layer had: all a's
 *
 * So what all exports have adds up to what the layer has.  Only busy times do
 * not: each is that of a union.
 *
 * Latencies are counted in coarse bins.  There is memory for those of so many
 * operations of exports, and no more, whatever clients do; one that finds none
 * has no percentile, and all other figures.
 *
 * Not thread-safe: it belongs to whoever settles.
 */

#ifndef STATS_BY_EXPORT_H
#define STATS_BY_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "concurrency.h"
#include "connections.h"
#include "op_totals.h"
#include "ops.h"
#include "record.h"

/* What an export had of an operation. */
struct export_op {
  uint64_t requests, bytes;     /* that succeeded, and of these */
  uint64_t latency_ns;          /* of these, summed up */
  uint64_t failed;
  uint64_t busy_ns;             /* with at least one in flight */
  uint64_t p99_ns;              /* see histogram.h; 0: not known */
};

/* At one moment. */
struct by_export_totals {
  unsigned only;                /* place of the only export that had requests,
                                   PLACE_OF_SEVERAL, or NO_PLACE */
  struct export_op ops[EXPORT_PLACES][NR_OPS]; /* of several */
};

#define PLACE_OF_SEVERAL (NO_PLACE - 1)

/* Bins in the memory of one layer. */
#define MAX_EXPORT_BIN_BYTES ((size_t) 1 << 20)

struct export_counter {
  struct export_op op;          /* busy_ns without the time since the begin of
                                   what is in flight */
  unsigned in_flight;
  uint64_t since;               /* that begin */
  uint64_t *bins;               /* COARSE_ALL, or NULL */
  uint64_t p99_requests;        /* so many were there when p99_ns was told */
};

/* All zero at the start. */
struct by_export {
  bool counts;                  /* there are several */
  size_t bin_bytes;             /* of all bins */
  struct export_counter counters[EXPORT_PLACES][NR_OPS];
};

extern void by_export_free (struct by_export *by);

/* What the layer counted of an operation, as that of an export; without a
 * percentile.
 */
extern struct export_op export_op_of_layer (const struct op_totals *op,
                                            uint64_t busy_ns);

/* Count from now on.  All that the layer was told is of the export in the
 * place only.
 */
extern void by_export_start (struct by_export *by, unsigned only,
                             const struct op_totals ops[NR_OPS],
                             const struct concurrency *c);

/* A request of the export in this place begins or ends, as the record says.  c
 * is the layer's, and was told so: what is late for it is late here as well.
 */
extern void by_export_begin (struct by_export *by, unsigned place,
                             const struct record *record,
                             const struct concurrency *c);
extern void by_export_end (struct by_export *by, unsigned place,
                           const struct record *record,
                           const struct concurrency *c);

/* All as it is at the moment now, when everything up to now was told here and
 * to the layer, whose counts are ops.  Nothing changes if it does not count.
 */
extern void by_export_read (struct by_export *by, uint64_t now,
                            const struct op_totals ops[NR_OPS],
                            struct by_export_totals *totals);

#endif /* STATS_BY_EXPORT_H */
