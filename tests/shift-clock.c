/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* For LD_PRELOAD: the wall clock of a process goes wrong by as many seconds
 * as are in the file $SHIFT_CLOCK, in ASCII, at that moment.  Clocks that
 * nobody can set stay as they are.
 */

#include <config.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Nothing is preloaded into the children of the server. */
__attribute__ ((constructor)) static void
stay_alone (void)
{
  unsetenv ("LD_PRELOAD");
}

static time_t
shift (void)
{
  const char *path = getenv ("SHIFT_CLOCK");
  const int fd = path ? open (path, O_RDONLY | O_CLOEXEC) : -1;
  char digits[32] = "";

  if (fd == -1 || read (fd, digits, sizeof digits - 1) < 1)
    abort ();
  close (fd);
  return (time_t) strtoll (digits, NULL, 10);
}

static int
real_clock_gettime (clockid_t id, struct timespec *ts)
{
  static int (*next) (clockid_t, struct timespec *);

  if (next == NULL)
    next = dlsym (RTLD_NEXT, "clock_gettime");
  return next (id, ts);
}

int
clock_gettime (clockid_t id, struct timespec *ts)
{
  const int r = real_clock_gettime (id, ts);

  if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)
    ts->tv_sec += shift ();
  return r;
}

int
gettimeofday (struct timeval *restrict tv, void *restrict tz)
{
  struct timespec ts;

  (void) tz;
  clock_gettime (CLOCK_REALTIME, &ts);
  tv->tv_sec = ts.tv_sec;
  tv->tv_usec = ts.tv_nsec / 1000;
  return 0;
}

time_t
time (time_t *t)
{
  struct timespec ts;

  clock_gettime (CLOCK_REALTIME, &ts);
  if (t)
    *t = ts.tv_sec;
  return ts.tv_sec;
}
