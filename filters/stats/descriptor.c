/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "descriptor.h"

/* Is it the directory of our descriptors? */
static bool
is_fd_directory (const char *dir, size_t len)
{
  static const char *const names[] = {
    "/dev/fd", "/proc/self/fd", "/proc/thread-self/fd",
  };
  char real[PATH_MAX];

  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if ((strlen (names[i]) == len && memcmp (dir, names[i], len) == 0)
        || (realpath (names[i], real) && strlen (real) == len
            && memcmp (dir, real, len) == 0))
      return true;
  }
  return false;
}

/* The number of the descriptor that path is a name of, or -1. */
static int
named_descriptor (const char *path)
{
  const char *slash = strrchr (path, '/');
  int fd, end;

  if (strcmp (path, "/dev/stderr") == 0)
    return STDERR_FILENO;
  if (strcmp (path, "/dev/stdout") == 0)
    return STDOUT_FILENO;
  if (slash && is_fd_directory (path, (size_t) (slash - path))
      && sscanf (slash, "/%d%n", &fd, &end) == 1 && slash[end] == '\0')
    return fd;
  return -1;
}

/* Resolve the links of the directory that a path is in; the last name stays
 * as it is.
 */
static int
resolve_directory (char resolved[PATH_MAX], const char *path)
{
  const char *slash = strrchr (path, '/');
  char dir[PATH_MAX], real[PATH_MAX];

  if (slash == NULL
      || snprintf (dir, sizeof dir, "%.*s/", (int) (slash - path), path)
         >= PATH_MAX
      || realpath (dir, real) == NULL)
    return -1;
  return snprintf (resolved, PATH_MAX, "%s%s", strcmp (real, "/") ? real : "",
                   slash) < PATH_MAX ? 0 : -1;
}

/* Replace a symbolic link by what it leads to, one step. */
static int
follow_link (char path[PATH_MAX])
{
  char target[PATH_MAX], joined[2 * PATH_MAX];
  const ssize_t n = readlink (path, target, sizeof target - 1);

  if (n == -1)
    return -1;
  target[n] = '\0';
  if (target[0] == '/')
    strcpy (joined, target);
  else
    snprintf (joined, sizeof joined, "%.*s/%s",
              (int) (strrchr (path, '/') - path), path, target);
  return snprintf (path, PATH_MAX, "%s", joined) < PATH_MAX ? 0 : -1;
}

int
descriptor_named (const char *path)
{
  enum { MAX_LINKS = 40 };      /* as many as Linux follows */
  char link[PATH_MAX], resolved[PATH_MAX];
  int fd = named_descriptor (path);

  if (snprintf (link, sizeof link, "%s", path) >= PATH_MAX)
    return -1;
  for (int i = 0; fd == -1 && i < MAX_LINKS; i++) {
    if (resolve_directory (resolved, link) == -1)
      return -1;
    fd = named_descriptor (resolved);
    strcpy (link, resolved);
    if (fd == -1 && follow_link (link) == -1)
      return -1;
  }
  return fd;
}

bool
descriptor_is (int fd, const struct stat *st)
{
  struct stat st_fd;

  return fstat (fd, &st_fd) == 0 && st->st_dev == st_fd.st_dev
    && st->st_ino == st_fd.st_ino;
}

int
descriptor_of_same_file (const char *path)
{
  struct stat st;

  if (stat (path, &st) == -1)
    return -1;
  if (descriptor_is (STDERR_FILENO, &st))
    return STDERR_FILENO;
  return descriptor_is (STDOUT_FILENO, &st) ? STDOUT_FILENO : -1;
}
