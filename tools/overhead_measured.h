/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What all rounds of one measurement gave, for each side. */

#ifndef TOOLS_OVERHEAD_MEASURED_H
#define TOOLS_OVERHEAD_MEASURED_H

#include "overhead_server.h"

/* Of one request, but for the last ones; see struct timing in load.h. */
enum figure {
  NS, PER_SECOND, CPU_NS, OWN_CPU_NS,
  IN_FILTER_CPU_NS,             /* with the filter's own threads */
  IN_FILTER_NS, MEDIAN_NS, LONGEST_CPU_US, LONGEST_US,
  FIRST_CPU_US, FIRST_US,
  ALL_MS,                       /* until all were done */
  REQUESTS,                     /* how many there were */
  NR_FIGURES,
};

/* It is large: not for the stack. */
struct measured {
  struct measurement m;         /* but for the side */
  struct samples figures[NR_FIGURES][MAX_SIDES];
};

/* With the backend, and plan_job for a job. */
extern void measured_init (struct measured *measured, const struct plan *plan,
                           const struct workload *backend);

/* One more round of a side, or as many of all sides in turn as the plan
 * has.  Return -1 where one failed, which is told.
 */
extern int measured_round (struct measured *measured, unsigned side);
extern int measured_rounds (struct measured *measured);

/* For the tables: a figure; how much more it is than of the filter
 * bypassed; a ratio to the same of another side; and, of how much more it
 * is, a ratio to the same of the side that others are compared to.
 */
extern struct cell measured_cell (const struct measured *measured,
                                  enum figure figure, unsigned side);
extern struct cell measured_added (const struct measured *measured,
                                   enum figure figure, unsigned side);
extern struct cell measured_ratio (const struct measured *measured,
                                   enum figure figure, unsigned side,
                                   unsigned other);
extern struct cell measured_added_ratio (const struct measured *measured,
                                         enum figure figure, unsigned side);

/* The worst of all rounds, and the sum. */
extern struct cell measured_max (const struct measured *measured,
                                 enum figure figure, unsigned side);
extern struct cell measured_sum (const struct measured *measured,
                                 enum figure figure, unsigned side);

#endif /* TOOLS_OVERHEAD_MEASURED_H */
