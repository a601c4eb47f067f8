/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Reports: when they are written, of what, in which format and to where.
 *
 * One reporting serves all layers.  With an interval a thread of its own
 * takes a snapshot at each tick; the last report is written by whoever
 * calls reporting_finish.
 */

#ifndef STATS_REPORTING_H
#define STATS_REPORTING_H

#include <stdbool.h>
#include <stdint.h>

#include "output.h"
#include "recorder.h"
#include "report.h"
#include "settler.h"

/* The parameters, as the user gave them. */
struct report_options {
  const char *file;             /* absolute, or NULL for standard error */
  bool append;
  bool stdio_is_client;         /* it speaks to the server there */
  const struct report_format *format;
  bool full;                    /* see report.h */
  uint64_t interval_ns;         /* 0: only at the end */
  uint64_t threshold;           /* thousandths of a percent */
  uint64_t block;               /* bytes, 0: off */
  bool zero;
  int thread_model;             /* see snapshot.h */
  const char *nbdkit_version;
  const char *plugin;           /* its name, or NULL */
  const char *label;            /* the user's name for the run, or NULL */
  void (*debug) (const char *fmt, ...)  /* NULL: be silent */
    __attribute__ ((format (printf, 1, 2)));
};

struct reporting;

/* Open the output.  What options points to must stay.  Returns NULL after
 * telling the error.
 */
extern struct reporting *reporting_new (const struct report_options *options,
                                        output_error_fn error);
extern void reporting_free (struct reporting *reporting);

/* Make room for one more layer, while errors still reach the user.
 * Returns -1 after telling the error.
 */
extern int reporting_reserve_layer (struct reporting *reporting);

/* The server has forked: elapsed time begins.  All recorders are of this
 * settler.
 */
extern void reporting_start (struct reporting *reporting,
                             struct settler *settler);

/* One of the layers that there is room for, nearer the client than those
 * before.  The last one starts the interval reports.
 */
extern void reporting_add_layer (struct reporting *reporting,
                                 struct recorder *recorder);

/* End the interval reports and write the last report. */
extern void reporting_finish (struct reporting *reporting);

#endif /* STATS_REPORTING_H */
