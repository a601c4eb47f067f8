/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */


/* For LD_PRELOAD: memory runs out for the filter, at a chosen moment and
 * for one allocation, its own or that of the C library for it.
 *
 * FAIL_ALLOC=N         the Nth since the start
 * FAIL_ALLOC=each      the first of the first interval report, the second
 *                      of the second report, and so on
 * FAIL_ALLOC=threads   none fails, but it cannot have a thread
 * FAIL_ALLOC_LOG=FILE  where a line is written for each that failed, and
 *                      "none left" once a report had so few that none did
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "from-filter.h"

static atomic_ulong fail_nth;   /* from 1; 0: none fails any more */
static atomic_ulong count;      /* since the start, or in this report */
static bool each;               /* FAIL_ALLOC=each */
static bool no_threads;         /* FAIL_ALLOC=threads */

/* The thread that writes interval reports. */
static _Thread_local bool ticks;

static void
log_line (const char *line)
{
  const char *path = getenv ("FAIL_ALLOC_LOG");
  const int fd = path ? open (path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                              0666) : -1;
  const size_t size = strlen (line);

  if (fd == -1 || write (fd, line, size) != (ssize_t) size)
    abort ();
  close (fd);
}

/* Nothing is preloaded into the children of the server. */
__attribute__ ((constructor)) static void
read_environment (void)
{
  const char *value = getenv ("FAIL_ALLOC");

  unsetenv ("LD_PRELOAD");
  from_filter ();
  each = value && strcmp (value, "each") == 0;
  no_threads = value && strcmp (value, "threads") == 0;
  if (value)
    fail_nth = each ? 1 : strtoul (value, NULL, 10);
}

static bool
may_allocate (void)
{
  char line[64];
  unsigned long nth;

  if (fail_nth == 0 || (each && !ticks) || !from_filter ())
    return true;
  nth = ++count;
  if (nth != fail_nth)
    return true;
  snprintf (line, sizeof line, "failed: %lu\n", nth);
  log_line (line);
  errno = ENOMEM;
  return false;
}

void *
malloc (size_t size)
{
  static void *(*next) (size_t);

  if (next == NULL)
    next = NEXT (malloc);
  return may_allocate () ? next (size) : NULL;
}

void *
calloc (size_t n, size_t size)
{
  static void *(*next) (size_t, size_t);

  if (next == NULL)
    next = NEXT (calloc);
  return may_allocate () ? next (n, size) : NULL;
}

void *
realloc (void *p, size_t size)
{
  static void *(*next) (void *, size_t);

  if (next == NULL)
    next = NEXT (realloc);
  return may_allocate () ? next (p, size) : NULL;
}

void *
aligned_alloc (size_t align, size_t size)
{
  static void *(*next) (size_t, size_t);

  if (next == NULL)
    next = NEXT (aligned_alloc);
  return may_allocate () ? next (align, size) : NULL;
}

/* A thread without memory is one, too. */
int
pthread_create (pthread_t *restrict thread,
                const pthread_attr_t *restrict attr,
                void *(*run) (void *), void *restrict arg)
{
  if (no_threads && from_filter ()) {
    log_line ("failed: a thread\n");
    return EAGAIN;
  }
  return may_allocate () ? NEXT (pthread_create) (thread, attr, run, arg)
                         : EAGAIN;
}

/* Where the thread waits for the next report: the one before is through. */
static void
next_report (void)
{
  if (!ticks || fail_nth == 0)
    ticks = true;
  else if (count < fail_nth) {
    fail_nth = 0;
    log_line ("none left\n");
  }
  else
    fail_nth++;
  count = 0;
}

int
pthread_cond_timedwait (pthread_cond_t *restrict cond,
                        pthread_mutex_t *restrict mutex,
                        const struct timespec *restrict when)
{
  if (each && from_filter ())
    next_report ();
  return NEXT (pthread_cond_timedwait) (cond, mutex, when);
}
