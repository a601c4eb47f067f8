/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <string.h>

#include "sequence.h"

/* How many places are in use, without that of the request being added. */
static unsigned
used (const struct sequence *sequence)
{
  const uint64_t before = sequence->next - 1;

  return before < SEQUENCE_WINDOW ? (unsigned) before : SEQUENCE_WINDOW;
}

static bool
one_ends_at (const struct sequence *sequence, uint64_t offset)
{
  for (unsigned i = 0; i < used (sequence); i++) {
    if (sequence->last[i].end == offset)
      return true;
  }
  return false;
}

/* One that begins at offset and came before what it follows, or -1. */
static int
find_loose (const struct sequence *sequence, uint64_t offset)
{
  if (sequence->loose == 0)
    return -1;
  for (unsigned i = 0; i < used (sequence); i++) {
    if ((sequence->loose >> i & 1)
        && sequence->last[i].end - sequence->last[i].count == offset)
      return (int) i;
  }
  return -1;
}

static void
found_one (struct sequence_found *found, uint32_t count)
{
  found->requests++;
  found->small += count < SEQUENCE_SMALL;
}

void
sequence_look (struct sequence *sequence, uint64_t offset, uint32_t count,
               struct sequence_found *found)
{
  uint64_t end = offset + count;
  int i;

  if (!one_ends_at (sequence, offset))
    return;
  found_one (found, count);
  while ((i = find_loose (sequence, end)) != -1) {
    sequence->loose &= ~(UINT32_C (1) << i);
    end = sequence->last[i].end;
    /* One that failed is in its place on the disk all the same. */
    if ((sequence->failed >> i & 1) == 0)
      found_one (found, sequence->last[i].count);
  }
}

/* Of one that has left the window it is not known. */
bool
sequence_fail (struct sequence *sequence, uint64_t number)
{
  const uint32_t bit = UINT32_C (1) << number % SEQUENCE_WINDOW;

  if (sequence->next - number > SEQUENCE_WINDOW)
    return false;
  sequence->failed |= bit;
  return (sequence->loose & bit) == 0;
}
