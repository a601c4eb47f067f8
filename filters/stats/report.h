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

/* One line of at most 80 columns: what happened in the layer nearest the
 * client in an interval that ended now.  row counts them from 0; every
 * twentieth has a header, with headed as in text_write.
 */
extern void text_write_row (FILE *fp, const struct snapshot *interval,
                            const struct snapshot *now, unsigned row,
                            bool headed);

/* The line that says when and which process. */
extern void text_write_head (FILE *fp, const struct snapshot *snapshot);

/* One line of JSON for programs: a "final" report of the snapshot or, with
 * an interval, an "interval" report of that and "cumulative" of the
 * snapshot.  Errors are left to ferror.
 */
extern void json_write (FILE *fp, const struct snapshot *snapshot,
                        const struct snapshot *interval);

/* The Prometheus text exposition format, 0.0.4, without time stamps.
 * Errors are left to ferror.  The caller sees to the C locale.
 */
extern void prometheus_write (FILE *fp, const struct snapshot *snapshot);

#endif /* STATS_REPORT_H */
