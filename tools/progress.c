/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clock.h"
#include "progress.h"

void
progress_start (struct progress *progress, unsigned all)
{
  struct winsize size;

  *progress = (struct progress) {
    .shown = isatty (STDERR_FILENO),
    .begin = clock_now (),
    .all = all,
    .width = 80,
  };
  if (ioctl (STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
    progress->width = size.ws_col;
}

/* As those before took.  Empty where there were none. */
static void
time_left (const struct progress *progress, char *buf, size_t size)
{
  uint64_t spent = clock_since (progress->begin, clock_now ()) / NS_PER_S;
  uint64_t left;

  buf[0] = '\0';
  if (progress->done == 0)
    return;
  left = spent * (progress->all - progress->done) / progress->done;
  snprintf (buf, size, ", %" PRIu64 ":%02" PRIu64 " left", left / 60,
            left % 60);
}

void
progress_show (struct progress *progress, const char *row, const char *column,
               uint64_t run, uint64_t runs)
{
  char line[256], left[64];

  if (!progress->shown)
    return;
  time_left (progress, left, sizeof left);
  snprintf (line, sizeof line, "%u/%u%s: %s%s%s, run %" PRIu64 " of %" PRIu64,
            progress->done + 1, progress->all, left, row,
            *column ? ", " : "", column, run, runs);
  /* A line that breaks is not written anew but once more. */
  fprintf (stderr, "\r\033[K%.*s", (int) progress->width - 1, line);
}

void
progress_count (struct progress *progress)
{
  if (progress->done < progress->all)
    progress->done++;
}

void
progress_clear (const struct progress *progress)
{
  if (progress->shown)
    fputs ("\r\033[K", stderr);
}
