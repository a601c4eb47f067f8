/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <string.h>
#include <sys/mman.h>

#include "cold.h"

/* No processor of today has shorter lines. */
#define LINE 64

/* All threads walk through one buffer: it is read only, so they do not
 * disturb each other more than reading does.
 */
static const volatile char *buffer;
static size_t length;

int
cold_start (size_t size)
{
  void *p;

  if (size == 0)
    return 0;
  p = mmap (NULL, size, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return -1;
  memset (p, 1, size);          /* or all pages are the one page of zeroes */
  buffer = p;
  length = size;
  return 0;
}

void
cold_end (void)
{
  if (length > 0)
    munmap ((void *) buffer, length);
  length = 0;
}

void
cold_walk (void)
{
  for (size_t i = 0; i < length; i += LINE)
    (void) buffer[i];
}
