/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "own_threads.h"
#include "stopwatch.h"

/* The clock of a thread's processor time: pthread_getcpuclockid would want
 * to know a thread that somebody else started.
 */
static clockid_t
clock_of (pid_t tid)
{
  return (clockid_t) (~(unsigned) tid << 3 | 6);
}

/* The threads that are none of the filter's, in order. */
#define MAX_CREWS 2
static pid_t ours[MAX_CREWS * MAX_THREADS + 2];

static int
compare (const void *ap, const void *bp)
{
  const pid_t a = *(const pid_t *) ap, b = *(const pid_t *) bp;

  return (a > b) - (a < b);
}

static size_t
list_ours (const struct crew *crews, unsigned nr_crews)
{
  size_t n = 0;

  ours[n++] = getpid ();
  ours[n++] = gettid ();
  for (unsigned i = 0; i < nr_crews; i++) {
    for (unsigned j = 0; crews[i].workers && j < crews[i].threads; j++)
      ours[n++] = crews[i].workers[j].tid;
  }
  qsort (ours, n, sizeof ours[0], compare);
  return n;
}

struct own_threads
own_threads (const struct crew *crews, unsigned nr_crews)
{
  DIR *dir = opendir ("/proc/self/task");
  const size_t n = list_ours (crews, nr_crews);
  struct own_threads own = { 0 };
  struct dirent *entry;

  if (dir == NULL)
    return own;
  while ((entry = readdir (dir))) {
    const pid_t tid = atoi (entry->d_name);

    if (tid != 0 && !bsearch (&tid, ours, n, sizeof ours[0], compare)) {
      own.count++;
      own.cpu += clock_read (clock_of (tid));
    }
  }
  closedir (dir);
  return own;
}
