/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* How long a request takes. */

#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "layer.h"

#define MAX_THREADS 256

struct load {
  const struct side *side;      /* NULL: two clock reads and nothing else */
  const struct workload *workload;
  const char *directory;
  unsigned threads;
  bool one_connection;          /* for all threads, or one for each */
  bool pin;                     /* spread the threads over the CPUs */
  double seconds;
  uint64_t requests;            /* of each thread; 0: as many as fit into
                                   the seconds */
};

/* Nanoseconds of one request. */
struct timing {
  double ns;                    /* as its thread sees it */
  double cpu_ns;                /* without waiting for other threads */
};

/* Measure in a child process.  Returns -1 after telling the error. */
extern int measure (const struct load *load, struct timing *timing);

#endif /* BENCH_MEASURE_H */
