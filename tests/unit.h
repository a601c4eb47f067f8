/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What unit tests have in common.  To be included after <config.h>. */

#ifndef STATS_UNIT_H
#define STATS_UNIT_H

/* What cmocka.h asks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Cmocka 2 has a macro of this name, which ends the whole run, and our
 * tests have a function.
 */
#undef stop

/* Cmocka 2 warns of this name and wants another, which cmocka 1 lacks. */
#ifdef assert_uint_in_range
#undef assert_in_range
#define assert_in_range assert_uint_in_range
#endif

#define LENGTH(array) (sizeof (array) / sizeof (array)[0])

#define US UINT64_C (1000)              /* in nanoseconds */
#define MS (1000 * US)
#define S (1000 * MS)

#define KiB UINT64_C (1024)
#define MiB (1024 * KiB)
#define GiB (1024 * MiB)

/* A source of numbers that gives the same ones in each run, for a state
 * that is not 0.  This is xorshift64*.
 */
static inline uint64_t
random_64 (uint64_t *state)
{
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C (0x2545f4914f6cdd1d);
}

/* From 0 to n - 1. */
static inline uint64_t
random_below (uint64_t *state, uint64_t n)
{
  return (uint64_t) ((unsigned __int128) random_64 (state) * n >> 64);
}

#endif /* STATS_UNIT_H */
