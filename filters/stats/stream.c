/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "stream.h"

#define PATIENCE_NS (5 * NS_PER_S)

void
patience_begin (struct patience *patience)
{
  patience->until = clock_now () + (patience->lost ? 0 : PATIENCE_NS);
}

int
stream_dup (int fd)
{
  const int flags = fcntl (fd, F_GETFL);
  char name[32];
  struct stat st;
  int copy = -1;

  if (flags == -1 || fstat (fd, &st) == -1)
    return -1;
  if ((flags & O_ACCMODE) == O_RDONLY) {
    errno = EBADF;
    return -1;
  }
  if (S_ISFIFO (st.st_mode) || isatty (fd)) {
    snprintf (name, sizeof name, "/proc/self/fd/%d", fd);
    copy = open (name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  }
  return copy != -1 ? copy : fcntl (fd, F_DUPFD_CLOEXEC, 0);
}

/* How much can be written without blocking where poll says that there is
 * room.  A pipe that has any takes PIPE_BUF bytes, and so do other things
 * that block; a terminal may have room for one character.
 */
static size_t
most_at_once (int fd)
{
  const int flags = fcntl (fd, F_GETFL);
  struct stat st;

  if ((flags != -1 && flags & O_NONBLOCK)
      || (fstat (fd, &st) == 0 && S_ISREG (st.st_mode)))
    return SSIZE_MAX;
  return isatty (fd) ? 1 : PIPE_BUF;
}

static int
give_up (struct patience *patience)
{
  patience->lost = true;
  errno = ETIMEDOUT;
  return -1;
}

static int
wait_for_room (int fd, struct patience *patience)
{
  const uint64_t left = clock_since (clock_now (), patience->until);
  struct pollfd pfd = { .fd = fd, .events = POLLOUT };
  int r = poll (&pfd, 1, (int) (left / 1000000));

  if (r > 0 || (r == -1 && errno == EINTR))
    return 0;
  return r == 0 ? give_up (patience) : -1;
}

/* Sockets have a way of their own not to block. */
static ssize_t
write_some (int fd, const char *data, size_t size)
{
  ssize_t r = send (fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);

  return r == -1 && errno == ENOTSOCK ? write (fd, data, size) : r;
}

int
stream_write (int fd, const char *data, size_t size,
              struct patience *patience)
{
  const size_t most = most_at_once (fd);
  ssize_t r;

  while (size > 0) {
    if (wait_for_room (fd, patience) == -1)
      return -1;
    r = write_some (fd, data, size < most ? size : most);
    if (r == -1 && errno != EAGAIN && errno != EINTR)
      return -1;
    if (r <= 0 && clock_now () >= patience->until)
      return give_up (patience);
    if (r > 0) {
      data += r;
      size -= (size_t) r;
      if (patience->lost) {
        patience->lost = false;
        patience_begin (patience);
      }
    }
  }
  return 0;
}
