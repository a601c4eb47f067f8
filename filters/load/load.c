/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A filter that makes the load by itself: on top of nbdkit's stack it sends
 * requests to the layers below, in threads of its own, and measures what
 * that takes.  No client is needed.  When it is done it writes the result
 * to a file and ends nbdkit.
 */

#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <nbdkit-filter.h>

#include "backend.h"
#include "cold.h"
#include "crew.h"
#include "measure.h"
#include "own_thread.h"
#include "session.h"
#include "stopwatch.h"

static struct job job;
static struct result result = {
  .size = sizeof result, .version = NBDKIT_VERSION_STRING,
};

/* The thread that measures. */
static pthread_t conductor;
static bool conducting;

/* Parameters: those that are not ours are of the filters below. */

static int
set_number (const char *name, const char *value)
{
#define X(number)                                                         \
  if (strcmp (name, #number) == 0)                                        \
    return nbdkit_parse_uint64_t (name, value, &job.number);
  JOB_NUMBERS (X)
#undef X
  nbdkit_error ("load-%s is not known: is this nbdkit-stats of another "
                "version?", name);
  return -1;
}

static int
set_workload (const char *name)
{
  backend.workload = workload_find (name);
  if (backend.workload)
    return 0;
  nbdkit_error ("%s: there is no such backend", name);
  return -1;
}

static int
load_config (nbdkit_next_config *next, nbdkit_backend *nxdata,
             const char *key, const char *value)
{
  if (strcmp (key, JOB_BACKEND) == 0)
    return set_workload (value);
  if (strcmp (key, JOB_DIRECTORY) == 0) {
    backend.directory = value;
    return 0;
  }
  if (strncmp (key, JOB_PREFIX, strlen (JOB_PREFIX)) == 0)
    return set_number (key + strlen (JOB_PREFIX), value);
  return next (nxdata, key, value);
}

static int
load_config_complete (nbdkit_next_config_complete *next,
                      nbdkit_backend *nxdata)
{
  if (backend.workload == NULL || backend.directory == NULL
      || job.threads < 1 || job.threads > MAX_THREADS
      || job.idle > MAX_THREADS || job.gone > MAX_THREADS
      || job.sharing < 1 || job.sharing > MAX_THREADS) {
    nbdkit_error ("this filter is for nbdkit-stats overhead");
    return -1;
  }
  return next (nxdata);
}

static int
load_get_ready (int thread_model)
{
  result.thread_model = thread_model;
  return 0;
}

/* The measurement. */

static int64_t
count_open_files (void)
{
  DIR *dir = opendir ("/proc/self/fd");
  int64_t count = 0;

  if (dir == NULL)
    return 0;
  while (readdir (dir))
    count++;
  closedir (dir);
  return count;
}

/* nbdkit itself keeps to this when clients ask. */
static int
check_thread_model (void)
{
  const uint64_t threads = job.threads + job.idle + job.gone;

  if (threads == 1 || result.thread_model == NBDKIT_THREAD_MODEL_PARALLEL
      || (result.thread_model == NBDKIT_THREAD_MODEL_SERIALIZE_REQUESTS
          && job.sharing == 1))
    return 0;
  nbdkit_error ("this filter serves one request at a time: measure it with "
                "one thread");
  return -1;
}

static int
start_watches (void)
{
  stopwatch = job.watch ? STOPWATCH_CPU
    : job.clocked ? STOPWATCH_TIME : STOPWATCH_OFF;
  if (cold_start (job.cold) == 0)
    return 0;
  nbdkit_error ("mmap: %m");
  return -1;
}

static int
measure (void)
{
  int64_t files;

  if (check_thread_model () == -1 || start_watches () == -1)
    return -1;
  files = count_open_files ();
  if ((job.connections ? measure_memory (&job, &result)
       : measure_timing (&job, &result)) == -1)
    return -1;
  result.files = count_open_files () - files;
  return 0;
}

static void
tell_result (void)
{
  char path[PATH_MAX];
  int fd;

  snprintf (path, sizeof path, "%s/" RESULT_FILE, backend.directory);
  fd = open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd == -1 || write (fd, &result, sizeof result)
      != (ssize_t) sizeof result)
    nbdkit_error ("%s: %m", path);
  if (fd != -1)
    close (fd);
}

static void *
conductor_main (void *arg)
{
  if (measure () == 0)
    tell_result ();
  nbdkit_shutdown ();
  return arg;
}

/* All layers below are ready. */
static int
load_after_fork (nbdkit_backend *nxdata)
{
  int r;

  session_backend = nxdata;
  r = own_thread_start (&conductor, conductor_main, NULL);
  if (r != 0) {
    nbdkit_error ("pthread_create: %s", strerror (r));
    return -1;
  }
  conducting = true;
  return 0;
}

/* Also where nbdkit was told to end. */
static void
load_cleanup (nbdkit_backend *nxdata)
{
  (void) nxdata;
  if (!conducting)
    return;
  crews_stop ();
  pthread_join (conductor, NULL);
  cold_end ();
}

static struct nbdkit_filter filter = {
  .name = "load",
  .longname = "nbdkit load filter",
  .config = load_config,
  .config_complete = load_config_complete,
  .get_ready = load_get_ready,
  .after_fork = load_after_fork,
  .cleanup = load_cleanup,
};

NBDKIT_REGISTER_FILTER (filter)
