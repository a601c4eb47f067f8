/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What the command line of "overhead" asks for. */

#ifndef TOOLS_OVERHEAD_PLAN_H
#define TOOLS_OVERHEAD_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "load.h"
#include "workload.h"

#define MAX_SIDES 16
#define MAX_LIST 16
#define MAX_ROUNDS 100

/* A filter with its parameters; or none: the first, which is bypassed. */
struct side {
  const char *name;             /* for the tables */
  const char *filter;           /* as nbdkit takes it, or NULL */
  char **params;                /* KEY=VALUE */
  unsigned nr_params;
};

struct list {
  uint64_t values[MAX_LIST];
  unsigned count;
};

struct plan {
  unsigned measures;            /* a bit for each, see overhead_tables.h */
  struct side sides[MAX_SIDES]; /* the first is the filter bypassed */
  unsigned nr_sides;
  const struct workload *backends[MAX_LIST];
  unsigned nr_backends;
  struct list threads;
  struct list cold;             /* bytes to walk */
  struct list idle, gone;       /* threads beside others */
  uint64_t sharing;             /* so many threads share a connection */
  uint64_t writes;              /* of two requests: 0, 1, 2 */
  bool pin;                     /* spread the threads over the CPUs */
  bool clocks;                  /* measure two readings of the clock, too */
  bool json;                    /* instead of text */
  const char *output;           /* JSON goes to this file, or NULL */
  unsigned rounds;
  uint64_t duration;            /* of one measurement, in ns */
  uint64_t connections;         /* that come and go */
  const char *nbdkit;           /* the program */
  uint64_t timeout;             /* for one measurement beyond that, in ns */

  /* What is not asked for but set as it goes. */
  const char *directory;        /* for all that has to be a file */
  int64_t thread_model;         /* the strictest of the filters' */
};

/* What a measurement has from the plan; the caller adds the rest. */
extern struct job plan_job (const struct plan *plan);

/* The side that others are compared to: the first after --against. */
extern unsigned plan_other (const struct plan *plan);

/* How many of so many threads nbdkit would let all filters have at a time,
 * where as many as it says share a connection.
 */
extern uint64_t plan_threads (const struct plan *plan, uint64_t threads,
                              uint64_t sharing);

/* Call fn (arg, i) for each i below count, in each round, beginning with
 * another one each time, so that none has a better place.  Ends with -1
 * where fn does.
 */
extern int plan_in_turn (const struct plan *plan, unsigned count,
                         int (*fn) (void *arg, unsigned i), void *arg);

#endif /* TOOLS_OVERHEAD_PLAN_H */
