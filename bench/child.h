/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A process of its own for each measurement, so that nothing that a filter
 * leaves behind gets into the next one.
 */

#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include <stdbool.h>
#include <stddef.h>

/* Measure in this process instead, for profilers. */
extern bool child_here;

/* Call fn (arg, result) in a child and bring back what it wrote to
 * result.  Returns -1 if fn did, or if the child died, which is told.
 */
extern int in_child (int (*fn) (const void *arg, void *result),
                     const void *arg, void *result, size_t size);

#endif /* BENCH_CHILD_H */
