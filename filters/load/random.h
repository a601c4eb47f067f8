/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Random numbers that cost next to nothing. */

#ifndef LOAD_RANDOM_H
#define LOAD_RANDOM_H

#include <stdint.h>

/* 32 bits, after what state holds; any state will do to begin with. */
static inline uint64_t
random_next (uint64_t *state)
{
  *state = *state * UINT64_C (6364136223846793005)
    + UINT64_C (1442695040888963407);
  return *state >> 32;
}

#endif /* LOAD_RANDOM_H */
