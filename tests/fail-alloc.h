/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Memory allocation that can fail, of shared libraries too: the program's
 * own malloc comes before that of the C library, or of a sanitizer, to
 * which it passes on.
 *
 * To be included in one file of a program.  One thread alone may allocate
 * while allocations are numbered.  Where something else has taken malloc's
 * place, as valgrind, clang's sanitizers and the thread sanitizer do, none
 * is ever numbered.
 */

#ifndef STATS_FAIL_ALLOC_H
#define STATS_FAIL_ALLOC_H

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* Allocations are numbered from 1 and fail from the first to the last of
 * these numbers, while numbering is on.  Volatile, since compilers know
 * malloc and are sure that it reads nothing of ours.
 */
static volatile struct {
  bool on;
  unsigned long count, first, last;
} numbered;

static inline bool
may_allocate (void)
{
  if (!numbered.on)
    return true;
  numbered.count++;
  if (numbered.count < numbered.first || numbered.count > numbered.last)
    return true;
  errno = ENOMEM;
  return false;
}

static inline void
number_allocations (unsigned long first_to_fail, unsigned long last_to_fail)
{
  numbered.count = 0;
  numbered.first = first_to_fail;
  numbered.last = last_to_fail;
  numbered.on = true;
}

/* Returns how many there were; 0 as well where they cannot be numbered. */
static inline unsigned long
stop_numbering (void)
{
  numbered.on = false;
  return numbered.count;
}

#ifdef __SANITIZE_THREAD__
#define MALLOC_IS_TAKEN 1
#endif
#ifdef __has_feature
#if __has_feature (address_sanitizer) || __has_feature (thread_sanitizer)
#define MALLOC_IS_TAKEN 1
#endif
#endif
#ifndef MALLOC_IS_TAKEN

void *
malloc (size_t size)
{
  static void *(*next_malloc) (size_t);

  if (next_malloc == NULL)
    next_malloc = dlsym (RTLD_NEXT, "malloc");
  return may_allocate () ? next_malloc (size) : NULL;
}

void *
calloc (size_t n, size_t size)
{
  static void *(*next_calloc) (size_t, size_t);

  if (next_calloc == NULL)
    next_calloc = dlsym (RTLD_NEXT, "calloc");
  return may_allocate () ? next_calloc (n, size) : NULL;
}

void *
realloc (void *p, size_t size)
{
  static void *(*next_realloc) (void *, size_t);

  if (next_realloc == NULL)
    next_realloc = dlsym (RTLD_NEXT, "realloc");
  return may_allocate () ? next_realloc (p, size) : NULL;
}

#endif /* !MALLOC_IS_TAKEN */
#endif /* STATS_FAIL_ALLOC_H */
