/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Pipes, terminals and the like: written without ever waiting long. */

#ifndef STATS_STREAM_H
#define STATS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long readers may take.  All of one report has five seconds; after a
 * reader that took longer nobody waits again until it takes something.
 */
struct patience {
  uint64_t until;
  bool lost;
};

/* A report begins. */
extern void patience_begin (struct patience *patience);

/* A descriptor of our own for where fd leads, which must be open for
 * writing.  Others may share what is behind fd, so its flags stay: a pipe
 * or a terminal is opened once more, not to block, if we may; all else is
 * a duplicate.  Returns -1 and sets errno.
 */
extern int stream_dup (int fd);

/* Write all of it, mostly in one write.  Returns -1 and sets errno, to
 * ETIMEDOUT where the patience came to its end.
 */
extern int stream_write (int fd, const char *data, size_t size,
                         struct patience *patience);

#endif /* STATS_STREAM_H */
