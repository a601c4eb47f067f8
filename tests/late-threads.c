/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* For LD_PRELOAD: detached threads end late.  What a thread has to do for
 * its keys at its end, it does when the filter was unloaded, and nbdkit goes
 * on when all are through.
 *
 * LATE_THREADS_LOG=FILE   where a line is written for each such thread
 */

#include <config.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "from-filter.h"

struct late {
  void *(*run) (void *);
  void *arg;
  bool again;                   /* the other keys have had their turn */
};

static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool unloaded;           /* under the lock */
static unsigned threads;        /* that are there, under the lock */

static void
log_thread (void)
{
  static const char line[] = "late\n";
  const int fd = open (getenv ("LATE_THREADS_LOG"),
                       O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

  if (fd == -1 || write (fd, line, strlen (line)) != (ssize_t) strlen (line))
    abort ();
  close (fd);
}

/* Keys have their turn in the order in which they were made, so this is the
 * first; and once more from the first on while there are any.
 */
static void
end_late (void *vp)
{
  struct late *late = vp;

  pthread_mutex_lock (&lock);
  while (!unloaded)
    pthread_cond_wait (&changed, &lock);
  pthread_mutex_unlock (&lock);
  if (!late->again) {
    late->again = true;
    pthread_setspecific (key, late);
    return;
  }
  log_thread ();
  free (late);
  pthread_mutex_lock (&lock);
  threads--;
  pthread_cond_broadcast (&changed);
  pthread_mutex_unlock (&lock);
}

__attribute__ ((constructor)) static void
make_key (void)
{
  unsetenv ("LD_PRELOAD");
  if (pthread_key_create (&key, end_late) != 0)
    abort ();
}

static void *
run_late (void *vp)
{
  struct late *late = vp;

  pthread_setspecific (key, late);
  return late->run (late->arg);
}

static bool
is_detached (const pthread_attr_t *attr)
{
  int state = PTHREAD_CREATE_JOINABLE;

  if (attr)
    pthread_attr_getdetachstate (attr, &state);
  return state == PTHREAD_CREATE_DETACHED;
}

int
pthread_create (pthread_t *restrict thread,
                const pthread_attr_t *restrict attr,
                void *(*run) (void *), void *restrict arg)
{
  struct late *late;

  if (!is_detached (attr))
    return NEXT (pthread_create) (thread, attr, run, arg);
  late = calloc (1, sizeof *late);
  if (late == NULL)
    abort ();
  late->run = run;
  late->arg = arg;
  pthread_mutex_lock (&lock);
  threads++;
  pthread_mutex_unlock (&lock);
  return NEXT (pthread_create) (thread, attr, run_late, late);
}

int
dlclose (void *handle)
{
  const bool is_filter = dlsym (handle, "filter_init") != NULL;
  const int r = NEXT (dlclose) (handle);

  if (!is_filter)
    return r;
  pthread_mutex_lock (&lock);
  unloaded = true;
  pthread_cond_broadcast (&changed);
  while (threads > 0)
    pthread_cond_wait (&changed, &lock);
  pthread_mutex_unlock (&lock);
  return r;
}
