/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The account of time as people and programs read it: the names of its
 * states, and its table in the text report.
 */

#ifndef STATS_ACCOUNT_H
#define STATS_ACCOUNT_H

#include <stdint.h>
#include <stdio.h>

#include "snapshot.h"

/* The state's name for programs: one word, and the operation's own where one
 * is alone in flight.
 */
extern const char *account_state_name (enum account_state state);

/* A table (tables.h): how long each state was, the longest first, in seconds
 * and in percent of the elapsed time, which is the sum; behind an empty line.
 * What would be rounded to 0 is left out, and all of it where no time passed.
 */
extern void table_account (FILE *fp, const struct snapshot *snapshot,
                           size_t place);

#endif /* STATS_ACCOUNT_H */
