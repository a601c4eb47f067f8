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

#include "connection.h"
#include "random.h"

/* No-op: what the loop and the call cost. */

static int
noop_pread (nbdkit_next *next, void *buf, uint32_t count, uint64_t offset,
            uint32_t flags, int *err)
{
  (void) next;
  (void) buf;
  (void) count;
  (void) offset;
  (void) flags;
  (void) err;
  return 0;
}

static int
noop_pwrite (nbdkit_next *next, const void *buf, uint32_t count,
             uint64_t offset, uint32_t flags, int *err)
{
  (void) next;
  (void) buf;
  (void) count;
  (void) offset;
  (void) flags;
  (void) err;
  return 0;
}

/* A bare system call, past the C library, which might know the answer. */

static int
getppid_pread (nbdkit_next *next, void *buf, uint32_t count,
               uint64_t offset, uint32_t flags, int *err)
{
  syscall (SYS_getppid);
  return noop_pread (next, buf, count, offset, flags, err);
}

static int
getppid_pwrite (nbdkit_next *next, const void *buf, uint32_t count,
                uint64_t offset, uint32_t flags, int *err)
{
  syscall (SYS_getppid);
  return noop_pwrite (next, buf, count, offset, flags, err);
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
sleep_pread (nbdkit_next *next, void *buf, uint32_t count, uint64_t offset,
             uint32_t flags, int *err)
{
  sleep_a_while ();
  return noop_pread (next, buf, count, offset, flags, err);
}

static int
sleep_pwrite (nbdkit_next *next, const void *buf, uint32_t count,
              uint64_t offset, uint32_t flags, int *err)
{
  sleep_a_while ();
  return noop_pwrite (next, buf, count, offset, flags, err);
}

/* Open, read or write, and close.  The files are as long as a request. */

static int
file_open (nbdkit_next *next, int flags, int *err)
{
  int fd = open (connection_path (next), flags | O_CLOEXEC);

  if (fd == -1)
    *err = errno;
  return fd;
}

static int
file_close (int fd, ssize_t done, uint32_t count, int *err)
{
  if (done != (ssize_t) count)
    *err = done == -1 ? errno : EIO;
  if (close (fd) == -1) {
    *err = errno;
    return -1;
  }
  return done == (ssize_t) count ? 0 : -1;
}

static int
file_pread (nbdkit_next *next, void *buf, uint32_t count, uint64_t offset,
            uint32_t flags, int *err)
{
  int fd = file_open (next, O_RDONLY, err);

  (void) offset;
  (void) flags;
  return fd == -1 ? -1 : file_close (fd, pread (fd, buf, count, 0), count,
                                     err);
}

static int
file_pwrite (nbdkit_next *next, const void *buf, uint32_t count,
             uint64_t offset, uint32_t flags, int *err)
{
  int fd = file_open (next, O_WRONLY, err);

  (void) offset;
  (void) flags;
  return fd == -1 ? -1 : file_close (fd, pwrite (fd, buf, count, 0), count,
                                     err);
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
