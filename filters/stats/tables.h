/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The tables of the text report.  Which of them stand in it, and in which
 * order, text.c says.
 */

#ifndef STATS_TABLES_H
#define STATS_TABLES_H

#include <stddef.h>
#include <stdio.h>

#include "snapshot.h"

/* Write a table about the layer at this place, the one nearest the client
 * being at 0: behind an empty line a heading and its rows, of at most 80
 * columns.  One that has nothing to say is left out.
 */
typedef void table_fn (FILE *fp, const struct snapshot *snapshot,
                       size_t place);

extern table_fn table_latency;
extern table_fn table_in_flight;
extern table_fn table_depths;   /* latency by requests in flight */
extern table_fn table_sizes;
extern table_fn table_alignment;
extern table_fn table_block_fit;
extern table_fn table_kinds;    /* sequential, and flags */
extern table_fn table_failures;
extern table_fn table_slowest;
extern table_fn table_openings;
extern table_fn table_amplification;    /* against the layer above */

#endif /* STATS_TABLES_H */
