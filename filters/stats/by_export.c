/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdlib.h>

#include "by_export.h"
#include "clock.h"
#include "histogram.h"

void
by_export_free (struct by_export *by)
{
  for (unsigned place = 0; place < EXPORT_PLACES; place++) {
    for (unsigned op = 0; op < NR_OPS; op++)
      free (by->counters[place][op].bins);
  }
}

struct export_op
export_op_of_layer (const struct op_totals *op, uint64_t busy_ns)
{
  return (struct export_op) {
    .requests = op->tally.requests,
    .bytes = op->tally.bytes,
    .latency_ns = op->tally.latency_ns,
    .failed = failures_total (&op->failures).requests,
    .busy_ns = busy_ns,
  };
}

/* Before the first latency: bins that come later would not have them all. */
static void
add_bins (struct by_export *by, struct export_counter *counter)
{
  const size_t bytes = COARSE_ALL * sizeof *counter->bins;

  if (by->bin_bytes + bytes > MAX_EXPORT_BIN_BYTES)
    return;
  counter->bins = calloc (1, bytes);
  if (counter->bins)
    by->bin_bytes += bytes;
}

/* Also what is in flight is of the only export. */
void
by_export_start (struct by_export *by, unsigned only,
                 const struct op_totals ops[NR_OPS],
                 const struct concurrency *c)
{
  struct export_counter *counters = by->counters[only];

  by->counts = true;
  for (unsigned op = 0; op < NR_OPS; op++) {
    struct export_counter *counter = &counters[op];

    counter->op = export_op_of_layer (&ops[op],
                                      concurrency_busy_ns (c, 1u << op));
    counter->in_flight = c->n[op];
    counter->since = c->since;
    if (counter->op.requests == 0)
      continue;
    add_bins (by, counter);
    if (counter->bins)
      coarse_add (counter->bins, ops[op].tally.bins);
  }
}

void
by_export_begin (struct by_export *by, unsigned place,
                 const struct record *record, const struct concurrency *c)
{
  struct export_counter *counter = &by->counters[place][record->kind];

  if (counter->in_flight++ == 0)
    counter->since = time_later (record->begin, c->since);
}

static void
count_success (struct by_export *by, struct export_counter *counter,
               const struct record *record)
{
  const uint64_t ns = record->end - record->begin;

  if (counter->op.requests == 0)
    add_bins (by, counter);
  if (counter->bins)
    counter->bins[coarse_bin (ns)]++;
  counter->op.requests++;
  counter->op.bytes += record->count;
  counter->op.latency_ns += ns;
}

void
by_export_end (struct by_export *by, unsigned place,
               const struct record *record, const struct concurrency *c)
{
  struct export_counter *counter = &by->counters[place][record->kind];

  if (--counter->in_flight == 0)
    counter->op.busy_ns += clock_since (counter->since,
                                        time_later (record->end, c->since));
  if (!record->failed)
    count_success (by, counter, record);
  else if (!record_is_refused (record))
    counter->op.failed++;
}

/* A percentile takes longer than all the rest, and mostly nothing came.  No
 * latency was outside of the layer's bounds.
 */
static void
update_p99 (struct export_counter *counter, const struct extremes *bounds)
{
  if (counter->bins == NULL || counter->p99_requests == counter->op.requests)
    return;
  counter->op.p99_ns = coarse_percentile (counter->bins, 99000,
                                          bounds->min_ns, bounds->max_ns);
  counter->p99_requests = counter->op.requests;
}

void
by_export_read (struct by_export *by, uint64_t now,
                const struct op_totals ops[NR_OPS],
                struct by_export_totals *totals)
{
  if (!by->counts)
    return;
  totals->only = PLACE_OF_SEVERAL;
  for (unsigned place = 0; place < EXPORT_PLACES; place++) {
    for (unsigned op = 0; op < NR_OPS; op++) {
      struct export_counter *counter = &by->counters[place][op];

      update_p99 (counter, &ops[op].extremes);
      totals->ops[place][op] = counter->op;
      if (counter->in_flight)
        totals->ops[place][op].busy_ns += clock_since (counter->since, now);
    }
  }
}
