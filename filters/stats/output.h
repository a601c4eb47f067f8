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

/* How an output tells an error: printf-like, one line without newline. */
typedef void (*output_error_fn) (const char *fmt, ...)
  __attribute__ ((format (printf, 1, 2)));

/* Get ready to write reports to path, an absolute file name, or NULL for
 * standard error.  Call it while errors still reach the user.  A file is
 * opened, and created where it is not there, so that one that cannot be
 * written is told now; what it holds stays until a report is complete.
 * append: add reports to the file instead of replacing what it holds.
 * Returns NULL after telling the error.
 */
extern struct output *output_open (const char *path, bool append,
                                   output_error_fn error);
extern void output_close (struct output *output);

/* The server has forked: if standard error now leads nowhere and did not
 * before, text goes to the system log.
 */
extern void output_after_fork (struct output *output);

/* Write one report.  A regular file is replaced in one step by a complete
 * one, or gets the report in one write where it is appended to; a report
 * that cannot be written whole leaves the file as it was.  Returns 0, or
 * -1 after telling the error.  One thread at a time.
 */
extern int output_write (struct output *output, const char *report,
                         size_t size);

/* A word or two for debug messages: where reports go. */
extern const char *output_name (const struct output *output);

#endif /* STATS_OUTPUT_H */
