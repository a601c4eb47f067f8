/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "diagnosis.h"
#include "rules.h"

#define MS (NS_PER_S / 1000)

/* How long an operation kept the storage busy, with that many percent. */
#define OP_TIME(operation, percent_of_busy)                             \
  TIME, ONE_OP, check_op_time,                                          \
    .op = operation, .threshold = percent_of_busy, .unit = "% of busy", \
    .elapsed_ns = 100 * MS, .requests = 100, .growth = 2,               \
    .unless = "one-at-a-time", .of_busy = true

/* All rules with their thresholds.  One that is not said where another was
 * comes behind that.  Data has to be read or written, so it takes more time of
 * these to be worth a sentence.
 */
static const struct rule rules[] = {
  { "account", ACCOUNT, ONCE, check_account,
    .threshold = 1, .unit = "request or opening" },
  { "failures", FAULT, ONCE, check_failures,
    .threshold = 1, .unit = "failed requests" },
  { "cut-short", FAULT, ONCE, check_cut_short,
    .threshold = 1, .unit = "requests with ESHUTDOWN" },
  { "failed-opens", FAULT, ONCE, check_open_failures,
    .threshold = 1, .unit = "openings" },
  { "not-recorded", FAULT, EACH_LAYER, check_unrecorded,
    .threshold = 1, .unit = "requests" },
  { "unfinished", FAULT, ONCE, check_unfinished,
    .threshold = 1, .unit = "in flight at exit" },
  { "no-client", TIME, ONCE, check_no_client,
    .threshold = 20, .unit = "% of elapsed", .elapsed_ns = 100 * MS,
    .least_ns = 1000 * MS, .anyway = 50 },
  { "client-bound", TIME, ONCE, check_client_bound,
    .threshold = 50, .unit = "% with a client", .elapsed_ns = 100 * MS,
    .stall_ns = 100 * MS },
  { "stalls", TIME, ONCE, check_stalls,
    .threshold = 10, .unit = "% of elapsed", .elapsed_ns = 100 * MS,
    .stall_ns = 100 * MS, .unless = "client-bound" },
  { "slow-open", TIME, ONCE, check_slow_open,
    .threshold = 5, .unit = "% of elapsed", .elapsed_ns = 100 * MS,
    .least_ns = 1000 * MS, .anyway = 50 },
  { "saturated", TIME, READS_AND_WRITES, check_saturated,
    .threshold = 8, .unit = "mean in flight", .elapsed_ns = 100 * MS,
    .requests = 10, .growth = 4, .growth_each = 0.25 },
  { "several-kinds", TIME, ONCE, check_several_kinds,
    .threshold = 50, .unit = "% of busy", .elapsed_ns = 100 * MS,
    .of_busy = true },
  { "one-at-a-time", TIME, ONCE, check_one_at_a_time,
    .threshold = 50, .unit = "% with a client", .elapsed_ns = 100 * MS,
    .requests = 100, .overlapped = 5, .of_busy = true },
  { "storage-bound", TIME, ONCE, check_storage_bound,
    .threshold = 50, .unit = "% with a client", .elapsed_ns = 100 * MS,
    .requests = 10, .growth = 4, .growth_each = 0.5,
    .flat = 1.25, .medians = 2, .unless = "one-at-a-time" },
  { "flush", OP_TIME (OP_FLUSH, 30) },
  { "extents-time", OP_TIME (OP_EXTENTS, 30) },
  { "zero-time", OP_TIME (OP_ZERO, 30) },
  { "trim-time", OP_TIME (OP_TRIM, 30) },
  { "cache-time", OP_TIME (OP_CACHE, 30) },
  { "read-time", OP_TIME (OP_READ, 50) },
  { "write-time", OP_TIME (OP_WRITE, 50) },
  { "small-requests", TIME, READS_AND_WRITES, check_small,
    .threshold = 50, .unit = "% small and sequential", .requests = 100 },
  { "misaligned", TIME, READS_AND_WRITES, check_misaligned,
    .threshold = 10, .unit = "% of requests", .requests = 100 },
  { "block-misfit", TIME, READS_AND_WRITES, check_block,
    .threshold = 10, .unit = "% of requests", .requests = 100 },
  { "extents-count", TIME, ONCE, check_extents_count,
    .threshold = 1, .unit = "for each read or write", .requests = 1000 },
  { "zeros-written", TIME, ONCE, check_zeros,
    .threshold = 10, .unit = "% of bytes" },
  { "fua", TIME, ONCE, check_fua,
    .threshold = 50, .unit = "% of writes", .requests = 100 },
  { "long-tail", TIME, READS_AND_WRITES, check_tail,
    .threshold = 20, .unit = "p99 / p50",
    .requests = 100, .least_ns = 10 * MS },
  { "between-layers", TIME, EACH_LAYER, check_between,
    .threshold = 50, .unit = "% of busy", .elapsed_ns = 100 * MS },
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

/* The same is said already: of that operation, if it is about one. */
static bool
is_said (const struct findings *findings, const char *code, const char *op)
{
  for (size_t i = 0; code && i < findings->nr; i++) {
    const struct finding *finding = &findings->list[i];

    if (strcmp (finding->code, code) == 0
        && (op == NULL || finding->op == NULL
            || strcmp (finding->op, op) == 0))
      return true;
  }
  return false;
}

static bool
is_busy_told (const struct findings *findings)
{
  for (size_t i = 0; i < findings->nr; i++) {
    if (rules[findings->list[i].rule].of_busy)
      return true;
  }
  return false;
}

static bool
is_about_op (const struct rule *rule)
{
  return rule->scope == READS_AND_WRITES || rule->scope == ONE_OP;
}

static void
try_rule (struct findings *findings, const struct rule *rule,
          const struct snapshot *snapshot, size_t layer, enum op op)
{
  const char *name = is_about_op (rule) ? op_name (op) : NULL;
  struct context c = {
    .rule = rule, .snapshot = snapshot, .layer = &snapshot->layers[layer],
    .layer_index = layer, .op = op, .finding = &findings->list[findings->nr],
    .busy_told = is_busy_told (findings),
    .saturated = is_said (findings, "saturated", NULL),
  };

  if (findings->nr == MAX_FINDINGS || snapshot->elapsed_ns < rule->elapsed_ns
      || is_said (findings, rule->unless, name))
    return;
  *c.finding = (struct finding) {
    .code = rule->code, .rule = (unsigned) (rule - rules),
    .kind = rule->kind, .layer = layer, .op = name,
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
  case ONE_OP:
    try_rule (findings, rule, snapshot, 0, rule->op);
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
