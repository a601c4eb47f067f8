/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "errors.h"

#define LINE_LEN 2048

/* One line with nothing in it that a terminal would obey.  What is above
 * ASCII is left alone, since names are mostly UTF-8.
 */
static void
write_line (const char *s)
{
  flockfile (stderr);
  for (; *s; s++) {
    const unsigned char c = (unsigned char) *s;

    if (c < 0x20 || c == 0x7f)
      fprintf (stderr, "\\x%02x", c);
    else
      fputc (c, stderr);
  }
  fputc ('\n', stderr);
  funlockfile (stderr);
}

/* place is what stands before the message; too long a line is cut. */
static void __attribute__ ((format (printf, 2, 0)))
tell (const char *place, const char *fmt, va_list args)
{
  const int error = errno;
  char line[LINE_LEN];
  const int n = snprintf (line, sizeof line, "nbdkit-stats: %s", place);

  errno = error;
  if (n > 0 && (size_t) n < sizeof line)
    vsnprintf (line + n, sizeof line - (size_t) n, fmt, args);
  write_line (line);
}

void
tell_error (const char *fmt, ...)
{
  va_list args;

  va_start (args, fmt);
  tell ("", fmt, args);
  va_end (args);
}

void
tell_error_at (const char *file, unsigned line, const char *fmt, ...)
{
  const int error = errno;
  char place[LINE_LEN / 2];
  va_list args;

  if (line)
    snprintf (place, sizeof place, "%s:%u: ", file, line);
  else
    snprintf (place, sizeof place, "%s: ", file);
  errno = error;
  va_start (args, fmt);
  tell (place, fmt, args);
  va_end (args);
}
