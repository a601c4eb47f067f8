/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "memory.h"

static void *
must_have (void *memory)
{
  if (memory == NULL) {
    tell_error ("out of memory");
    exit (STATUS_BAD);
  }
  return memory;
}

void *
get_memory (size_t nr, size_t size)
{
  return must_have (calloc (nr ? nr : 1, size));
}

char *
copy_string (const char *s)
{
  return must_have (strdup (s));
}

char *
copy_bytes (const char *s, size_t len)
{
  char *copy = get_memory (len + 1, 1);

  memcpy (copy, s, len);
  return copy;
}

char *
format_string (const char *fmt, ...)
{
  va_list args;
  char *s;

  va_start (args, fmt);
  if (vasprintf (&s, fmt, args) == -1)
    s = NULL;
  va_end (args);
  return must_have (s);
}

void *
grow (void *array, size_t nr, size_t size)
{
  /* To a power of two, so that a long one is not copied each time. */
  if ((nr & (nr - 1)) == 0)
    array = must_have (reallocarray (array, nr ? 2 * nr : 1, size));
  memset ((char *) array + nr * size, 0, size);
  return array;
}
