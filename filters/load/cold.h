/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Cold caches: what a real server does between two requests makes the
 * processor forget what the filter needs.
 */

#ifndef LOAD_COLD_H
#define LOAD_COLD_H

#include <stddef.h>

/* From now on each walk goes through size bytes; 0: walks do nothing.
 * Before the threads start.  Returns -1 with errno where there is no
 * memory.
 */
extern int cold_start (size_t size);
extern void cold_end (void);

/* From any thread. */
extern void cold_walk (void);

#endif /* LOAD_COLD_H */
