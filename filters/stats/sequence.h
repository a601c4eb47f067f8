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
 * Most requests of a random load follow none, so there is a quick way to see
 * that: a tag of each end, 16 bits of a hash, in 64 bytes together.
 */
struct sequence {
  uint64_t next;                      /* how many there were */
  uint32_t loose;                     /* a bit for each that is not (yet) */
                                      /* sequential */
  uint32_t failed;                    /* and for each loose one that failed */
  uint16_t tags[SEQUENCE_WINDOW];     /* of these ends: */
  struct {
    uint64_t end;                     /* where a request ended, */
    uint32_t count;                   /* and its bytes */
  } last[SEQUENCE_WINDOW];
};

_Static_assert (SEQUENCE_WINDOW == 32, "loose has a bit for each place");

/* What is called a small request, in bytes. */
#define SEQUENCE_SMALL (16u << 10)

struct sequence_found {
  unsigned requests;
  unsigned small;               /* of these, below SEQUENCE_SMALL */
};

/* Only for sequence_add: what a request makes sequential that may follow. */
extern void sequence_look (struct sequence *sequence,
                           uint64_t offset, uint32_t count,
                           struct sequence_found *found);

static inline uint16_t
sequence_tag (uint64_t end)
{
  return (uint16_t) (end * UINT64_C (0x9e3779b97f4a7c15) >> 48);
}

/* False where certainly none ends there.  All tags and no branch: of that
 * compilers make a few instructions for many tags each.
 */
static inline bool
sequence_may_end_at (const struct sequence *sequence, uint64_t offset)
{
  const uint16_t tag = sequence_tag (offset);
  uint16_t found = 0;

  for (unsigned i = 0; i < SEQUENCE_WINDOW; i++)
    found |= (uint16_t) -(sequence->tags[i] == tag);
  return found;
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

  *found = (struct sequence_found) { 0 };
  if (sequence_may_end_at (sequence, offset))
    sequence_look (sequence, offset, count, found);
  sequence->tags[place] = sequence_tag (offset + count);
  sequence->last[place].end = offset + count;
  sequence->last[place].count = count;
  sequence->loose |= bit;
  if (sequence->failed)
    sequence->failed &= ~bit;
  if (found->requests)
    sequence->loose ^= bit;
}

/* A request failed that did not make itself sequential; number is what
 * sequence->next was before it was added.  Returns whether another has counted
 * it meanwhile.  If not, none will.
 */
extern bool sequence_fail (struct sequence *sequence, uint64_t number);

#endif /* STATS_SEQUENCE_H */
