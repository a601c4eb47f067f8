/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Tells how far a benchmark is: on a terminal in one line that is written
 * anew, and elsewhere not at all.
 */

#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
  bool shown;
  uint64_t begin;               /* a time of clock_now */
  unsigned done, all;           /* runs */
  unsigned width;               /* of the terminal */
};

extern void progress_start (struct progress *progress, unsigned all);

/* One run, which is about to begin. */
extern void progress_show (struct progress *progress, const char *row,
                           const char *column, uint64_t run, uint64_t runs);

/* It has ended. */
extern void progress_count (struct progress *progress);

/* Make way for other output. */
extern void progress_clear (const struct progress *progress);

#endif /* TOOLS_PROGRESS_H */
