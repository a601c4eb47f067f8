/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "figures.h"
#include "json_copy.h"
#include "json_writer.h"

void
latencies_write (struct json *json, const struct latencies *latencies)
{
  JSON_OBJECT (json, "lat_ns") {
    json_real (json, "mean", latencies->mean);
    JSON_OBJECT (json, "percentile") {
      json_real (json, "50.000000", latencies->p50);
      json_real (json, "99.000000", latencies->p99);
    }
  }
}

/* With the names and the shape of a report. */
static void
write_op (struct json *json, enum op id, const struct op_figures *op)
{
  JSON_OBJECT (json, op_name (id)) {
    json_count (json, "total_ios", op->requests);
    json_count (json, "io_bytes", op->bytes);
    json_real (json, "busy_ns", op->busy_ns);
    JSON_OBJECT (json, "failed")
      json_count (json, "total", op->failed);
    latencies_write (json, &op->latencies);
  }
}

void
figures_write (struct json *json, const struct figures *figures)
{
  json_real (json, "elapsed_ns", figures->elapsed_ns);
  json_real (json, "active_ns", figures->active_ns);
  json_real (json, "busy_ns", figures->busy_ns);
  if (figures->account)
    json_copy (json, "account", figures->account);
  JSON_OBJECT (json, "ops") {
    for (enum op op = 0; op < NR_OPS; op++) {
      if (figures->ops[op].requests || figures->ops[op].failed)
        write_op (json, op, &figures->ops[op]);
    }
  }
}
