/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What stands behind the filter, in a plugin's place. */

#ifndef BENCH_CONNECTION_H
#define BENCH_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "server.h"

/* What a backend does for one request, and how long a request is: a power
 * of two.  A workload with files has one of that length a connection.
 */
struct workload {
  const char *name;
  uint32_t count;
  bool files;
  bool sleeps;
  int (*pread) (nbdkit_next *next, void *buf, uint32_t count,
                uint64_t offset, uint32_t flags, int *err);
  int (*pwrite) (nbdkit_next *next, const void *buf, uint32_t count,
                 uint64_t offset, uint32_t flags, int *err);
};

#define MAX_COUNT 65536

/* In the order in which they are measured; the last has no name. */
extern const struct workload workloads[];

/* Returns NULL where there is none of that name. */
extern const struct workload *workload_find (const char *name);

/* The size of every backend. */
#define BACKEND_SIZE (INT64_C (1) << 30)

/* A connection past the filter.  Returns NULL after telling the error. */
extern nbdkit_next *connection_open (nbdkit_backend *backend);
extern void connection_close (nbdkit_next *next);

/* Its file. */
extern const char *connection_path (nbdkit_next *next);

#endif /* BENCH_CONNECTION_H */
