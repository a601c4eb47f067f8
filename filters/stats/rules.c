/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdarg.h>
#include <stdio.h>

#include "clock.h"
#include "rules.h"

void
say (struct finding *finding, double weight, const char *fmt, ...)
{
  va_list args;

  finding->weight = weight;
  va_start (args, fmt);
  vsnprintf (finding->text, sizeof finding->text, fmt, args);
  va_end (args);
}

void
set_number (struct finding *finding, unsigned i, const char *name,
            double value)
{
  finding->numbers[i].name = name;
  finding->numbers[i].value = value;
}

const char *
plural (uint64_t n)
{
  return n == 1 ? "" : "s";
}

uint64_t
at_most (uint64_t ns, uint64_t limit)
{
  return ns < limit ? ns : limit;
}

const struct tally *
tally_of (const struct context *c, enum op op)
{
  return &c->layer->ops[op].tally;
}

uint64_t
failed_of (const struct context *c, enum op op)
{
  return failures_total (&c->layer->ops[op].failures).requests;
}

const char *
that_succeeded (const struct context *c, enum op op)
{
  return op_ended (&c->layer->ops[op]) > tally_of (c, op)->requests
    ? " that succeeded" : "";
}

double
elapsed_percent (const struct context *c, uint64_t ns)
{
  return percent (at_most (ns, c->snapshot->elapsed_ns),
                  c->snapshot->elapsed_ns);
}

double
busy_percent (const struct context *c)
{
  return elapsed_percent (c, c->layer->time.busy_ns);
}

double
op_busy_percent (const struct context *c, enum op op)
{
  return elapsed_percent (c, c->layer->time.op_busy_ns[op]);
}

double
requests_percent (const struct context *c, enum op op, uint64_t requests)
{
  const uint64_t busy_ns = c->layer->time.op_busy_ns[op];
  const uint64_t max_ns = c->layer->ops[op].extremes.max_ns;

  return requests && max_ns < busy_ns / requests
    ? elapsed_percent (c, requests * max_ns) : elapsed_percent (c, busy_ns);
}

const char *
op_noun (enum op op, uint64_t n)
{
  static const struct {
    const char *one, *several;
  } nouns[NR_OPS] = {
    [OP_READ] = { "read", "reads" },
    [OP_WRITE] = { "write", "writes" },
    [OP_TRIM] = { "trim", "trims" },
    [OP_ZERO] = { "zero request", "zero requests" },
    [OP_EXTENTS] = { "extents request", "extents requests" },
    [OP_CACHE] = { "cache request", "cache requests" },
    [OP_FLUSH] = { "flush", "flushes" },
  };

  return n == 1 ? nouns[op].one : nouns[op].several;
}

void
set_op (struct context *c, enum op op)
{
  c->finding->op = op_name (op);
}

uint64_t
connected_ns (const struct context *c)
{
  return clock_since (c->layer->time.account[ACCOUNT_NO_CLIENT],
                      c->snapshot->elapsed_ns);
}

uint64_t
untold_ns (const struct context *c, enum op op)
{
  return c->busy_told ? c->layer->time.account[op]
                      : c->layer->time.op_busy_ns[op];
}

bool
is_long (const struct context *c, uint64_t ns)
{
  const double share = elapsed_percent (c, ns);

  return ns > 0 && share >= c->rule->threshold
    && (ns >= c->rule->least_ns || share >= c->rule->anyway);
}
