/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stddef.h>

#include "tally.h"

/* A tally as the array of numbers that it is, up to its last member. */
#define TALLY_WORDS (offsetof (struct tally, extents) / sizeof (uint64_t))

/* How far an offset or a length is aligned: its trailing zero bits, where
 * places is one more than the highest there can be.
 */
static unsigned
alignment (uint64_t value, unsigned places)
{
  return value ? (unsigned) __builtin_ctzll (value) : places - 1;
}

static void
count_blocks (struct tally *tally, uint64_t offset, uint32_t count,
              uint64_t block)
{
  uint64_t touched;

  if (count == 0)
    return;
  touched = (offset + count - 1) / block - offset / block + 1;
  tally->blocks.aligned += offset % block == 0 && count % block == 0;
  tally->blocks.smaller += count < block;
  tally->blocks.touched += touched;
  tally->blocks.by_touched[touched < BLOCKS_TOUCHED
                           ? touched - 1 : BLOCKS_TOUCHED - 1]++;
}

static void
count_flags (struct tally *tally, uint32_t flags)
{
  for (unsigned flag = 0; flag < NR_FLAGS; flag++)
    tally->flags[flag] += flags >> flag & 1;
}

static void
count_extents (struct extents_tally *extents, const struct record *record)
{
  extents->count += record->nr_extents;
  extents->data += record->data;
  extents->hole += record->hole;
  extents->zero += record->zero;
}

/* What most requests do not have. */
static void
count_rare (struct tally *tally, const struct record *record, uint64_t block)
{
  if (block)
    count_blocks (tally, record->offset, record->count, block);
  count_flags (tally, record->flags);
  tally->zero_bytes += record->zero_bytes;
  if (record->kind == OP_EXTENTS)
    count_extents (&tally->extents, record);
}

void
tally_record (struct tally *tally, const struct record *record,
              uint64_t latency_ns, uint64_t block)
{
  struct size_class *size = &tally->sizes[size_class (record->count)];

  tally_latency (tally, latency_ns);
  tally->bytes += record->count;
  size->requests++;
  size->bytes += record->count;
  size->latency_ns += latency_ns;
  tally->offset_alignment[alignment (record->offset, OFFSET_ALIGNMENTS)]++;
  tally->length_alignment[alignment (record->count, LENGTH_ALIGNMENTS)]++;
  if (block | record->flags | record->zero_bytes
      | (record->kind == OP_EXTENTS))
    count_rare (tally, record, block);
}

void
tally_add (struct tally *sum, const struct tally *part)
{
  uint64_t *to = (uint64_t *) sum;
  const uint64_t *from = (const uint64_t *) part;

  for (size_t i = 0; i < TALLY_WORDS; i++)
    to[i] += from[i];
  sum->extents.count += part->extents.count;
  sum->extents.data += part->extents.data;
  sum->extents.hole += part->extents.hole;
  sum->extents.zero += part->extents.zero;
}

void
tally_subtract (struct tally *sum, const struct tally *part)
{
  uint64_t *to = (uint64_t *) sum;
  const uint64_t *from = (const uint64_t *) part;

  for (size_t i = 0; i < TALLY_WORDS; i++)
    to[i] -= from[i];
  sum->extents.count -= part->extents.count;
  sum->extents.data -= part->extents.data;
  sum->extents.hole -= part->extents.hole;
  sum->extents.zero -= part->extents.zero;
}

void
failures_count (struct failures *failures, unsigned error, uint64_t ns)
{
  struct failure *f = &failures->by_errno[error];

  f->error = error ? error : FAILURE_OTHER;
  f->requests++;
  f->ns += ns;
  if (ns > f->longest_ns)
    f->longest_ns = ns;
}

void
failures_subtract (struct failures *sum, const struct failures *part)
{
  for (size_t i = 0; i < MAX_FAILURES; i++) {
    sum->by_errno[i].requests -= part->by_errno[i].requests;
    sum->by_errno[i].ns -= part->by_errno[i].ns;
  }
}

struct failure
failures_total (const struct failures *failures)
{
  struct failure total = { 0 };

  for (size_t i = 0; i < MAX_FAILURES; i++) {
    const struct failure *f = &failures->by_errno[i];

    total.requests += f->requests;
    total.ns += f->ns;
    if (f->longest_ns > total.longest_ns)
      total.longest_ns = f->longest_ns;
  }
  return total;
}
