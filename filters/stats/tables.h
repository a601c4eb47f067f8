/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The tables of the text report that follow its first block. */

#ifndef STATS_TABLES_H
#define STATS_TABLES_H

#include <stdio.h>

#include "snapshot.h"

/* All tables of a layer that have something to say, each under a heading
 * and behind an empty line.
 */
extern void tables_write (FILE *fp, const struct recorder_totals *layer,
                          const struct snapshot *snapshot);

/* How many requests and bytes the lower of two layers had for each of the
 * upper.
 */
extern void amplification_write (FILE *fp,
                                 const struct recorder_totals *upper,
                                 const struct recorder_totals *lower);

#endif /* STATS_TABLES_H */
