/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What a filter knows of the server that loaded it.  nbdkit keeps these
 * types to itself; here this program is the server.
 */

#ifndef BENCH_SERVER_H
#define BENCH_SERVER_H

#include <stdbool.h>

#include <nbdkit-filter.h>

#if NBDKIT_VERSION_MAJOR > 1 || NBDKIT_VERSION_MINOR >= 30
#define HAVE_BLOCK_SIZE 1
#endif

struct workload;

/* All that lies behind the filter, on every connection. */
struct nbdkit_backend {
  const struct workload *workload;
  const char *directory;        /* for the workload's files */
  bool watch;                   /* stop the watch while the backend works */
  _Atomic unsigned connections; /* opened so far, to number them */
};

/* The filter's side of one connection. */
struct nbdkit_context {
  struct nbdkit_backend *backend;
  nbdkit_next *next;            /* NULL before the filter opened it */
};

/* Print what filters say with nbdkit_debug. */
extern bool server_verbose;

#endif /* BENCH_SERVER_H */
