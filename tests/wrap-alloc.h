/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Memory allocation that can be counted and that can fail: of the test and
 * of the code under test, but not of libraries.
 *
 * To be included in one file of a program that is linked with $(WRAP_ALLOC)
 * of Makefile.am.  Any number of threads.
 */

#ifndef STATS_WRAP_ALLOC_H
#define STATS_WRAP_ALLOC_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static atomic_ulong allocations;        /* since the program started */

/* This many more allocations succeed, and then none; -1 for no limit. */
static atomic_long allocations_left = -1;

static inline bool
may_allocate (void)
{
  if (allocations_left == 0) {
    errno = ENOMEM;
    return false;
  }
  if (allocations_left > 0)
    allocations_left--;
  allocations++;
  return true;
}

extern void *__real_malloc (size_t size);
extern void *__real_calloc (size_t n, size_t size);
extern void *__real_realloc (void *p, size_t size);
extern void *__real_aligned_alloc (size_t align, size_t size);
extern int __real_posix_memalign (void **p, size_t align, size_t size);

extern void *__wrap_malloc (size_t size);
extern void *__wrap_calloc (size_t n, size_t size);
extern void *__wrap_realloc (void *p, size_t size);
extern void *__wrap_aligned_alloc (size_t align, size_t size);
extern int __wrap_posix_memalign (void **p, size_t align, size_t size);

void *
__wrap_malloc (size_t size)
{
  return may_allocate () ? __real_malloc (size) : NULL;
}

void *
__wrap_calloc (size_t n, size_t size)
{
  return may_allocate () ? __real_calloc (n, size) : NULL;
}

void *
__wrap_realloc (void *p, size_t size)
{
  return may_allocate () ? __real_realloc (p, size) : NULL;
}

void *
__wrap_aligned_alloc (size_t align, size_t size)
{
  return may_allocate () ? __real_aligned_alloc (align, size) : NULL;
}

int
__wrap_posix_memalign (void **p, size_t align, size_t size)
{
  return may_allocate () ? __real_posix_memalign (p, align, size) : ENOMEM;
}

#endif /* STATS_WRAP_ALLOC_H */
