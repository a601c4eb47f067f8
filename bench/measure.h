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
#include "stopwatch.h"

/* Threads that sent a few requests and now wait for others, or have ended
 * and closed their connections.
 */
struct others {
  unsigned count;
  bool gone;
};

struct load {
  const struct side *side;      /* NULL: two clock reads and nothing else */
  const struct workload *workload;
  const char *directory;
  unsigned threads;
  unsigned per_connection;      /* so many threads share a connection */
  bool pin;                     /* spread the threads over the CPUs */
  bool watch;                   /* what each request spends in the filter */
  bool at_once;                 /* open the connections with the requests */
  struct others others;         /* threads beside these */
  double seconds;
  uint64_t requests;            /* of each thread; 0: as many as fit into
                                   the seconds */
};

/* In nanoseconds. */
struct timing {
  /* Of one request. */
  double ns;                    /* as its thread sees it */
  double cpu_ns;                /* processor time of all threads */

  /* If watched, the same without the backend and whoever sends: of the
   * processor time what is spent in the filter, and by its own threads.
   */
  double filter_cpu_ns;
  double own_cpu_ns;
  struct spent first, longest;  /* of a thread's first one; of any */

  double all_ns;                /* until all requests were done */
};

/* Measure in a child process.  Returns -1 after telling the error. */
extern int measure (const struct load *load, struct timing *timing);

#endif /* BENCH_MEASURE_H */
