/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What the backend below the filter does for a request. */

#ifndef LOAD_WORKLOAD_H
#define LOAD_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

/* How long a request is, a power of two, and what is done for it; path is
 * of this connection's file, where a workload has files.  0, or an errno.
 */
struct workload {
  const char *name;
  uint32_t count;
  bool files;
  bool sleeps;
  int (*pread) (const char *path, void *buf, uint32_t count);
  int (*pwrite) (const char *path, const void *buf, uint32_t count);
};

#define MAX_COUNT 65536

/* In the order in which they are measured; the last has no name. */
extern const struct workload workloads[];

/* Returns NULL where there is none of that name. */
extern const struct workload *workload_find (const char *name);

#endif /* LOAD_WORKLOAD_H */
