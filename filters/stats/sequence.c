/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <string.h>

#include "sequence.h"

static unsigned
hash (uint64_t end)
{
  return (unsigned) ((end >> 9) * UINT64_C (0x9e3779b97f4a7c15)
                     >> (64 - SEQUENCE_HASH_BITS));
}

/* False where certainly none ends there. */
static bool
one_may_end_at (const struct sequence *sequence, uint64_t offset)
{
  const unsigned h = hash (offset);

  return (sequence->hashes[0][h / 64] | sequence->hashes[1][h / 64])
    >> h % 64 & 1;
}

static void
add_hash (struct sequence *sequence, unsigned place, uint64_t end)
{
  const unsigned h = hash (end);

  if (place == 0) {
    memcpy (sequence->hashes[1], sequence->hashes[0],
            sizeof sequence->hashes[1]);
    memset (sequence->hashes[0], 0, sizeof sequence->hashes[0]);
  }
  sequence->hashes[0][h / 64] |= UINT64_C (1) << h % 64;
}

static bool
one_ends_at (const struct sequence *sequence, uint64_t offset)
{
  if (!one_may_end_at (sequence, offset))
    return false;
  for (unsigned i = 0; i < sequence->used; i++) {
    if (sequence->ends[i] == offset)
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
  for (unsigned i = 0; i < sequence->used; i++) {
    if ((sequence->loose >> i & 1)
        && sequence->ends[i] - sequence->counts[i] == offset)
      return (int) i;
  }
  return -1;
}

static void
remember (struct sequence *sequence, uint64_t offset, uint32_t count,
          bool follows)
{
  const unsigned place = sequence->next++ % SEQUENCE_WINDOW;
  const uint32_t bit = UINT32_C (1) << place;

  if (sequence->used < SEQUENCE_WINDOW)
    sequence->used++;
  sequence->ends[place] = offset + count;
  sequence->counts[place] = count;
  sequence->failed &= ~bit;
  sequence->loose = follows ? sequence->loose & ~bit : sequence->loose | bit;
  add_hash (sequence, place, offset + count);
}

static void
found_one (struct sequence_found *found, uint32_t count)
{
  found->requests++;
  found->small += count < SEQUENCE_SMALL;
}

struct sequence_found
sequence_add (struct sequence *sequence, uint64_t offset, uint32_t count)
{
  const bool follows = one_ends_at (sequence, offset);
  struct sequence_found found = { 0 };
  uint64_t end = offset + count;
  int i;

  if (follows) {
    found_one (&found, count);
    while ((i = find_loose (sequence, end)) != -1) {
      sequence->loose &= ~(UINT32_C (1) << i);
      end = sequence->ends[i];
      /* One that failed is in its place on the disk all the same. */
      if ((sequence->failed >> i & 1) == 0)
        found_one (&found, sequence->counts[i]);
    }
  }
  remember (sequence, offset, count, follows);
  return found;
}

/* Of one that has left the window it is not known. */
bool
sequence_fail (struct sequence *sequence, uint32_t number)
{
  const uint32_t bit = UINT32_C (1) << number % SEQUENCE_WINDOW;

  if (sequence->next - number > SEQUENCE_WINDOW)
    return false;
  sequence->failed |= bit;
  return (sequence->loose & bit) == 0;
}
