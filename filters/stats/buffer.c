/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "buffer.h"

static int
reserve (struct buffer *buffer, size_t size)
{
  size_t capacity = buffer->capacity ? buffer->capacity : 8192;
  char *data;

  while (capacity < size)
    capacity *= 2;
  if (capacity == buffer->capacity)
    return 0;
  data = realloc (buffer->data, capacity);
  if (data == NULL)
    return -1;
  buffer->data = data;
  buffer->capacity = capacity;
  return 0;
}

static ssize_t
write_buffer (void *cookie, const char *data, size_t size)
{
  struct buffer *buffer = cookie;

  if (reserve (buffer, buffer->size + size) == -1)
    return 0;                   /* what stdio takes for an error */
  memcpy (buffer->data + buffer->size, data, size);
  buffer->size += size;
  return (ssize_t) size;
}

FILE *
buffer_open (struct buffer *buffer)
{
  memset (buffer, 0, sizeof *buffer);
  return fopencookie (buffer, "w", (cookie_io_functions_t) {
    .write = write_buffer,
  });
}

int
buffer_close (FILE *fp)
{
  const int bad = ferror (fp);

  return fclose (fp) == EOF || bad ? -1 : 0;
}
