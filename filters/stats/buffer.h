/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A stream that writes to memory, like open_memstream, but one whose
 * ferror and fclose surely tell when memory ran out.
 */

#ifndef STATS_BUFFER_H
#define STATS_BUFFER_H

#include <stddef.h>
#include <stdio.h>

struct buffer {
  char *data;                   /* the caller frees it; NULL before a write */
  size_t size;                  /* bytes written and flushed */
  size_t capacity;
};

/* Returns NULL and sets errno when there is no memory.  buffer must
 * outlive the stream.
 */
extern FILE *buffer_open (struct buffer *buffer);

/* Close the stream.  Returns -1 where any of it could not be stored. */
extern int buffer_close (FILE *fp);

#endif /* STATS_BUFFER_H */
