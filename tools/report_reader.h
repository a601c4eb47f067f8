/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Reads reports of the filter with statsformat=json back into the snapshots
 * that they were written from, so that the filter's own code can tell them
 * in any other form: what filters/stats/json.c writes, a function for each
 * object in it.
 *
 * Whatever is in a file, it is read to the end or told what is wrong with
 * it, in one line with the file and the line; nothing in it can make the
 * rest of the program fail.
 */

#ifndef TOOLS_REPORT_READER_H
#define TOOLS_REPORT_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "json_input.h"
#include "json_stream.h"
#include "report.h"
#include "snapshot.h"

/* The schema that is read, and how many layers there can be. */
#define REPORT_SCHEMA 2
#define MAX_LAYERS 100

/* One report.  Strings in it live until the next is read. */
struct stored_report {
  bool final;
  bool headed;                  /* statsappend or statslabel */
  bool full;                    /* statsdetail, of a final report */
  unsigned line;                /* in its file */
  const char *filter_version;

  /* In a final report all since the start, in an interval what happened in
   * it.  clock_now is not known: its start is an arbitrary number.
   */
  struct snapshot snapshot;
  uint64_t now_ns;              /* elapsed since the start */
};

struct report_reader {
  struct json_stream stream;
  struct json_object *object;   /* of the report that was read last */
};

/* "-" is standard input.  Returns -1 after telling the error. */
extern int report_reader_open (struct report_reader *reader,
                               const char *file);
extern void report_reader_close (struct report_reader *reader);

/* The next report, into one that is all 0 or has the one before.
 * NEXT_ERROR comes after telling the error.
 */
extern enum next report_reader_next (struct report_reader *reader,
                                     struct stored_report *report);

/* After the last one. */
extern void stored_report_free (struct stored_report *report);

/* Fill in a report from an object.  Returns -1 after telling the error;
 * for report_reader_next, and for files that hold reports in their own.
 */
extern int report_read (struct json_source *source,
                        struct json_object *object,
                        struct stored_report *report);

/* Whether the object is a final report.  One that is no interval either is told
 * to be no report.
 */
extern bool report_is_final (const struct input *root);

#endif /* TOOLS_REPORT_READER_H */
