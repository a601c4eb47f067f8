/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A filter in this process, driven as nbdkit drives it. */

#ifndef BENCH_LAYER_H
#define BENCH_LAYER_H

#include "connection.h"
#include "server.h"

/* What the command line says of one filter. */
struct side {
  const char *name;
  const char *path;             /* NULL: bypassed */
  char **params;                /* key=value */
  unsigned nr_params;
};

struct layer {
  void *module;                 /* NULL: bypassed */
  const struct nbdkit_filter *filter; /* bypassed: without callbacks */
  struct nbdkit_backend backend;
};

/* A client's connection through the filter. */
struct client {
  struct nbdkit_context context;
  void *handle;
};

/* From load to after_fork.  All that return int tell their errors, and
 * then return -1.
 */
extern int layer_start (struct layer *layer, const struct side *side,
                        const struct nbdkit_backend *backend);
extern void layer_stop (struct layer *layer);

extern int layer_connect (struct layer *layer, struct client *client);
extern void layer_disconnect (struct layer *layer, struct client *client);

#endif /* BENCH_LAYER_H */
