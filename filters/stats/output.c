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
#include <unistd.h>

#include "descriptor.h"
#include "output.h"
#include "report_file.h"
#include "stream.h"
#include "system_log.h"

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
  struct patience patience;     /* with whoever reads */
  output_error_fn error;
  struct stat stderr_was;       /* before the server forked */
  bool background;              /* since then it leads nowhere */
  struct report_file file;      /* its path is NULL for standard error */
};

static bool
is_dev_null (const struct stat *st)
{
  return S_ISCHR (st->st_mode) && st->st_rdev == makedev (1, 3);
}

/* Opening. */

static int
open_descriptor (struct output *output, int fd, enum destination to)
{
  output->to = to;
  output->file.fd = stream_dup (fd);
  return output->file.fd == -1 ? -1 : 0;
}

/* What kind of file is there, if any?  Opening a FIFO needs its reader, so
 * it is only looked at.
 */
static int
open_file (struct output *output, const char *path)
{
  struct stat st;

  if (stat (path, &st) == 0 && S_ISFIFO (st.st_mode)) {
    output->to = TO_FIFO;
    return access (path, W_OK);
  }
  output->file.fd = report_file_open (path);
  if (output->file.fd == -1 || fstat (output->file.fd, &st) == -1)
    return -1;
  output->to = S_ISREG (st.st_mode) ? TO_FILE : TO_DEVICE;
  return 0;
}

/* A server in the background gives up standard error, but not a file that
 * was given by its name.
 */
static int
open_destination (struct output *output, const char *path)
{
  int fd = path ? descriptor_named (path) : STDERR_FILENO;

  if (fd == STDERR_FILENO)
    return open_descriptor (output, fd, TO_STDERR);
  if (fd == -1)
    fd = descriptor_of_same_file (path);
  if (fd != -1)
    return open_descriptor (output, fd, TO_DEVICE);
  return open_file (output, path);
}

/* Links are resolved, since a rename would replace the link itself. */
static int
open_path (struct output *output, const char *path)
{
  if (open_destination (output, path) == -1)
    return -1;
  if (output->to == TO_STDERR)
    return 0;
  output->file.path = output->to == TO_DEVICE ? strdup (path)
                                              : realpath (path, NULL);
  return output->file.path ? 0 : -1;
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
  output->file.fd = -1;
  if (fstat (STDERR_FILENO, &output->stderr_was) == -1)
    memset (&output->stderr_was, 0, sizeof output->stderr_was);
  if (open_path (output, path) == -1) {
    error ("statsfile=%s: %s", path ? path : "-", strerror (errno));
    output_close (output);
    return NULL;
  }
  return output;
}

static void
close_descriptor (struct output *output)
{
  if (output->file.fd != -1)
    close (output->file.fd);
  output->file.fd = -1;
}

void
output_close (struct output *output)
{
  if (output == NULL)
    return;
  close_descriptor (output);
  free (output->file.path);
  free (output);
}

bool
output_leads_to (const struct output *output, int fd)
{
  struct stat st;

  return fstat (output->file.fd, &st) == 0 && descriptor_is (fd, &st);
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
  default:        return output->file.path;
  }
}

/* Errors. */

/* The server tells errors on standard error or, in the background, in the
 * system log, and waits until somebody takes them.  So it is asked only
 * where that is now.
 */
static bool
can_tell (const struct output *output)
{
  struct pollfd pfd = { .fd = STDERR_FILENO, .events = POLLOUT };

  return output->background ? system_log_ready () : poll (&pfd, 1, 0) != 0;
}

/* Tell it there, or else in the system log.  A message is one line that a
 * pipe with any room takes whole.
 */
static void
tell (struct output *output, const char *what, const char *why)
{
  struct patience none = { .lost = true };
  char message[1024];

  snprintf (message, sizeof message,
            "statsfile=%.512s: the report is lost: %s%s%s",
            output_name (output), what, why ? ": " : "", why ? why : "");
  if (can_tell (output))
    output->error ("%s", message);
  else
    system_log_write (LOG_ERR, message, strlen (message), &none);
}

static int
failed (struct output *output, const char *what)
{
  if (!output->failing)
    tell (output, what, errno ? strerror (errno) : NULL);
  output->failing = true;
  return -1;
}

void
output_lost (struct output *output, bool last)
{
  if (last)
    output->failing = false;
  errno = ENOMEM;
  failed (output, "cannot find memory for it");
}

/* Standard error as it was when the server started is the last place that
 * its user can see.
 */
static void
tell_on_old_stderr (struct output *output, const char *why)
{
  char message[256];
  const int n = snprintf (message, sizeof message,
    "nbdkit: error: statsfile: in the background the report goes to the "
    "system log, which is not there: %s; give statsfile=FILE\n", why);

  patience_begin (&output->patience);
  stream_write (output->file.fd, message, (size_t) n, &output->patience);
  output->patience.lost = false;
}

void
output_after_fork (struct output *output)
{
  struct stat st;

  output->background = fstat (STDERR_FILENO, &st) == 0 && is_dev_null (&st)
    && !is_dev_null (&output->stderr_was);
  if (!output->background || output->to != TO_STDERR)
    return;
  output->to = TO_SYSLOG;
  if (!system_log_ready ())
    tell_on_old_stderr (output, strerror (errno));
  close_descriptor (output);
}

/* Writing. */

bool
output_at_top (const struct output *output)
{
  switch (output->to) {
  case TO_FILE:
    return !output->begun || !report_file_goes_on (&output->file);
  case TO_FIFO:
    return output->file.fd == -1;
  default:
    return false;
  }
}

static int
write_stream (struct output *output, const char *report, size_t size)
{
  if (stream_write (output->file.fd, report, size, &output->patience) == -1)
    return failed (output, "cannot write");
  return 0;
}

static int
write_syslog (struct output *output, const char *report, size_t size)
{
  if (system_log_write (LOG_INFO, report, size, &output->patience) == -1)
    return failed (output, "cannot write");
  return 0;
}

/* A link or another kind of file that took its place is not used, nor even
 * opened, which may do something to a device.
 */
static const char *
open_fifo (struct report_file *file)
{
  struct stat st;

  if (lstat (file->path, &st) == 0 && !S_ISFIFO (st.st_mode)) {
    errno = 0;
    return "something that is no FIFO has taken its place";
  }
  file->fd = open (file->path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY
                               | O_CLOEXEC);
  if (file->fd == -1)
    return errno == ENXIO ? "cannot find a reader" : "cannot open it";
  if (fstat (file->fd, &st) == 0 && S_ISFIFO (st.st_mode))
    return NULL;
  close (file->fd);
  file->fd = -1;
  errno = EAGAIN;
  return "cannot open it";
}

/* Only a reader makes it possible to open it.  It stays open, since the
 * reader would take a close for the end; when the reader goes, the next
 * one is looked for.
 */
static int
write_fifo (struct output *output, const char *report, size_t size)
{
  const char *what = output->file.fd == -1 ? open_fifo (&output->file) : NULL;

  if (what)
    return failed (output, what);
  if (write_stream (output, report, size) == 0)
    return 0;
  close_descriptor (output);
  return -1;
}

static int
write_file (struct output *output, const char *report, size_t size)
{
  const char *what;

  if (output->mode == OUTPUT_APPEND
      || (output->mode == OUTPUT_NEW && output->begun))
    what = report_file_append (&output->file, report, size, !output->begun);
  else
    what = report_file_replace (&output->file, report, size);
  if (what)
    return failed (output, what);
  output->begun = true;
  return 0;
}

static int
write_to (struct output *output, const char *report, size_t size)
{
  patience_begin (&output->patience);
  switch (output->to) {
  case TO_STDERR:
  case TO_DEVICE:
    return write_stream (output, report, size);
  case TO_SYSLOG:
    return write_syslog (output, report, size);
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
