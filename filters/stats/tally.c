/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "tally.h"

/* A tally as the array of numbers that it is. */
#define TALLY_WORDS (sizeof (struct tally) / sizeof (uint64_t))
_Static_assert (sizeof (struct tally) % sizeof (uint64_t) == 0,
                "a tally has uint64_t members only");

/* How far an offset or a length is aligned: its trailing zero bits, where
 * places is one more than the highest there can be.
 */
static unsigned
alignment (uint64_t value, unsigned places)
{
  return value ? (unsigned) __builtin_ctzll (value) : places - 1;
}

static unsigned
size_class (uint32_t count)
{
  return count ? 32 - (unsigned) __builtin_clz (count) : 0;
}

static void
count_blocks (struct tally *tally, uint64_t offset, uint32_t count,
              uint64_t block)
{
  uint64_t touched;

  if (count == 0)
    return;
  touched = (offset + count - 1) / block - offset / block + 1;
  tally_count (&tally->blocks.aligned,
               offset % block == 0 && count % block == 0);
  tally_count (&tally->blocks.smaller, count < block);
  tally_count (&tally->blocks.touched, touched);
  tally_count (&tally->blocks.by_touched[touched < BLOCKS_TOUCHED
                                         ? touched - 1 : BLOCKS_TOUCHED - 1],
               1);
}

static void
count_flags (struct tally *tally, uint32_t flags)
{
  for (unsigned flag = 0; flag < NR_FLAGS; flag++)
    tally_count (&tally->flags[flag], flags >> flag & 1);
}

void
tally_request (struct tally *tally, const struct request *request,
               uint64_t latency_ns, uint64_t block)
{
  struct size_class *size = &tally->sizes[size_class (request->count)];

  tally_count (&tally->requests, 1);
  tally_count (&tally->bytes, request->count);
  tally_count (&tally->latency_ns, latency_ns);
  tally_count (&tally->bins[histogram_bin (latency_ns)], 1);
  tally_count (&size->requests, 1);
  tally_count (&size->bytes, request->count);
  tally_count (&size->latency_ns, latency_ns);
  tally_count (&tally->offset_alignment[alignment (request->offset,
                                                   OFFSET_ALIGNMENTS)], 1);
  tally_count (&tally->length_alignment[alignment (request->count,
                                                   LENGTH_ALIGNMENTS)], 1);
  if (block)
    count_blocks (tally, request->offset, request->count, block);
  if (request->flags)
    count_flags (tally, request->flags);
  if (request->zero_bytes)
    tally_count (&tally->zero_bytes, request->zero_bytes);
}

void
tally_add (struct tally *sum, const struct tally *part)
{
  uint64_t *to = (uint64_t *) sum;
  const uint64_t *from = (const uint64_t *) part;

  for (size_t i = 0; i < TALLY_WORDS; i++)
    to[i] += from[i];
}

void
tally_subtract (struct tally *sum, const struct tally *part)
{
  uint64_t *to = (uint64_t *) sum;
  const uint64_t *from = (const uint64_t *) part;

  for (size_t i = 0; i < TALLY_WORDS; i++)
    to[i] -= from[i];
}

/* The entry of this errno, a free one, or the last, which takes all that
 * has no entry of its own.
 */
static struct failure *
entry_for (struct failures *failures, uint64_t error)
{
  struct failure *f = failures->by_errno;

  for (; f < &failures->by_errno[MAX_FAILURES - 1]; f++) {
    if (f->error == error || f->error == 0)
      break;
  }
  return f;
}

static uint64_t
error_for (const struct failures *failures, const struct failure *f,
           uint64_t error)
{
  return f == &failures->by_errno[MAX_FAILURES - 1] ? FAILURE_OTHER : error;
}

void
failures_count (struct failures *failures, int error, uint64_t ns)
{
  struct failure *f = entry_for (failures, (uint64_t) error);

  __atomic_store_n (&f->error,
                    error_for (failures, f, (uint64_t) error),
                    __ATOMIC_RELEASE);
  tally_count (&f->requests, 1);
  tally_count (&f->ns, ns);
  if (ns > f->longest_ns)
    __atomic_store_n (&f->longest_ns, ns, __ATOMIC_RELEASE);
}

void
failures_add (struct failures *sum, const struct failures *part)
{
  for (size_t i = 0; i < MAX_FAILURES; i++) {
    const struct failure *from = &part->by_errno[i];
    struct failure *to;

    if (from->requests == 0)
      continue;
    to = entry_for (sum, from->error);
    to->error = error_for (sum, to, from->error);
    to->requests += from->requests;
    to->ns += from->ns;
    if (from->longest_ns > to->longest_ns)
      to->longest_ns = from->longest_ns;
  }
}

static uint64_t
at_most (uint64_t value, uint64_t limit)
{
  return value < limit ? value : limit;
}

/* With more errnos than entries, which of them are taken together may have
 * changed in between.
 */
void
failures_subtract (struct failures *sum, const struct failures *part)
{
  for (size_t i = 0; i < MAX_FAILURES; i++) {
    const struct failure *from = &part->by_errno[i];
    struct failure *to;

    if (from->requests == 0)
      continue;
    to = entry_for (sum, from->error);
    to->requests -= at_most (from->requests, to->requests);
    to->ns -= at_most (from->ns, to->ns);
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
