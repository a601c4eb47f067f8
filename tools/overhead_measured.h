/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What all rounds of one measurement gave, for each side, and the cells of
 * tables that follow from that.
 */

#ifndef TOOLS_OVERHEAD_MEASURED_H
#define TOOLS_OVERHEAD_MEASURED_H

#include "overhead_server.h"

/* Of one request, if nothing else is said; see struct timing in load.h. */
enum figure {
  NS, PER_SECOND, CPU_NS, OWN_CPU_NS,
  IN_FILTER_CPU_NS,             /* with the filter's own threads */
  IN_FILTER_NS, MEDIAN_NS, LONGEST_CPU_US, LONGEST_US,
  FIRST_CPU_US, FIRST_US,
  ALL_MS,                       /* until all were done */
  REQUESTS,                     /* how many there were */
  INSTRUCTIONS,

  /* In bytes. */
  HEAP, RESIDENT,               /* of a thread */
  OWN_HEAP, OWN_RESIDENT,       /* the filter's part of that */
  HEAP_GREW,                    /* with the second half of connections */
  LEAK_CONNECTION, LEAK_REQUEST, /* with each */

  OWN_THREADS, FILES_LEFT,      /* how many */
  THREADS, WALKED, IDLE, GONE,  /* as the job says, in all rounds */
  NR_FIGURES,
  NO_FIGURE = NR_FIGURES,
};

/* One figure in all rounds. */
struct samples {
  unsigned count;
  double values[MAX_ROUNDS];
};

/* It is large: not for the stack. */
struct measured {
  struct measurement m;         /* but for the side */
  bool once;                    /* not in rounds: each figure is a number */
  struct samples figures[NR_FIGURES][MAX_SIDES];
};

/* With the backend, and plan_job for a job. */
extern void measured_init (struct measured *measured, const struct plan *plan,
                           const struct workload *backend);

/* How many sides there are to it: only clocks need no filter. */
extern unsigned measured_sides (const struct measured *measured);

/* One more round of a side, or as many of all sides in turn as the plan
 * has.  Return -1 where one failed, which is told.
 */
extern int measured_round (struct measured *measured, unsigned side);
extern int measured_rounds (struct measured *measured);

/* Or a figure that came about in another way. */
extern void measured_add (struct measured *measured, unsigned side,
                          enum figure figure, double value);

/* What stands in a place of a table. */
struct cell {
  enum { CELL_EMPTY, CELL_TEXT, CELL_NUMBER, CELL_MEDIAN } kind;
  const char *text;
  double number;
  double min, max;              /* of the rounds whose median it is */
  unsigned rounds;
};

/* What it is for a side.  Those of no figure take NO_FIGURE. */
typedef struct cell cell_fn (const struct measured *measured, unsigned side,
                             enum figure figure);

/* What was measured: of no figure. */
extern cell_fn measured_through, measured_backend;

/* A figure; how much more it is than of the filter bypassed; its ratio to
 * that; its ratio to the side that others are compared to, and that of how
 * much more it is.
 */
extern cell_fn measured_figure, measured_added, measured_to_bypassed,
  measured_to_other, measured_added_to_other;

/* Of all rounds the greatest, which is also what they have in common, and
 * the sum.
 */
extern cell_fn measured_max, measured_sum;

/* A figure's ratio to that of another side, or of another measurement that
 * was made in the same rounds.
 */
extern struct cell measured_ratio (const struct measured *measured,
                                   unsigned side,
                                   const struct measured *base,
                                   unsigned base_side, enum figure figure);

#endif /* TOOLS_OVERHEAD_MEASURED_H */
