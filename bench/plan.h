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
#include "measure.h"
#include "table.h"

#define MAX_SIDES 16
#define MAX_WORKLOADS 16
#define MAX_THREAD_COUNTS 16
#define MAX_OTHERS 16

struct plan {
  struct side sides[MAX_SIDES]; /* the first is the filter bypassed */
  unsigned nr_sides;
  const struct workload *workloads[MAX_WORKLOADS];
  unsigned nr_workloads;
  unsigned threads[MAX_THREAD_COUNTS];
  unsigned nr_threads;
  unsigned per_connection;      /* so many threads share a connection */
  struct others others[MAX_OTHERS]; /* the first is nobody */
  unsigned nr_others;
  bool pin;                     /* spread the threads over the CPUs */
  bool profile;                 /* the last side only, in this process */
  unsigned rounds;
  double seconds;
  uint64_t requests;            /* 0: as many as fit into the seconds */
  unsigned connections;         /* that come and go */
  int (*table) (const struct plan *plan); /* measures, and prints a table */
  char directory[256];          /* for the workloads' files */
};

/* Read the command line; ends the program where it is wrong. */
extern void plan_parse (struct plan *plan, int argc, char *argv[]);

/* What a measurement has from the plan; the caller adds the rest. */
extern struct load plan_load (const struct plan *plan, unsigned side);

/* How many columns to show: the last is for ratios to the first filter, and
 * gets its title if there is another.
 */
extern unsigned plan_columns (const struct plan *plan,
                              struct column *columns, unsigned count);

/* Call fn for each backend and number of threads; ends as it does where
 * that is -1.
 */
extern int plan_cells (const struct plan *plan,
                       int (*fn) (const struct plan *plan,
                                  const struct workload *workload,
                                  unsigned threads));

/* Call fn (arg, i) for each i below count, in each round, beginning with
 * another one each time, so that none has a better place.  Ends with -1
 * where fn does.
 */
extern int plan_in_turn (const struct plan *plan, unsigned count,
                         int (*fn) (void *arg, unsigned i), void *arg);

#endif /* BENCH_PLAN_H */
