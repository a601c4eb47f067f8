/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* How the program tells errors: one line each on standard error, which
 * begins with its name.
 */

#ifndef TOOLS_ERRORS_H
#define TOOLS_ERRORS_H

/* How the program ends. */
enum exit_status {
  STATUS_OK = 0,
  STATUS_FAILED = 1,            /* something that was measured failed */
  STATUS_BAD = 2,               /* the command line, or what it names, is bad */
  STATUS_ABOVE = 3,             /* compare: more than --fail-above */
};

/* "nbdkit-stats: MESSAGE".  printf-like, without newline.  %m is that of
 * errno.  What would break the line or change a terminal, in a file's name
 * say, is told as \xHH.  Any thread may call it.
 */
extern void tell_error (const char *fmt, ...)
  __attribute__ ((format (printf, 1, 2)));

/* "nbdkit-stats: FILE: MESSAGE", or "nbdkit-stats: FILE:LINE: MESSAGE"
 * where the line is known; it is 0 otherwise.
 */
extern void tell_error_at (const char *file, unsigned line,
                           const char *fmt, ...)
  __attribute__ ((format (printf, 3, 4)));

#endif /* TOOLS_ERRORS_H */
