/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdbool.h>
#include <string.h>

#include "zero.h"

#define PIECE 4096u

/* Every byte is like the one before it, and the first is zero. */
static bool
is_zero (const char *buf, uint32_t count)
{
  return buf[0] == 0 && memcmp (buf, buf + 1, count - 1) == 0;
}

uint32_t
zero_bytes (const void *buf, uint32_t count, uint64_t offset)
{
  const char *p = buf;
  uint32_t zeros = 0;
  uint32_t n = PIECE - (uint32_t) (offset % PIECE);

  while (count > 0) {
    if (n > count)
      n = count;
    if (is_zero (p, n))
      zeros += n;
    p += n;
    count -= n;
    n = PIECE;
  }
  return zeros;
}
