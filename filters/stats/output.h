/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Where reports go: standard error, the system log or a file. */

#ifndef STATS_OUTPUT_H
#define STATS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

struct output;

/* What becomes of a regular file. */
enum output_mode {
  OUTPUT_NEW,                   /* the first report replaces what it holds,
                                   further ones are added to it */
  OUTPUT_LATEST,                /* each report replaces what it holds */
  OUTPUT_APPEND,                /* each report is added to what it holds */
};

/* How an output tells an error: printf-like, one line without newline. */
typedef void (*output_error_fn) (const char *fmt, ...)
  __attribute__ ((format (printf, 1, 2)));

/* Get ready to write reports to path, an absolute file name, or NULL for
 * standard error.  Call it while errors still reach the user.  A file is
 * opened, and created where it is not there, so that one that cannot be
 * written is told now; what it holds stays until a report is complete.
 * Returns NULL after telling the error.
 */
extern struct output *output_open (const char *path, enum output_mode mode,
                                   output_error_fn error);
extern void output_close (struct output *output);

/* Do reports go to the file that is open as fd? */
extern bool output_leads_to (const struct output *output, int fd);

/* The server has forked: if standard error now leads nowhere and did not
 * before, text goes to the system log.  If there is none, that is told on
 * standard error as it was.
 */
extern void output_after_fork (struct output *output);
extern bool output_is_syslog (const struct output *output);

/* Will the next report be the first of ours where it goes?  So it is in a
 * new file after the one with the last report was moved away or emptied, and
 * for another reader of a FIFO.  Of what is no file, nothing is known.
 */
extern bool output_at_top (const struct output *output);

/* Write one report.  A regular file is replaced in one step by a complete
 * one where that is possible, or gets the report in one write where it is
 * added to; a report that cannot be written whole leaves the file as it
 * was.  Nobody who reads is waited for longer than five seconds.  Returns
 * 0, or -1 after telling the error; of reports that fail one after the
 * other only the first does, and the last.  One thread at a time.
 */
extern int output_write (struct output *output, const char *report,
                         size_t size, bool last);

/* There was no memory for a report; tell that as a lost write is told. */
extern void output_lost (struct output *output, bool last);

/* A word or two for debug messages: where reports go. */
extern const char *output_name (const struct output *output);

#endif /* STATS_OUTPUT_H */
