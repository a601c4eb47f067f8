/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* All that is counted of one operation.
 *
 * Gaps between requests are counted as if they were requests without bytes:
 * of these only how many, how long and the longest mean anything.
 */

#ifndef STATS_OP_TOTALS_H
#define STATS_OP_TOTALS_H

#include "extremes.h"
#include "tally.h"

struct op_totals {
  struct tally tally;
  struct failures failures;
  struct extremes extremes;
};

#endif /* STATS_OP_TOTALS_H */
