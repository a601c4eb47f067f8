/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "errors.h"

int
bad_usage (char *argv[], const char *fmt, ...)
{
  char message[1024];
  va_list args;

  va_start (args, fmt);
  vsnprintf (message, sizeof message, fmt, args);
  va_end (args);
  tell_error ("%s: %s; see nbdkit-stats %s --help", argv[0], message,
              argv[0]);
  return STATUS_BAD;
}

/* Why not all could be written, the first time: the stream tells only that
 * it was so.
 */
static int output_errno;

void
flush_output (void)
{
  if (fflush (stdout) != 0 && output_errno == 0)
    output_errno = errno;
}

int
finish_output (int status)
{
  flush_output ();
  if (!ferror (stdout))
    return status;
  if (output_errno)
    errno = output_errno;
  tell_error ("standard output: %m");
  return STATUS_BAD;
}

/* What getopt_long has just refused.  It has no short options to tell, and
 * a long one is the argument before the next.
 */
static int
refuse_option (int c, char *argv[])
{
  return bad_usage (argv, c == ':' ? "%s needs a value" : "unknown option %s",
                    argv[optind - 1]);
}

/* order is what getopt's string of short options begins with. */
static int
next_in_order (int argc, char *argv[], const struct option *options,
               const char *help, const char *order)
{
  int c;

  opterr = 0;
  c = getopt_long (argc, argv, order, options, NULL);
  switch (c) {
  case 'h':
    fputs (help, stdout);
    exit (finish_output (STATUS_OK));
  case '?':
  case ':':
    exit (refuse_option (c, argv));
  }
  return c;
}

int
next_option (int argc, char *argv[], const struct option *options,
             const char *help)
{
  return next_in_order (argc, argv, options, help, ":");
}

int
next_word (int argc, char *argv[], const struct option *options,
           const char *help)
{
  return next_in_order (argc, argv, options, help, "-:");
}
