/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <dirent.h>
#include <stdbool.h>
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

static bool
is_of_crew (const struct crew *crew, pid_t tid)
{
  for (unsigned i = 0; crew->workers && i < crew->threads; i++) {
    if (crew->workers[i].tid == tid)
      return true;
  }
  return false;
}

static bool
is_ours (const struct crew *crews, unsigned nr_crews, pid_t tid)
{
  for (unsigned i = 0; i < nr_crews; i++) {
    if (is_of_crew (&crews[i], tid))
      return true;
  }
  return tid == getpid () || tid == gettid ();
}

struct own_threads
own_threads (const struct crew *crews, unsigned nr_crews)
{
  DIR *dir = opendir ("/proc/self/task");
  struct own_threads own = { 0 };
  struct dirent *entry;

  if (dir == NULL)
    return own;
  while ((entry = readdir (dir))) {
    const pid_t tid = atoi (entry->d_name);

    if (tid != 0 && !is_ours (crews, nr_crews, tid)) {
      own.count++;
      own.cpu += clock_read (clock_of (tid));
    }
  }
  closedir (dir);
  return own;
}
