/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "system_log.h"

#define SYSTEM_LOG "/dev/log"

static int
connect_as (int type)
{
  const struct sockaddr_un address = {
    .sun_family = AF_UNIX, .sun_path = SYSTEM_LOG,
  };
  int fd = socket (AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int saved_errno;

  if (fd != -1 && connect (fd, (const struct sockaddr *) &address,
                           sizeof address) == -1) {
    saved_errno = errno;
    close (fd);
    errno = saved_errno;
    fd = -1;
  }
  return fd;
}

/* Most logs take datagrams; where one takes a stream, a zero byte ends
 * each message.
 */
static int
connect_to_log (bool *stream)
{
  int fd = connect_as (SOCK_DGRAM);

  *stream = fd == -1 && errno == EPROTOTYPE;
  return *stream ? connect_as (SOCK_STREAM) : fd;
}

bool
system_log_ready (void)
{
  bool stream;
  struct pollfd pfd = { .fd = connect_to_log (&stream), .events = POLLOUT };
  bool ready;

  if (pfd.fd == -1)
    return false;
  ready = poll (&pfd, 1, 0) > 0;
  close (pfd.fd);
  errno = EAGAIN;
  return ready;
}

/* The date is in English in any locale. */
static int
write_line (int fd, bool stream, int severity, const char *line, int size,
            struct patience *patience)
{
  static const char months[][4] = {
    "Jan", "Feb", "Mar", "Apr", "May", "Jun",
    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  };
  const time_t now = time (NULL);
  struct tm tm = { .tm_mday = 1 };
  char *message;
  int n, r;

  localtime_r (&now, &tm);
  n = asprintf (&message, "<%d>%s %2d %02d:%02d:%02d %s[%ld]: %.*s",
                LOG_DAEMON | severity, months[tm.tm_mon], tm.tm_mday,
                tm.tm_hour, tm.tm_min, tm.tm_sec,
                program_invocation_short_name, (long) getpid (), size, line);
  if (n == -1)
    return -1;
  r = stream_write (fd, message, (size_t) n + stream, patience);
  free (message);
  return r;
}

int
system_log_write (int severity, const char *text, size_t size,
                  struct patience *patience)
{
  const char *end = text + size;
  bool stream;
  int fd = connect_to_log (&stream);
  int saved_errno, r = 0;

  if (fd == -1)
    return -1;
  while (r == 0 && text < end) {
    const char *newline = memchr (text, '\n', (size_t) (end - text));
    const char *stop = newline ? newline : end;

    if (stop > text)
      r = write_line (fd, stream, severity, text, (int) (stop - text),
                      patience);
    text = stop + 1;
  }
  saved_errno = errno;
  close (fd);
  errno = saved_errno;
  return r;
}
