/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Rules for a layer that has another below it. */

#include <config.h>

#include <inttypes.h>

#include "clock.h"
#include "rules.h"

static const struct recorder_totals *
layer_below (const struct context *c)
{
  return c->layer_index + 1 < c->snapshot->nr_layers ? c->layer + 1 : NULL;
}

/* The layer below may have been busy for itself meanwhile, so more of the
 * busy time can be between them, up to all of it.
 */
bool
check_between (struct context *c)
{
  const struct recorder_totals *below = layer_below (c);
  double share;

  if (below == NULL)
    return false;
  share = percent (clock_since (below->time.busy_ns, c->layer->time.busy_ns),
                   c->layer->time.busy_ns);
  if (share < c->rule->threshold)
    return false;
  say (c->finding, busy_percent (c), "At least %.1f%% of the busy time of "
       "layer %zu is spent between it and layer %zu.", share,
       c->layer_index + 1, c->layer_index + 2);
  set_number (c->finding, 0, "between_percent_of_busy", share);
  return true;
}

/* What a request that failed or has not ended asked for is in no count of
 * bytes, and the layer below may have moved it: at most so much each.
 */
static uint64_t
uncounted_bytes (const struct context *c, enum op op)
{
  const uint64_t largest = op_kind (op) == KIND_MOVED ? UINT64_C (64) << 20
                                                      : UINT32_MAX;

  return (failed_of (c, op) + c->layer->time.in_flight[op]) * largest;
}

/* What is to be zeroed or cached, say, may become writes or reads. */
static uint64_t
not_passed_on (const struct context *c, enum op op)
{
  return op_kind (op) == KIND_RANGE
    ? clock_since (layer_below (c)->ops[op].tally.bytes,
                   tally_of (c, op)->bytes) : 0;
}

/* How much the layer below may have moved for anything else than the bytes
 * that this one moved.
 */
static uint64_t
other_bytes (const struct context *c)
{
  uint64_t bytes = 0;

  for (enum op op = 0; op < NR_OPS; op++) {
    if (op_kind (op) == KIND_MOVED || op_kind (op) == KIND_RANGE)
      bytes += uncounted_bytes (c, op) + not_passed_on (c, op);
  }
  return bytes;
}

bool
check_amplified (struct context *c)
{
  const struct recorder_totals *below = layer_below (c);
  const uint64_t moved = tally_of (c, OP_READ)->requests
    + tally_of (c, OP_WRITE)->requests;
  uint64_t others;
  double factor;

  if (below == NULL)
    return false;
  others = other_bytes (c);
  factor = ratio (layer_bytes_moved (below),
                  layer_bytes_moved (c->layer) + others);
  if (moved < c->rule->requests || factor < c->rule->threshold)
    return false;
  say (c->finding, elapsed_percent (c, below->time.busy_ns),
       "For each byte that layer %zu moved, layer %zu below it moved %s%.2f.",
       c->layer_index + 1, c->layer_index + 2, others ? "at least " : "",
       factor);
  set_number (c->finding, 0, "byte_amplification", factor);
  return true;
}
