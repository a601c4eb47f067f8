/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The formats of a report.  Each writes one snapshot to a stream. */

#ifndef STATS_REPORT_H
#define STATS_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "snapshot.h"

/* Plain text of 80 columns for people.  headed: begin with a line that
 * says when and which process, for files that take several reports.
 * Errors are left to ferror.  The caller sees to the C locale.
 */
extern void text_write (FILE *fp, const struct snapshot *snapshot,
                        bool headed);

#endif /* STATS_REPORT_H */
