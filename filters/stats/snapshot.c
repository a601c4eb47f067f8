/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "clock.h"
#include "snapshot.h"

uint64_t
layer_bytes_moved (const struct recorder_totals *layer)
{
  uint64_t bytes = 0;

  for (unsigned op = 0; op < NR_OPS; op++) {
    if (op_kind (op) == KIND_MOVED)
      bytes += layer->ops[op].tally.bytes;
  }
  return bytes;
}

uint64_t
layer_requests (const struct recorder_totals *layer)
{
  uint64_t requests = 0;

  for (unsigned op = 0; op < NR_OPS; op++)
    requests += layer->ops[op].tally.requests;
  return requests;
}

uint64_t
layer_failed (const struct recorder_totals *layer)
{
  uint64_t failed = 0;

  for (unsigned op = 0; op < NR_OPS; op++)
    failed += failures_total (&layer->ops[op].failures).requests;
  return failed;
}

uint64_t
layer_in_flight (const struct recorder_totals *layer)
{
  uint64_t in_flight = 0;

  for (unsigned op = 0; op < NR_OPS; op++)
    in_flight += layer->time.in_flight[op];
  return in_flight;
}

uint64_t
layer_active_ns (const struct recorder_totals *layer)
{
  return clock_since (layer->time.first_begin, layer->time.last_end);
}

double
per_second (uint64_t n, uint64_t ns)
{
  return ns ? (double) n * NS_PER_S / (double) ns : 0;
}

double
percent (uint64_t part, uint64_t whole)
{
  return whole ? 100.0 * (double) part / (double) whole : 0;
}
