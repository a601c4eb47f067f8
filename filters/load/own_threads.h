/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The threads that a filter started. */

#ifndef LOAD_OWN_THREADS_H
#define LOAD_OWN_THREADS_H

#include <stdint.h>

#include "crew.h"

struct own_threads {
  uint64_t count;
  uint64_t cpu;                 /* their processor time so far, in ns */
};

/* All threads of this process but those of two crews at most, nbdkit's
 * first one and the calling one.  From the thread that started the crews.
 */
extern struct own_threads own_threads (const struct crew *crews,
                                       unsigned nr_crews);

#endif /* LOAD_OWN_THREADS_H */
