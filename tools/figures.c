/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "figures.h"
#include "json_values.h"

struct latencies
latencies_read (json_object *object)
{
  json_object *percentile = json_get (object, "percentile");

  return (struct latencies) {
    .mean = json_number (object, "mean"),
    .p50 = json_number (percentile, "50.000000"),
    .p99 = json_number (percentile, "99.000000"),
  };
}

static void
read_op (struct op_figures *op, json_object *object)
{
  op->requests = json_whole (object, "total_ios");
  op->bytes = json_whole (object, "io_bytes");
  op->failed = json_whole (json_get (object, "failed"), "total");
  op->busy_ns = json_number (object, "busy_ns");
  op->latencies = latencies_read (json_get (object, "lat_ns"));
}

void
figures_read (struct figures *figures, json_object *object)
{
  *figures = (struct figures) {
    .elapsed_ns = json_number (object, "elapsed_ns"),
    .active_ns = json_number (object, "active_ns"),
    .busy_ns = json_number (object, "busy_ns"),
    .account = json_object_get (json_get (object, "account")),
  };
  for (enum op op = 0; op < NR_OPS; op++)
    read_op (&figures->ops[op],
             json_get (json_get (object, "ops"), op_name (op)));
}

int
figures_parse (struct figures *figures, const char *text)
{
  json_object *report = json_tokener_parse (text);
  json_object *layers = json_get (report, "layers");
  size_t nr = json_length (layers);

  *figures = (struct figures) { .account = NULL };
  if (nr > 0) {
    figures_read (figures, json_element (layers, nr - 1));
    figures->elapsed_ns = json_number (report, "elapsed_ns");
  }
  json_object_put (report);
  return nr > 0 ? 0 : -1;
}

void
figures_free (struct figures *figures)
{
  json_object_put (figures->account);
}
