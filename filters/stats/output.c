/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "output.h"

enum destination {
  TO_STDERR,
  TO_SYSLOG,                    /* standard error leads nowhere */
  TO_FILE,                      /* regular: replace or append */
  TO_DEVICE,                    /* written straight through */
  TO_FIFO,                      /* the same, opened when there is a report */
};

struct output {
  enum destination to;
  enum output_mode mode;
  bool begun;                   /* a report of ours is in the file */
  bool failing;                 /* the last report was lost, and that told */
  bool stuck;                   /* nobody took what was written last */
  output_error_fn error;
  struct stat stderr_was;       /* before the server forked */
  char *path;                   /* without symbolic links; NULL for stderr */
  char *new_path;               /* beside it, where a new report is written */
  int fd;                       /* the file as it was at the start, or -1 */
};

/* How long a reader of a FIFO, or a terminal that was stopped, may take
 * to make room before the report is given up.
 */
#define PATIENCE_MS 5000

/* The number of an open descriptor that path stands for, or -1.  Such a
 * path is never opened: a file would be truncated or replaced under the
 * shell that opened it.
 */
static int
descriptor_of (const char *path)
{
  static const char *const prefixes[] = { "/dev/fd/", "/proc/self/fd/" };
  int fd, end;

  if (path == NULL || strcmp (path, "/dev/stderr") == 0)
    return STDERR_FILENO;
  if (strcmp (path, "/dev/stdout") == 0)
    return STDOUT_FILENO;
  for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
    const size_t len = strlen (prefixes[i]);

    if (strncmp (path, prefixes[i], len) == 0
        && sscanf (path + len, "%d%n", &fd, &end) == 1
        && path[len + (size_t) end] == '\0')
      return fd;
  }
  return -1;
}

static bool
is_dev_null (const struct stat *st)
{
  return S_ISCHR (st->st_mode) && st->st_rdev == makedev (1, 3);
}

/* Standard error is used as it is when a report is written, since a server
 * in the background gives it up; of others we keep a copy.
 */
static int
open_descriptor (struct output *output, int fd)
{
  if (fd == STDERR_FILENO) {
    output->to = TO_STDERR;
    if (fstat (fd, &output->stderr_was) == -1)
      memset (&output->stderr_was, 0, sizeof output->stderr_was);
    return 0;
  }
  output->to = TO_DEVICE;
  output->fd = fcntl (fd, F_DUPFD_CLOEXEC, 0);
  return output->fd == -1 ? -1 : 0;
}

/* In a directory like /tmp, Linux may refuse O_CREAT for a file of another
 * user that it would open.
 */
static int
open_or_create (const char *path)
{
  const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY;
  int fd = open (path, flags);

  if (fd == -1 && errno == ENOENT)
    fd = open (path, flags | O_CREAT, 0666);
  return fd;
}

/* What kind of file is there, if any?  Opening a FIFO would wait for its
 * reader, so it is only looked at.
 */
static int
open_file (struct output *output, const char *path)
{
  struct stat st;

  if (stat (path, &st) == 0 && S_ISFIFO (st.st_mode)) {
    output->to = TO_FIFO;
    return access (path, W_OK);
  }
  output->fd = open_or_create (path);
  if (output->fd == -1 || fstat (output->fd, &st) == -1)
    return -1;
  output->to = S_ISREG (st.st_mode) ? TO_FILE : TO_DEVICE;
  return 0;
}

/* Links are resolved, since a rename would replace the link itself. */
static int
set_names (struct output *output, const char *path)
{
  output->path = output->to == TO_FILE ? realpath (path, NULL)
                                       : strdup (path);
  if (output->path == NULL)
    return -1;
  return asprintf (&output->new_path, "%s.%ld.tmp", output->path,
                   (long) getpid ());
}

static int
open_path (struct output *output, const char *path)
{
  const int fd = descriptor_of (path);
  int r = fd != -1 ? open_descriptor (output, fd) : open_file (output, path);

  if (r == -1 || output->to == TO_STDERR)
    return r;
  return set_names (output, path);
}

struct output *
output_open (const char *path, enum output_mode mode,
             output_error_fn error)
{
  struct output *output = calloc (1, sizeof *output);

  if (output == NULL) {
    error ("statsfile: %s", strerror (errno));
    return NULL;
  }
  output->mode = mode;
  output->error = error;
  output->fd = -1;
  if (open_path (output, path) == -1) {
    error ("statsfile=%s: %s", path ? path : "-", strerror (errno));
    output_close (output);
    return NULL;
  }
  return output;
}

void
output_close (struct output *output)
{
  if (output == NULL)
    return;
  if (output->fd != -1)
    close (output->fd);
  free (output->path);
  free (output->new_path);
  free (output);
}

void
output_after_fork (struct output *output)
{
  struct stat st;

  if (output->to == TO_STDERR && fstat (STDERR_FILENO, &st) == 0
      && is_dev_null (&st) && !is_dev_null (&output->stderr_was))
    output->to = TO_SYSLOG;
}

bool
output_is_syslog (const struct output *output)
{
  return output->to == TO_SYSLOG;
}

const char *
output_name (const struct output *output)
{
  switch (output->to) {
  case TO_STDERR: return "standard error";
  case TO_SYSLOG: return "the system log";
  default:        return output->path;
  }
}

static int
failed (struct output *output, const char *what)
{
  if (!output->failing)
    output->error ("statsfile=%s: the report is lost: cannot %s: %s",
                   output_name (output), what, strerror (errno));
  output->failing = true;
  return -1;
}

void
output_lost (struct output *output, bool last)
{
  if (last)
    output->failing = false;
  errno = ENOMEM;
  failed (output, "find memory for it");
}

/* Wait until fd takes more.  A descriptor that we did not open may be
 * non-blocking.
 */
static int
wait_writable (struct output *output, int fd)
{
  struct pollfd pfd = { .fd = fd, .events = POLLOUT };
  int r = poll (&pfd, 1, output->stuck ? 0 : PATIENCE_MS);

  output->stuck = r == 0;
  if (r == 0)
    errno = ETIMEDOUT;
  return r > 0 || (r == -1 && errno == EINTR) ? 0 : -1;
}

/* Write all of it, mostly in one write. */
static int
write_all (struct output *output, int fd, const char *buf, size_t size)
{
  ssize_t r;

  while (size > 0) {
    r = write (fd, buf, size);
    if (r >= 0) {
      buf += r;
      size -= (size_t) r;
    }
    else if (errno == EAGAIN) {
      if (wait_writable (output, fd) == -1)
        return -1;
    }
    else if (errno != EINTR)
      return -1;
  }
  return 0;
}

static int
write_syslog (const char *report, size_t size)
{
  const char *end = report + size;

  while (report < end) {
    const char *newline = memchr (report, '\n', (size_t) (end - report));
    const char *stop = newline ? newline : end;

    if (stop > report)
      syslog (LOG_DAEMON | LOG_INFO, "%.*s", (int) (stop - report), report);
    report = stop + 1;
  }
  return 0;
}

/* Only a reader makes it possible to open it.  It stays open, since the
 * reader would take a close for the end; when the reader goes, the next
 * one is looked for.
 */
static int
write_fifo (struct output *output, const char *report, size_t size)
{
  if (output->fd == -1)
    output->fd = open (output->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (output->fd == -1)
    return failed (output, errno == ENXIO ? "find a reader" : "open it");
  if (write_all (output, output->fd, report, size) == 0)
    return 0;
  failed (output, "write");
  close (output->fd);
  output->fd = -1;
  return -1;
}

/* The file that was opened at the start may have been moved away or
 * removed since then; who does that to a log expects a new one.
 */
static int
reopen_removed (struct output *output)
{
  struct stat st, now;
  int fd;

  if (fstat (output->fd, &st) == 0 && stat (output->path, &now) == 0
      && st.st_dev == now.st_dev && st.st_ino == now.st_ino)
    return 0;
  fd = open_or_create (output->path);
  if (fd == -1)
    return -1;
  close (output->fd);
  output->fd = fd;
  return 0;
}

/* Does the file end in the middle of a line?  A process that is killed
 * while it writes can leave that behind; ours would be glued to it.
 */
static bool
ends_in_fragment (const struct output *output, off_t size)
{
  int fd = size > 0 ? open (output->path, O_RDONLY | O_CLOEXEC) : -1;
  char last = '\n';

  if (fd == -1)
    return false;
  if (pread (fd, &last, 1, size - 1) != 1)
    last = '\n';
  close (fd);
  return last != '\n';
}

/* Begin a new line after a fragment.  A file that another process is about
 * to append to looks the same for a moment, but then grows.
 */
static void
end_fragment (struct output *output)
{
  const struct timespec pause = { .tv_nsec = 20000000 };
  struct stat before, after;

  if (fstat (output->fd, &before) == -1
      || !ends_in_fragment (output, before.st_size))
    return;
  nanosleep (&pause, NULL);
  if (fstat (output->fd, &after) == 0 && after.st_size == before.st_size
      && ends_in_fragment (output, after.st_size))
    (void) !write (output->fd, "\n", 1);
}

/* One write, so that several processes can append to one file.  A report
 * that did not fit on the disk is taken back, if nothing came after it.
 */
static int
append_file (struct output *output, const char *report, size_t size)
{
  struct stat before, after;
  ssize_t r;

  if (reopen_removed (output) == -1)
    return failed (output, "open it");
  if (!output->begun)
    end_fragment (output);
  if (fstat (output->fd, &before) == -1)
    return failed (output, "look at it");
  do
    r = write (output->fd, report, size);
  while (r == -1 && errno == EINTR);
  if (r == (ssize_t) size)
    return 0;
  if (r >= 0) {
    if (fstat (output->fd, &after) == 0
        && after.st_size == before.st_size + r
        && ftruncate (output->fd, before.st_size) == -1)
      output->error ("statsfile=%s: ends in part of a report: %s",
                     output->path, strerror (errno));
    errno = ENOSPC;
  }
  return failed (output, "write");
}

/* After --user there may be no right to make files in the directory, or in
 * a sticky one like /tmp to replace those of others.
 */
static bool
is_forbidden (int error)
{
  return error == EACCES || error == EPERM || error == EROFS;
}

/* Then the only way is through the descriptor that was opened before. */
static int
overwrite_file (struct output *output, const char *report, size_t size)
{
  struct stat st;

  if (fstat (output->fd, &st) == -1)
    return failed (output, "look at it");
  if (st.st_nlink == 0) {
    errno = ENOENT;
    return failed (output, "find it, it was removed");
  }
  if (ftruncate (output->fd, 0) == -1)
    return failed (output, "empty it");
  if (write_all (output, output->fd, report, size) == -1)
    return failed (output, "write");
  return 0;
}

static int
open_new (const char *path)
{
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  int fd = open (path, flags, 0666);

  /* Left over by a killed process that had our pid. */
  if (fd == -1 && errno == EEXIST && unlink (path) == 0)
    fd = open (path, flags, 0666);
  return fd;
}

/* The new file takes over who may read the old one, as far as we are
 * allowed to give it away.
 */
static void
copy_rights (int from, int to)
{
  struct stat st;

  if (fstat (from, &st) == -1)
    return;
  if (fchown (to, st.st_uid, st.st_gid) == -1)
    st.st_mode &= 0777;
  fchmod (to, st.st_mode & 07777);
}

/* Write a new file beside the old one and put it in its place. */
static int
replace_file (struct output *output, const char *report, size_t size)
{
  const char *what = NULL;
  int fd = open_new (output->new_path);
  int saved_errno;

  if (fd == -1 && is_forbidden (errno))
    return overwrite_file (output, report, size);
  if (fd == -1)
    return failed (output, "make a new file beside it");

  copy_rights (output->fd, fd);
  if (write_all (output, fd, report, size) == -1)
    what = "write";
  saved_errno = errno;
  if (close (fd) == -1 && what == NULL) {
    what = "close";
    saved_errno = errno;
  }
  if (what == NULL && rename (output->new_path, output->path) == -1) {
    what = "rename";
    saved_errno = errno;
  }
  if (what == NULL)
    return 0;
  unlink (output->new_path);
  if (strcmp (what, "rename") == 0 && is_forbidden (saved_errno))
    return overwrite_file (output, report, size);
  errno = saved_errno;
  return failed (output, what);
}

static int
write_file (struct output *output, const char *report, size_t size)
{
  int r;

  if (output->mode == OUTPUT_APPEND
      || (output->mode == OUTPUT_NEW && output->begun))
    r = append_file (output, report, size);
  else
    r = replace_file (output, report, size);
  if (r == 0)
    output->begun = true;
  return r;
}

static int
write_descriptor (struct output *output, int fd, const char *report,
                  size_t size)
{
  if (write_all (output, fd, report, size) == -1)
    return failed (output, "write");
  return 0;
}

static int
write_to (struct output *output, const char *report, size_t size)
{
  switch (output->to) {
  case TO_STDERR:
    return write_descriptor (output, STDERR_FILENO, report, size);
  case TO_DEVICE:
    return write_descriptor (output, output->fd, report, size);
  case TO_SYSLOG:
    return write_syslog (report, size);
  case TO_FIFO:
    return write_fifo (output, report, size);
  case TO_FILE:
    return write_file (output, report, size);
  }
  return -1;
}

/* A write beyond the limit of a file's size (ulimit -f) fails with EFBIG,
 * and raises a signal that would end the server: take it away.
 */
static int
write_without_signal (struct output *output, const char *report, size_t size)
{
  const struct timespec at_once = { 0 };
  sigset_t limit, old;
  int saved_errno, r;

  sigemptyset (&limit);
  sigaddset (&limit, SIGXFSZ);
  pthread_sigmask (SIG_BLOCK, &limit, &old);
  r = write_to (output, report, size);
  saved_errno = errno;
  if (!sigismember (&old, SIGXFSZ))
    sigtimedwait (&limit, NULL, &at_once);
  pthread_sigmask (SIG_SETMASK, &old, NULL);
  errno = saved_errno;
  return r;
}

int
output_write (struct output *output, const char *report, size_t size,
              bool last)
{
  int r;

  if (last)
    output->failing = false;
  r = write_without_signal (output, report, size);
  if (r == 0)
    output->failing = false;
  return r;
}
