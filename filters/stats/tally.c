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
