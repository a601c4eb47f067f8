/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdlib.h>

#include "clock.h"
#include "diagnosis.h"
#include "rules.h"

/* All rules with their thresholds. */
#define MS (NS_PER_S / 1000)

static const struct rule rules[] = {
  { "account", ACCOUNT, ONCE, check_account,
    .threshold = 1, .unit = "request or opening" },
  { "failures", FAULT, ONCE, check_failures,
    .threshold = 1, .unit = "failed requests" },
  { "failed-opens", FAULT, ONCE, check_open_failures,
    .threshold = 1, .unit = "openings" },
  { "not-recorded", FAULT, EACH_LAYER, check_unrecorded,
    .threshold = 1, .unit = "requests" },
  { "unfinished", FAULT, ONCE, check_unfinished,
    .threshold = 1, .unit = "in flight at exit" },
  { "storage-bound", TIME, ONCE, check_storage_bound,
    .threshold = 80, .unit = "% of elapsed busy", .active_ns = 1000 * MS,
    /* It says nothing of what one-at-a-time is about: */
    .requests = 100, .overlapped = 5 },
  { "client-bound", TIME, ONCE, check_client_bound,
    .threshold = 50, .unit = "% of active waiting", .active_ns = 1000 * MS },
  { "flush", TIME, ONCE, check_flush,
    .threshold = 30, .unit = "% of busy", .active_ns = 1000 * MS },
  { "one-at-a-time", TIME, ONCE, check_one_at_a_time,
    .threshold = 50, .unit = "% of active", .active_ns = 1000 * MS,
    .requests = 100, .overlapped = 5 },
  { "saturated", TIME, READS_AND_WRITES, check_saturated,
    .threshold = 8, .unit = "mean in flight", .active_ns = 1000 * MS,
    .requests = 10, .growth = 4, .growth_each = 0.25 },
  { "small-requests", TIME, READS_AND_WRITES, check_small,
    .threshold = 50, .unit = "% small and sequential", .requests = 100 },
  { "misaligned", TIME, READS_AND_WRITES, check_misaligned,
    .threshold = 10, .unit = "% of requests", .requests = 100 },
  { "block-misfit", TIME, READS_AND_WRITES, check_block,
    .threshold = 10, .unit = "% of requests", .requests = 100 },
  { "extents-time", TIME, ONCE, check_extents_time,
    .threshold = 30, .unit = "% of busy", .active_ns = 1000 * MS },
  { "extents-count", TIME, ONCE, check_extents_count,
    .threshold = 1, .unit = "for each read or write", .requests = 1000 },
  { "zeros-written", TIME, ONCE, check_zeros,
    .threshold = 10, .unit = "% of bytes" },
  { "fua", TIME, ONCE, check_fua,
    .threshold = 50, .unit = "% of writes", .requests = 100 },
  { "long-tail", TIME, READS_AND_WRITES, check_tail,
    .threshold = 20, .unit = "p99 / p50",
    .requests = 100, .least_ns = 10 * MS },
  { "late-start", TIME, ONCE, check_late_start,
    .threshold = 20, .unit = "% of elapsed", .least_ns = 1000 * MS },
  { "late-end", TIME, ONCE, check_late_end,
    .threshold = 20, .unit = "% of elapsed", .least_ns = 1000 * MS },
  { "slow-open", TIME, ONCE, check_slow_open,
    .threshold = 5, .unit = "% of elapsed", .least_ns = 1000 * MS },
  { "between-layers", TIME, EACH_LAYER, check_between,
    .threshold = 50, .unit = "% of busy", .active_ns = 1000 * MS },
  { "amplified", TIME, EACH_LAYER, check_amplified,
    .threshold = 1.5, .unit = "bytes below / above", .requests = 100 },
};

static int
by_weight (const void *a, const void *b)
{
  const struct finding *x = a, *y = b;

  if (x->kind != y->kind)
    return x->kind < y->kind ? -1 : 1;
  if (x->weight != y->weight)
    return x->weight < y->weight ? 1 : -1;
  return x->rule < y->rule ? -1 : x->rule > y->rule;
}

struct findings {
  struct finding *list;
  size_t nr;
};

static void
try_rule (struct findings *findings, const struct rule *rule,
          const struct snapshot *snapshot, size_t layer, enum op op)
{
  struct context c = {
    .rule = rule, .snapshot = snapshot, .layer = &snapshot->layers[layer],
    .layer_index = layer, .op = op, .finding = &findings->list[findings->nr],
  };

  if (findings->nr == MAX_FINDINGS
      || layer_active_ns (c.layer) < rule->active_ns)
    return;
  *c.finding = (struct finding) {
    .code = rule->code, .rule = (unsigned) (rule - rules),
    .kind = rule->kind, .layer = layer,
    .op = rule->scope == READS_AND_WRITES ? op_name (op) : NULL,
  };
  if (rule->check (&c))
    findings->nr++;
}

static void
apply (struct findings *findings, const struct rule *rule,
       const struct snapshot *snapshot)
{
  switch (rule->scope) {
  case ONCE:
    try_rule (findings, rule, snapshot, 0, 0);
    break;
  case READS_AND_WRITES:
    try_rule (findings, rule, snapshot, 0, OP_READ);
    try_rule (findings, rule, snapshot, 0, OP_WRITE);
    break;
  case EACH_LAYER:
    for (size_t layer = 0; layer < snapshot->nr_layers; layer++)
      try_rule (findings, rule, snapshot, layer, 0);
    break;
  }
}

size_t
diagnose (const struct snapshot *snapshot,
          struct finding list[MAX_FINDINGS])
{
  struct findings findings = { .list = list };

  if (snapshot->nr_layers == 0)
    return 0;
  for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++)
    apply (&findings, &rules[r], snapshot);
  qsort (list, findings.nr, sizeof list[0], by_weight);
  return findings.nr;
}
