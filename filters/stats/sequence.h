/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Which requests follow one another on the disk?
 *
 * A request is sequential when it begins where another of the last few of
 * the same connection and operation ended.  A server hands one stream to
 * many threads, so requests come a little out of order: one that comes
 * before the one that it follows is remembered, and becomes sequential
 * when that one has come and is sequential itself.  (Without the last
 * condition a disk that is read backwards, one request at a time, would look
 * sequential.)
 *
 * So a stream of n requests has n - 1 sequential ones, as long as its first
 * comes first, and each other at most SEQUENCE_WINDOW requests before or
 * after the one that it follows.
 */

#ifndef STATS_SEQUENCE_H
#define STATS_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

/* nbdkit runs at most 16 threads for a connection by default: a request
 * may come 15 too late, and the one that it follows 15 too early.
 */
#define SEQUENCE_WINDOW 32u

/* All of it is small, since there is one for each connection and operation.
 *
 * Most requests of a random load follow none, so there is a quick way to
 * see that: a bit for each hash of an end.  Ends that have left the window
 * leave their bits behind until SEQUENCE_WINDOW more requests have come.
 */
#define SEQUENCE_HASH_BITS 10
#define SEQUENCE_HASH_WORDS ((1u << SEQUENCE_HASH_BITS) / 64)

struct sequence {
  uint64_t hashes[2][SEQUENCE_HASH_WORDS]; /* since a turn of the window, */
                                           /* and of the turn before */
  uint64_t ends[SEQUENCE_WINDOW];     /* where the last requests ended, */
  uint32_t counts[SEQUENCE_WINDOW];   /* and their bytes */
  uint32_t loose;                     /* a bit for each that is not (yet) */
                                      /* sequential */
  uint32_t failed;                    /* and for each loose one that failed */
  uint64_t next;                      /* how many there were */
};

_Static_assert (SEQUENCE_WINDOW == 32, "loose has a bit for each place");

/* What is called a small request, in bytes. */
#define SEQUENCE_SMALL (16u << 10)

struct sequence_found {
  unsigned requests;
  unsigned small;               /* of these, below SEQUENCE_SMALL */
};

/* Only for sequence_add: what a request makes sequential that may follow, and
 * a turn of the window.
 */
extern void sequence_look (struct sequence *sequence,
                           uint64_t offset, uint32_t count,
                           struct sequence_found *found);
extern void sequence_turn (struct sequence *sequence);

static inline unsigned
sequence_hash (uint64_t end)
{
  return (unsigned) ((end >> 9) * UINT64_C (0x9e3779b97f4a7c15)
                     >> (64 - SEQUENCE_HASH_BITS));
}

/* False where certainly none ends there. */
static inline bool
sequence_may_end_at (const struct sequence *sequence, uint64_t offset)
{
  const unsigned h = sequence_hash (offset);

  return (sequence->hashes[0][h / 64] | sequence->hashes[1][h / 64])
    >> h % 64 & 1;
}

/* A request of count bytes at offset.  Sets found to which requests this one
 * makes sequential: itself and those that came too early, unless these have
 * failed.  Not thread-safe.
 */
static inline void
sequence_add (struct sequence *sequence, uint64_t offset, uint32_t count,
              struct sequence_found *found)
{
  const unsigned place = sequence->next++ % SEQUENCE_WINDOW;
  const uint32_t bit = UINT32_C (1) << place;
  const unsigned h = sequence_hash (offset + count);

  *found = (struct sequence_found) { 0 };
  if (sequence_may_end_at (sequence, offset))
    sequence_look (sequence, offset, count, found);
  if (place == 0)
    sequence_turn (sequence);
  sequence->ends[place] = offset + count;
  sequence->counts[place] = count;
  sequence->loose |= bit;
  if (sequence->failed)
    sequence->failed &= ~bit;
  if (found->requests)
    sequence->loose ^= bit;
  sequence->hashes[0][h / 64] |= UINT64_C (1) << h % 64;
}

/* A request failed that did not make itself sequential; number is what
 * sequence->next was before it was added.  Returns whether another has counted
 * it meanwhile.  If not, none will.
 */
extern bool sequence_fail (struct sequence *sequence, uint64_t number);

#endif /* STATS_SEQUENCE_H */
