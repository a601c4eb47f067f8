/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The formats of a report.  Each writes a report to a stream, and leaves
 * its errors to ferror.  The caller sees to the C locale.
 */

#ifndef STATS_REPORT_H
#define STATS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "output.h"
#include "snapshot.h"

/* What a report is written from. */
struct report {
  const struct snapshot *now;
  const struct snapshot *interval; /* what happened since the report before,
                                      in an interval report */
  unsigned intervals;           /* interval reports that came before it */
  bool full;                    /* text: all tables */
  bool at_top;                  /* nothing of this run is in the file yet */
  bool headed;                  /* say when and which process: the file may
                                   have reports of others, or the run has a
                                   label */
};

typedef void (*report_write_fn) (FILE *fp, const struct report *report);

struct report_format {
  const char *name;             /* as a value of statsformat */
  enum output_mode mode;        /* of a file that is not appended to */
  report_write_fn write_interval;
  report_write_fn write_final;
};

/* All of them; the last has no name.  The first is the default, and is
 * made of lines, as the system log takes them.
 */
extern const struct report_format report_formats[];

/* NULL where no format has that name. */
extern const struct report_format *report_format_find (const char *name);

/* Write the names into buf, as a list in plain words, and return it. */
extern const char *report_format_names (char *buf, size_t size);

/* Plain text of 80 columns for people: a row an interval, which is of the
 * layer nearest the client, with a header above every twentieth and at the
 * top of a file; and at the end all, or the most important of it.
 */
extern void text_write_row (FILE *fp, const struct report *report);
extern void text_write (FILE *fp, const struct report *report);

/* The line that says when and which process. */
extern void text_write_head (FILE *fp, const struct snapshot *snapshot);

/* JSON for programs, one object a line. */
extern void json_write_interval (FILE *fp, const struct report *report);
extern void json_write (FILE *fp, const struct report *report);

/* The Prometheus text exposition format, 0.0.4, without time stamps. */
extern void prometheus_write (FILE *fp, const struct report *report);

#endif /* STATS_REPORT_H */
