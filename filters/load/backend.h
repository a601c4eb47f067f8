/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The plugin at the bottom, which is in the same module as the filter on
 * top: nbdkit loads the module once as each, so they share this.
 */

#ifndef LOAD_BACKEND_H
#define LOAD_BACKEND_H

#include "load.h"
#include "workload.h"

/* The size of the disk. */
#define BACKEND_SIZE (INT64_C (1) << 30)

struct backend {
  const struct workload *workload;
  const char *directory;        /* for its files */
};

/* Set by the filter before any connection is opened. */
extern struct backend backend;

#endif /* LOAD_BACKEND_H */
