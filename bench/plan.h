/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What the command line asks for. */

#ifndef BENCH_PLAN_H
#define BENCH_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "connection.h"
#include "layer.h"

#define MAX_SIDES 16
#define MAX_WORKLOADS 16
#define MAX_THREAD_COUNTS 16

struct plan {
  struct side sides[MAX_SIDES]; /* the first is the filter bypassed */
  unsigned nr_sides;
  const struct workload *workloads[MAX_WORKLOADS];
  unsigned nr_workloads;
  unsigned threads[MAX_THREAD_COUNTS];
  unsigned nr_threads;
  bool one_connection;
  bool pin;                     /* spread the threads over the CPUs */
  bool profile;                 /* the last side only, in this process */
  unsigned rounds;
  double seconds;
  uint64_t requests;            /* 0: as many as fit into the seconds */
  unsigned connections;         /* not 0: measure memory, not speed */
  char directory[256];          /* for the workloads' files */
};

/* Read the command line; ends the program where it is wrong. */
extern void plan_parse (struct plan *plan, int argc, char *argv[]);

#endif /* BENCH_PLAN_H */
