/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "descriptor.h"
#include "report_file.h"

#define TO_WRITE (O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* In a directory like /tmp, Linux may refuse O_CREAT for a file of another
 * user that it would open.
 */
int
report_file_open (const char *path)
{
  int fd = open (path, TO_WRITE);

  if (fd == -1 && errno == ENOENT)
    fd = open (path, TO_WRITE | O_CREAT, 0666);
  return fd;
}

/* What is at the path now.  Where nothing is, st tells of what was there
 * last, for its rights; a user who may not even look believes that it is
 * still there.
 */
static const char *
look (const struct report_file *file, struct stat *st, bool *there)
{
  *there = lstat (file->path, st) == 0;
  if (*there && !S_ISREG (st->st_mode)) {
    errno = 0;
    return "something that is no regular file has taken its place";
  }
  if (*there)
    return NULL;
  if (errno != ENOENT && errno != EACCES)
    return "cannot find it";
  *there = errno == EACCES;
  if (fstat (file->fd, st) == -1)
    return "cannot look at it";
  *there = *there && st->st_nlink > 0;
  return NULL;
}

/* Rights. */

/* Give a new file, which nobody but the owner can open yet, the owner and
 * the group of the old one.  Returns whether it has them.
 */
static bool
give_owner (int fd, const struct stat *old)
{
  struct stat st;

  return fchown (fd, old->st_uid, old->st_gid) == 0
    || (fstat (fd, &st) == 0 && st.st_uid == old->st_uid
        && st.st_gid == old->st_gid);
}

/* Does nobody lose or gain a right if another owner has the file? */
static bool
is_public (const struct stat *st)
{
  return (st->st_mode & 07577) == 0444;
}

/* Attributes, among which are the access control lists. */

enum { NAMES = 4096, VALUE = 4096 };

static ssize_t
no_names (ssize_t r)
{
  return r == -1 && errno == ENOTSUP ? 0 : r;
}

/* Has the file at path just the attributes of the one open as fd?  More
 * than we have room for are taken for others.
 */
static bool
same_names (const char *path, int fd, char names[NAMES], ssize_t *size)
{
  char others[NAMES];
  const ssize_t n = no_names (flistxattr (fd, others, sizeof others));

  *size = no_names (llistxattr (path, names, NAMES));
  if (*size == -1 || n != *size)
    return false;
  for (const char *name = names; name < names + n;
       name += strlen (name) + 1) {
    const char *other = others;

    while (other < others + n && strcmp (other, name) != 0)
      other += strlen (other) + 1;
    if (other == others + n)
      return false;
  }
  return true;
}

static bool
same_values (const char *path, int fd, const char *names, ssize_t size)
{
  char value[VALUE], other[VALUE];

  for (const char *name = names; name < names + size;
       name += strlen (name) + 1) {
    const ssize_t n = lgetxattr (path, name, value, sizeof value);

    if (n == -1 || fgetxattr (fd, name, other, sizeof other) != n
        || memcmp (value, other, (size_t) n) != 0)
      return false;
  }
  return true;
}

/* Make a new file, still empty, just like the one at path.  At no moment
 * has it more rights: a mode is given to it only where there is no access
 * control list that would give it another meaning.
 */
static bool
make_alike (int fd, const char *path, const struct stat *old)
{
  char names[NAMES];
  ssize_t size;

  return (give_owner (fd, old) || is_public (old))
    && same_names (path, fd, names, &size)
    && fchmod (fd, old->st_mode & 07777) == 0
    && same_values (path, fd, names, size);
}

/* The old file was removed: as much of its rights as cannot become more
 * with another owner, and without its access control list.
 */
static void
make_similar (int fd, int removed, const struct stat *old)
{
  const bool acl = fgetxattr (removed, "system.posix_acl_access", NULL, 0) > 0
    || fgetxattr (fd, "system.posix_acl_access", NULL, 0) > 0;
  mode_t mode = old->st_mode & 0777;

  if (!give_owner (fd, old))
    mode &= 0707 | (mode & 7) << 3;
  fchmod (fd, acl ? mode & 0700 : mode);
}

/* Without replacing it. */

/* Create it where it was removed. */
static int
create_again (const struct report_file *file, const struct stat *old)
{
  int fd = open (file->path, TO_WRITE | O_CREAT | O_EXCL,
                 old->st_mode & 0600);

  if (fd != -1)
    make_similar (fd, file->fd, old);
  return fd;
}

/* Have the file open that is at the path now, or a new one. */
static const char *
reopen (struct report_file *file, const struct stat *now, bool there)
{
  struct stat st;
  int fd;

  if (there && descriptor_is (file->fd, now))
    return NULL;
  fd = there ? open (file->path, TO_WRITE | O_NOFOLLOW)
             : create_again (file, now);
  if (fd == -1)
    return there ? "cannot open it" : "it was removed: cannot create it";
  if (fstat (fd, &st) == -1 || !S_ISREG (st.st_mode)) {
    close (fd);
    errno = EAGAIN;
    return "cannot open it";
  }
  close (file->fd);
  file->fd = fd;
  return NULL;
}

/* A file system that is full may hold the first part of it only. */
static int
write_at (int fd, const char *data, size_t size, off_t at)
{
  ssize_t r;

  while (size > 0) {
    r = pwrite (fd, data, size, at);
    if (r == -1 && errno != EINTR)
      return -1;
    if (r > 0) {
      data += r;
      size -= (size_t) r;
      at += r;
    }
  }
  return 0;
}

/* See to it that the file can be overwritten without a want of room.
 * Where the file system cannot reserve any, the end of the report that
 * goes beyond the end of the file takes it.
 */
static int
reserve (int fd, const char *report, size_t size, off_t old_size)
{
  const size_t fits = old_size < (off_t) size ? (size_t) old_size : size;
  struct rlimit limit;
  int saved_errno;

  if (getrlimit (RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur) {
    errno = EFBIG;
    return -1;
  }
  if (fallocate (fd, 0, 0, (off_t) size) == 0
      || (errno == EOPNOTSUPP
          && write_at (fd, report + fits, size - fits, old_size) == 0))
    return 0;
  saved_errno = errno;
  if (fits < size && ftruncate (fd, old_size) == -1)
    saved_errno = errno;
  errno = saved_errno;
  return -1;
}

/* Where a new file cannot take its place.  The old report stays until it
 * is sure that there is room for the new one.
 */
static const char *
overwrite (struct report_file *file, const char *report, size_t size,
           const struct stat *now, bool there)
{
  const char *what;
  struct stat st;

  if (!there) {
    errno = ENOENT;
    return "it was removed: cannot find it";
  }
  what = reopen (file, now, there);
  if (what)
    return what;
  if (fstat (file->fd, &st) == -1)
    return "cannot look at it";
  if (fcntl (file->fd, F_SETFL, O_NONBLOCK) == -1) /* no O_APPEND */
    return "cannot overwrite it";
  if (reserve (file->fd, report, size, st.st_size) == -1)
    return "cannot find room for it";
  if (write_at (file->fd, report, size, 0) == -1)
    return "cannot write";
  if (ftruncate (file->fd, (off_t) size) == -1)
    return "cannot cut off the rest of the old one";
  return NULL;
}

/* Replacing it. */

/* There may be no right to make files in the directory or to replace those
 * of others (after --user, or in a sticky one like /tmp), a file may be a
 * mount point of its own (in containers), or its path too long for another
 * name.
 */
static bool
is_forbidden (int error)
{
  return error == EACCES || error == EPERM || error == EROFS
    || error == EBUSY || error == EXDEV || error == ENAMETOOLONG;
}

/* The name does not depend on that of the file, which may be as long as
 * names can be, nor on the process, whose number others may have as well.
 */
static char *
new_name (const struct report_file *file)
{
  const char *slash = strrchr (file->path, '/');
  char *name;

  if (asprintf (&name, "%.*s/nbdkit-stats.XXXXXX",
                (int) (slash - file->path), file->path) == -1)
    return NULL;
  return name;
}

/* Some file systems tell at a close only that they had no room. */
static int
write_all (int fd, const char *report, size_t size)
{
  int copy;

  if (write_at (fd, report, size, 0) == -1)
    return -1;
  copy = fcntl (fd, F_DUPFD_CLOEXEC, 0);
  return copy == -1 ? -1 : close (copy);
}

static void
discard (int fd, const char *name)
{
  const int saved_errno = errno;

  close (fd);
  unlink (name);
  errno = saved_errno;
}

/* Write a new file and put it in the place of the old one.  Returns -1
 * with *what set where that went wrong, or NULL where it is no use.
 */
static int
write_new (struct report_file *file, char *name, const char *report,
           size_t size, const struct stat *old, bool there,
           const char **what)
{
  int fd = mkostemp (name, O_CLOEXEC);

  *what = fd == -1 && !is_forbidden (errno)
    ? "cannot make a new file beside it" : NULL;
  if (fd == -1)
    return -1;
  if (!there)
    make_similar (fd, file->fd, old);
  if (!there || make_alike (fd, file->path, old)) {
    if (write_all (fd, report, size) == -1)
      *what = "cannot write";
    else if (rename (name, file->path) == 0) {
      close (file->fd);
      file->fd = fd;
      return 0;
    }
    else if (!is_forbidden (errno))
      *what = "cannot rename the new file";
  }
  discard (fd, name);
  return -1;
}

const char *
report_file_replace (struct report_file *file, const char *report,
                     size_t size)
{
  struct stat now;
  bool there;
  const char *what = look (file, &now, &there);
  char *name;
  int r;

  if (what)
    return what;
  name = new_name (file);
  if (name == NULL)
    return "cannot name a new file";
  r = write_new (file, name, report, size, &now, there, &what);
  free (name);
  return r == 0 || what ? what
                        : overwrite (file, report, size, &now, there);
}

/* Adding to it. */

bool
report_file_goes_on (const struct report_file *file)
{
  struct stat now;
  bool there;

  return look (file, &now, &there) == NULL && there && now.st_size > 0
    && descriptor_is (file->fd, &now);
}

/* Does the file end in the middle of a line?  A process that is killed
 * while it writes can leave that behind; ours would be glued to it.
 */
static bool
ends_in_fragment (const struct report_file *file, off_t size)
{
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  int fd = size > 0 ? open (file->path, flags) : -1;
  char last = '\n';

  if (fd == -1)
    return false;
  if (pread (fd, &last, 1, size - 1) != 1)
    last = '\n';
  close (fd);
  return last != '\n';
}

/* Wait until a write that is going on is through.  Most file systems do
 * one thing at a time to a file; to reserve the room of its first byte,
 * which it has, changes nothing.  On others some time has to do.
 */
static void
await_writer (int fd)
{
  const struct timespec pause = { .tv_nsec = 20000000 };

  (void) !fallocate (fd, FALLOC_FL_KEEP_SIZE, 0, 1);
  nanosleep (&pause, NULL);
}

/* Begin a new line after a fragment.  A file that another process is about
 * to append to looks the same for a while, however long it is preempted in
 * the middle of it, but then grows.
 */
static void
end_fragment (const struct report_file *file)
{
  struct stat before, after;

  if (fstat (file->fd, &before) == -1
      || !ends_in_fragment (file, before.st_size))
    return;
  await_writer (file->fd);
  if (fstat (file->fd, &after) == 0 && after.st_size == before.st_size
      && ends_in_fragment (file, after.st_size))
    (void) !write (file->fd, "\n", 1);
}

/* One write, so that several processes can append to one file.  A report
 * that did not fit on the disk is taken back, if nothing came after it.
 */
static const char *
write_at_end (int fd, const char *report, size_t size)
{
  struct stat before, after;
  ssize_t r;

  if (fstat (fd, &before) == -1)
    return "cannot look at it";
  do
    r = write (fd, report, size);
  while (r == -1 && errno == EINTR);
  if (r == (ssize_t) size)
    return NULL;
  if (r == -1)
    return "cannot write";
  if (fstat (fd, &after) == 0 && after.st_size == before.st_size + r
      && ftruncate (fd, before.st_size) == -1)
    return "a part of it stays in the file: cannot cut it off";
  errno = ENOSPC;
  return "cannot write";
}

const char *
report_file_append (struct report_file *file, const char *report,
                    size_t size, bool first)
{
  struct stat now;
  bool there;
  const char *what = look (file, &now, &there);

  if (what == NULL)
    what = reopen (file, &now, there);
  if (what)
    return what;
  if (fcntl (file->fd, F_SETFL, O_APPEND | O_NONBLOCK) == -1)
    return "cannot append to it";
  if (first)
    end_fragment (file);
  return write_at_end (file->fd, report, size);
}
