/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nbdkit-filter.h>

#include "child.h"

bool child_here;

static void
child_main (int (*fn) (const void *arg, void *result), const void *arg,
            void *result, size_t size, int fd)
{
  bool good;

  signal (SIGINT, SIG_DFL);
  signal (SIGTERM, SIG_DFL);
  good = fn (arg, result) == 0
    && write (fd, result, size) == (ssize_t) size;
  _exit (good ? EXIT_SUCCESS : EXIT_FAILURE);
}

static int
child_wait (pid_t pid)
{
  int status;

  if (waitpid (pid, &status, 0) == -1) {
    nbdkit_error ("waitpid: %m");
    return -1;
  }
  if (WIFSIGNALED (status))
    nbdkit_error ("the measurement was ended by signal %d",
                  WTERMSIG (status));
  return WIFEXITED (status) && WEXITSTATUS (status) == EXIT_SUCCESS ? 0 : -1;
}

int
in_child (int (*fn) (const void *arg, void *result), const void *arg,
          void *result, size_t size)
{
  int fds[2];
  pid_t pid;
  bool got;

  if (child_here)
    return fn (arg, result);
  fflush (NULL);
  if (pipe (fds) == -1 || (pid = fork ()) == -1) {
    nbdkit_error ("pipe or fork: %m");
    return -1;
  }
  if (pid == 0) {
    close (fds[0]);
    child_main (fn, arg, result, size, fds[1]);
  }
  close (fds[1]);
  got = read (fds[0], result, size) == (ssize_t) size;
  close (fds[0]);
  return child_wait (pid) == 0 && got ? 0 : -1;
}
