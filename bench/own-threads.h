/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The threads that a filter started. */

#ifndef BENCH_OWN_THREADS_H
#define BENCH_OWN_THREADS_H

#include <stdint.h>

#include "worker.h"

/* The processor time so far of all threads of this process but the crew's
 * and the calling one, in nanoseconds.  From the thread that started the
 * crew, while it works.
 */
extern uint64_t own_threads_cpu (const struct crew *crew);

#endif /* BENCH_OWN_THREADS_H */
