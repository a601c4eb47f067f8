/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "random.h"
#include "workload.h"

/* No-op: what the loop and the calls cost. */

static int
noop_pread (const char *path, void *buf, uint32_t count)
{
  (void) path;
  (void) buf;
  (void) count;
  return 0;
}

static int
noop_pwrite (const char *path, const void *buf, uint32_t count)
{
  (void) path;
  (void) buf;
  (void) count;
  return 0;
}

/* A bare system call, past the C library, which might know the answer. */

static int
getppid_pread (const char *path, void *buf, uint32_t count)
{
  syscall (SYS_getppid);
  return noop_pread (path, buf, count);
}

static int
getppid_pwrite (const char *path, const void *buf, uint32_t count)
{
  syscall (SYS_getppid);
  return noop_pwrite (path, buf, count);
}

/* Sleep for 1 to 3 ms, as storage does: as many requests are in flight as
 * there are threads.
 */

static void
sleep_a_while (void)
{
  static _Thread_local uint64_t random;
  struct timespec ts = { .tv_sec = 0 };

  if (random == 0)
    random = (uintptr_t) &random; /* another one in each thread */
  ts.tv_nsec = 1000000 + (long) (random_next (&random) % 2000001);
  clock_nanosleep (CLOCK_MONOTONIC, 0, &ts, NULL);
}

static int
sleep_pread (const char *path, void *buf, uint32_t count)
{
  sleep_a_while ();
  return noop_pread (path, buf, count);
}

static int
sleep_pwrite (const char *path, const void *buf, uint32_t count)
{
  sleep_a_while ();
  return noop_pwrite (path, buf, count);
}

/* Open, read or write, and close.  The files are as long as a request is; a
 * filter that asks for more gets what there is.
 */

static int
file_close (int fd, ssize_t done)
{
  const int err = done == -1 ? errno : 0;

  return close (fd) == -1 && err == 0 ? errno : err;
}

static int
file_pread (const char *path, void *buf, uint32_t count)
{
  const int fd = open (path, O_RDONLY | O_CLOEXEC);

  return fd == -1 ? errno : file_close (fd, pread (fd, buf, count, 0));
}

static int
file_pwrite (const char *path, const void *buf, uint32_t count)
{
  const int fd = open (path, O_WRONLY | O_CLOEXEC);

  return fd == -1 ? errno : file_close (fd, pwrite (fd, buf, count, 0));
}

#define FILE_WORKLOAD(size)                                               \
  { .name = "file-" #size, .count = size, .files = true,                  \
    .pread = file_pread, .pwrite = file_pwrite }

const struct workload workloads[] = {
  { .name = "no-op", .count = 4096,
    .pread = noop_pread, .pwrite = noop_pwrite },
  { .name = "getppid", .count = 4096,
    .pread = getppid_pread, .pwrite = getppid_pwrite },
  FILE_WORKLOAD (512),
  FILE_WORKLOAD (1024),
  FILE_WORKLOAD (4096),
  FILE_WORKLOAD (8192),
  FILE_WORKLOAD (65536),
  { .name = "sleep", .count = 4096, .sleeps = true,
    .pread = sleep_pread, .pwrite = sleep_pwrite },
  { .name = NULL },
};

const struct workload *
workload_find (const char *name)
{
  const struct workload *workload;

  for (workload = workloads; workload->name; workload++) {
    if (strcmp (workload->name, name) == 0)
      return workload;
  }
  return NULL;
}
