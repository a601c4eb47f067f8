/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "errors.h"
#include "files.h"
#include "memory.h"

char *
absolute_path (const char *path)
{
  char *resolved = realpath (path, NULL);

  return resolved ? resolved : copy_string (path);
}

/* What directory_make adds to its parent, for mkdtemp. */
#define OWN_NAME "/nbdkit-stats.XXXXXX"

const char *
directory_for_socket (const char *parent)
{
  const size_t most = sizeof ((struct sockaddr_un *) NULL)->sun_path;
  char *absolute = absolute_path (parent);
  const size_t length = strlen (absolute) + sizeof OWN_NAME "/socket";

  free (absolute);
  return length <= most ? parent : "/tmp";
}

char *
directory_make (const char *parent)
{
  char *absolute = absolute_path (parent);
  char *path = format_string ("%s" OWN_NAME, absolute);

  free (absolute);
  if (mkdtemp (path))
    return path;
  tell_error ("no directory can be made in %s: %m", parent);
  free (path);
  return NULL;
}

static int
remove_entry (const char *path, const struct stat *st __attribute__ ((unused)),
              int type __attribute__ ((unused)),
              struct FTW *ftw __attribute__ ((unused)))
{
  remove (path);
  return 0;
}

void
directory_remove (const char *path)
{
  nftw (path, remove_entry, 16, FTW_DEPTH | FTW_MOUNT | FTW_PHYS);
}

char *
file_tail (const char *path, size_t max)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  char *tail = NULL;
  struct stat st;
  ssize_t n;

  if (fd == -1)
    return NULL;
  if (fstat (fd, &st) == 0) {
    off_t skip = (uintmax_t) st.st_size > max ? st.st_size - (off_t) max : 0;

    tail = get_memory (max + 1, 1);
    n = pread (fd, tail, max, skip);
    if (n == -1) {
      free (tail);
      tail = NULL;
    }
  }
  close (fd);
  return tail;
}

static int
write_all (int fd, const char *data, size_t size)
{
  while (size > 0) {
    ssize_t n = write (fd, data, size);

    if (n == -1 && errno != EINTR)
      return -1;
    if (n > 0) {
      data += n;
      size -= (size_t) n;
    }
  }
  return 0;
}

/* Make a temporary file with the data, as any new file of the user. */
static int
write_new (char *template, const char *data, size_t size)
{
  mode_t mask = umask (0);
  int fd = mkostemp (template, O_CLOEXEC), saved;

  umask (mask);
  if (fd == -1)
    return -1;
  if (fchmod (fd, 0666 & ~mask) == 0 && write_all (fd, data, size) == 0
      && close (fd) == 0)
    return 0;
  saved = errno;
  unlink (template);
  errno = saved;
  return -1;
}

/* A device or a FIFO would be gone, and a link would be one no more. */
static char *
replaceable (const char *path)
{
  char *resolved = realpath (path, NULL);
  struct stat st;

  if (resolved == NULL)
    return errno == ENOENT ? copy_string (path) : NULL;
  if (stat (resolved, &st) == 0 && S_ISREG (st.st_mode))
    return resolved;
  free (resolved);
  errno = S_ISDIR (st.st_mode) ? EISDIR : ENOTSUP;
  return NULL;
}

/* Without another name the new file goes again. */
static int
replace (const char *path, const char *data, size_t size, bool rename_it)
{
  char *temporary = format_string ("%s.XXXXXX", path);
  int r = write_new (temporary, data, size), saved;

  if (r == 0 && rename_it)
    r = rename (temporary, path);
  saved = errno;
  if (r == -1 || !rename_it)
    unlink (temporary);
  errno = saved;
  free (temporary);
  return r;
}

static int
replace_or_tell (const char *path, const char *data, size_t size,
                 bool rename_it)
{
  char *target = replaceable (path);
  int r = target ? replace (target, data, size, rename_it) : -1;

  if (r == -1)
    tell_error_at (path, 0, "%m");
  free (target);
  return r;
}

int
file_replace (const char *path, const char *data, size_t size)
{
  return replace_or_tell (path, data, size, true);
}

int
file_check_replace (const char *path)
{
  return replace_or_tell (path, "", 0, false);
}
