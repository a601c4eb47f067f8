/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Checks in threads other than the main one.
 *
 * Cmocka's are for the main thread alone.  Another one notes what it found
 * wrong, and goes on; the main thread looks when it has joined it.
 */

#ifndef STATS_UNIT_THREADS_H
#define STATS_UNIT_THREADS_H

#include <stdatomic.h>

#include "unit.h"

static _Atomic (const char *) complaint;

#define CHECK(condition)                        \
  do {                                          \
    if (!(condition) && complaint == NULL)      \
      complaint = #condition;                   \
  } while (0)

static inline void
assert_no_complaint (void)
{
  const char *text = complaint;

  if (text)
    fail_msg ("in another thread this was wrong: %s", text);
}

#endif /* STATS_UNIT_THREADS_H */
