/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */


/* For LD_PRELOAD: the process is killed as the filter makes its Nth call
 * that does something to a file, where N is in $KILL_AT_CALL.  If that is a
 * write, half of it is done.
 */

#include <config.h>

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "from-filter.h"

static unsigned long kill_at;

/* Nothing is preloaded into the children of the server. */
__attribute__ ((constructor)) static void
read_environment (void)
{
  const char *value = getenv ("KILL_AT_CALL");

  unsetenv ("LD_PRELOAD");
  from_filter ();
  kill_at = value ? strtoul (value, NULL, 10) : 0;
}

/* Is this call the one? */
static bool
is_the_one (void)
{
  static atomic_ulong calls;

  return kill_at && from_filter () && ++calls == kill_at;
}

/* Nobody lives on to see whether it worked. */
static void
die (void)
{
  raise (SIGKILL);
}

#define CALL(name, ...)                         \
  do {                                          \
    if (is_the_one ())                          \
      die ();                                   \
    return NEXT (name) (__VA_ARGS__);           \
  } while (0)

int
open (const char *path, int flags, ...)
{
  va_list args;
  mode_t mode;

  va_start (args, flags);
  mode = flags & O_CREAT ? va_arg (args, mode_t) : 0;
  va_end (args);
  CALL (open, path, flags, mode);
}

ssize_t
write (int fd, const void *buf, size_t size)
{
  if (is_the_one () && NEXT (write) (fd, buf, size / 2) != -2)
    die ();
  return NEXT (write) (fd, buf, size);
}

ssize_t
pwrite (int fd, const void *buf, size_t size, off_t offset)
{
  if (is_the_one () && NEXT (pwrite) (fd, buf, size / 2, offset) != -2)
    die ();
  return NEXT (pwrite) (fd, buf, size, offset);
}

int
mkostemp (char *name, int flags)
{
  CALL (mkostemp, name, flags);
}

int
close (int fd)
{
  CALL (close, fd);
}

int
fchmod (int fd, mode_t mode)
{
  CALL (fchmod, fd, mode);
}

int
fchown (int fd, uid_t uid, gid_t gid)
{
  CALL (fchown, fd, uid, gid);
}

int
ftruncate (int fd, off_t size)
{
  CALL (ftruncate, fd, size);
}

off_t
lseek (int fd, off_t offset, int whence)
{
  CALL (lseek, fd, offset, whence);
}

int
rename (const char *from, const char *to)
{
  CALL (rename, from, to);
}

int
unlink (const char *path)
{
  CALL (unlink, path);
}
