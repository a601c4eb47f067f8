/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What one run came to: figures of the storage, out of a report of the
 * filter, and of the client, out of what it said.  A figure that is not
 * there is NaN.
 */

#ifndef TOOLS_FIGURES_H
#define TOOLS_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "ops.h"

struct json;
struct json_object;

/* In nanoseconds. */
struct latencies {
  double mean, p50, p99;
};

struct op_figures {
  uint64_t requests;            /* that succeeded */
  uint64_t failed;
  uint64_t bytes;
  double busy_ns;
  struct latencies latencies;
};

struct figures {
  double elapsed_ns, active_ns, busy_ns;
  struct op_figures ops[NR_OPS];

  /* Parts of the elapsed time, as the report names them, or NULL. */
  struct json_object *account;
};

/* Out of a report: the layer nearest the plugin.  Returns -1 where text
 * is none.  figures_free is called at the end in any case.
 */
extern int figures_parse (struct figures *figures, const char *text);

/* Out of an object that figures_write has written, and into the current
 * object.
 */
extern void figures_read (struct figures *figures, struct json_object *object);
extern void figures_write (struct json *json, const struct figures *figures);
extern void figures_free (struct figures *figures);

/* The same of latencies, whose object has the names of a report. */
extern struct latencies latencies_read (struct json_object *object);
extern void latencies_write (struct json *json,
                             const struct latencies *latencies);

#endif /* TOOLS_FIGURES_H */
