/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Of what kind the requests are, and what is odd about them. */

#include <config.h>

#include <inttypes.h>
#include <stdio.h>

#include "clock.h"
#include "num2str.h"
#include "rules.h"

/* Classes that end below 16 KiB. */
#define SMALL_CLASS_END 15

static uint64_t
small_latency_ns (const struct tally *tally)
{
  uint64_t ns = 0;

  for (unsigned k = 0; k < SMALL_CLASS_END; k++)
    ns += tally->sizes[k].latency_ns;
  return ns;
}

bool
check_small (struct context *c)
{
  const struct tally *tally = tally_of (c, c->op);
  const double share = percent (c->layer->time.small_sequential[c->op],
                                tally->requests);

  if (tally->requests < c->rule->requests || share < c->rule->threshold)
    return false;
  say (c->finding,
       elapsed_percent (c, at_most (small_latency_ns (tally),
                                    c->layer->time.op_busy_ns[c->op])),
       "%.1f%% of the %ss%s are smaller than 16 KiB and begin where another "
       "ended: larger requests would move the same data with fewer.", share,
       op_name (c->op), that_succeeded (c, c->op));
  set_number (c->finding, 0, "small_sequential_percent", share);
  return true;
}

/* What requests were held against, see tally_alignment. */
static const char *
aligned_to (const struct context *c, char *buf, size_t size)
{
  const struct connections_totals *totals = &c->layer->connections;
  const uint32_t preferred = totals->block_sizes.preferred;
  char block[NUM2STR_LEN];

  if (totals->block_sizes_differ)
    return "the blocks that the storage prefers";
  if (preferred == 0)
    return "4 KiB";
  snprintf (buf, size, "the blocks of %s that the storage prefers",
            num2str (block, preferred, NUM_BYTES));
  return buf;
}

bool
check_misaligned (struct context *c)
{
  const struct tally *tally = tally_of (c, c->op);
  const double share = percent (tally->misaligned, tally->requests);
  char blocks[80];

  if (tally->requests < c->rule->requests || share < c->rule->threshold)
    return false;
  say (c->finding, requests_percent (c, c->op, tally->misaligned),
       "%.1f%% of the %ss%s are not aligned to %s, in offset or length.",
       share, op_name (c->op), that_succeeded (c, c->op),
       aligned_to (c, blocks, sizeof blocks));
  set_number (c->finding, 0, "misaligned_percent", share);
  return true;
}

bool
check_block (struct context *c)
{
  const struct tally *tally = tally_of (c, c->op);
  const uint64_t requests = tally->requests - tally->sizes[0].requests;
  const uint64_t off_block = requests - tally->blocks.aligned;
  const double share = percent (off_block, requests);
  const double block = (double) c->snapshot->block;
  char size[NUM2STR_LEN];

  if (c->snapshot->block == 0 || requests < c->rule->requests
      || share < c->rule->threshold)
    return false;
  say (c->finding, requests_percent (c, c->op, off_block),
       "%.1f%% of the %ss%s do not fit blocks of %s: all together touch %.2f "
       "times as many as their data would fill.", share, op_name (c->op),
       that_succeeded (c, c->op), num2str (size, block, NUM_BYTES),
       ratio (tally->blocks.touched, tally->bytes) * block);
  set_number (c->finding, 0, "misaligned_percent", share);
  set_number (c->finding, 1, "block", block);
  return true;
}

/* All that were asked, whatever the answer. */
bool
check_extents_count (struct context *c)
{
  const uint64_t extents = op_ended (&c->layer->ops[OP_EXTENTS]);
  const uint64_t data = op_ended (&c->layer->ops[OP_READ])
    + op_ended (&c->layer->ops[OP_WRITE]);

  if (extents < c->rule->requests
      || (double) extents < c->rule->threshold * (double) data)
    return false;
  say (c->finding, op_busy_percent (c, OP_EXTENTS), "The client asked %"
       PRIu64 " time%s for extents, and %" PRIu64 " time%s to read or write.",
       extents, plural (extents), data, plural (data));
  set_number (c->finding, 0, "extents", (double) extents);
  set_number (c->finding, 1, "data_requests", (double) data);
  return true;
}

/* Whether the zero requests of this run do not speak against more. */
static bool
zeroing_may_pay (const struct context *c)
{
  const struct op_totals *zero = &c->layer->ops[OP_ZERO];
  const struct tally *write = tally_of (c, OP_WRITE);

  return op_ended (zero) == zero->tally.requests
    && ratio (zero->tally.latency_ns, zero->tally.bytes)
       <= ratio (write->latency_ns, write->bytes);
}

bool
check_zeros (struct context *c)
{
  const struct tally *tally = tally_of (c, OP_WRITE);
  const double share = percent (tally->zero_bytes, tally->bytes);
  char zeros[NUM2STR_LEN];

  if (tally->zero_bytes == 0 || share < c->rule->threshold)
    return false;
  say (c->finding, op_busy_percent (c, OP_WRITE),
       "%.1f%% of the written data, %s, is all zero%s.", share,
       num2str (zeros, (double) tally->zero_bytes, NUM_BYTES),
       zeroing_may_pay (c)
       ? ": it may cost less to zero it or to leave it out" : "");
  set_number (c->finding, 0, "zero_percent", share);
  set_number (c->finding, 1, "zero_bytes", (double) tally->zero_bytes);
  return true;
}

/* Whether the flushes of this run do not speak against one more. */
static bool
flushing_may_pay (const struct context *c)
{
  return failed_of (c, OP_FLUSH) == 0
    && c->layer->time.in_flight[OP_FLUSH] == 0
    && c->layer->ops[OP_FLUSH].extremes.max_ns
       < c->layer->time.op_busy_ns[OP_WRITE];
}

bool
check_fua (struct context *c)
{
  const struct tally *tally = tally_of (c, OP_WRITE);
  const double share = percent (tally->flags[FLAG_FUA], tally->requests);

  if (tally->requests < c->rule->requests || share < c->rule->threshold)
    return false;
  say (c->finding, op_busy_percent (c, OP_WRITE),
       "%.1f%% of the writes%s asked for FUA: each of these had to be on "
       "stable storage before it was answered.%s", share,
       that_succeeded (c, OP_WRITE),
       flushing_may_pay (c) ? " One flush at the end may cost less." : "");
  set_number (c->finding, 0, "fua_percent", share);
  return true;
}

/* The time of those in the bin of ns and above, at most. */
static uint64_t
latency_ns_from (const struct tally *tally, uint64_t ns)
{
  const unsigned end = histogram_bin (ns);
  uint64_t below_ns = 0;

  for (unsigned i = 0; i < end; i++)
    below_ns += tally->bins[i] * histogram_low (i);
  return tally->latency_ns - at_most (below_ns, tally->latency_ns);
}

bool
check_tail (struct context *c)
{
  const struct op_totals *totals = &c->layer->ops[c->op];
  const struct slow_request *slowest = &totals->extremes.slowest[0];
  const uint64_t p50 = op_percentile (totals, 50000);
  const uint64_t p99 = op_percentile (totals, 99000);
  char tail[NUM2STR_LEN], median[NUM2STR_LEN], worst[NUM2STR_LEN],
    size[NUM2STR_LEN], when[NUM2STR_LEN];

  if (totals->tally.requests < c->rule->requests || p99 < c->rule->least_ns
      || (double) p99 <= c->rule->threshold * (double) p50)
    return false;
  say (c->finding,
       elapsed_percent (c, at_most (latency_ns_from (&totals->tally, p99),
                                    c->layer->time.op_busy_ns[c->op])),
       "Of the %ss that succeeded, one in a hundred took about %s or more, and "
       "half at most %s. The slowest took %s: %s at offset %" PRIu64 ", %s "
       "after the start.", op_name (c->op),
       num2str (tail, (double) p99, NUM_TIME),
       num2str (median, (double) p50, NUM_TIME),
       num2str (worst, (double) slowest->latency_ns, NUM_TIME),
       num2str (size, (double) slowest->count, NUM_BYTES), slowest->offset,
       seconds2str (when, (double) clock_since (c->snapshot->start,
                                                slowest->begin)));
  set_number (c->finding, 0, "p50_ns", (double) p50);
  set_number (c->finding, 1, "p99_ns", (double) p99);
  set_number (c->finding, 2, "slowest_ns", (double) slowest->latency_ns);
  set_number (c->finding, 3, "slowest_offset", (double) slowest->offset);
  return true;
}
