/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Pipes, terminals and sockets are written to, and never waited for longer
 * than there is patience.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "stream.h"
#include "unit.h"

enum { BIG = 1024 * 1024 };
static char data[BIG], got[BIG];

static struct patience
patience_of (uint64_t ns)
{
  return (struct patience) { .until = clock_now () + ns };
}

/* Ends of streams: what is written to the one can be read at the other. */
struct ends { int write, read; };

static struct ends
make_pipe (void)
{
  int fds[2];

  assert_int_equal (pipe2 (fds, O_CLOEXEC), 0);
  return (struct ends) { fds[1], fds[0] };
}

static struct ends
make_socket (void)
{
  int fds[2];

  assert_int_equal (
    socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  return (struct ends) { fds[1], fds[0] };
}

static struct ends
make_terminal (void)
{
  int master = posix_openpt (O_RDWR | O_NOCTTY | O_CLOEXEC);
  char name[64];

  if (master == -1 || grantpt (master) == -1 || unlockpt (master) == -1
      || ptsname_r (master, name, sizeof name) != 0) {
    print_message ("skipped: no terminals here: %s\n", strerror (errno));
    skip ();
  }
  return (struct ends) { open (name, O_RDWR | O_NOCTTY | O_CLOEXEC),
                         master };
}

static struct ends (*const makers[]) (void) = {
  make_pipe, make_socket, make_terminal,
};

static void
close_both (struct ends ends)
{
  close (ends.write);
  close (ends.read);
}

/* Nobody reads: what fits is written, and then it is given up, be the
 * descriptor blocking or not, ours or that of others.  From then on nobody
 * waits at all.
 */
static void
test_nobody_reads (void **state)
{
  (void) state;
  for (size_t i = 0; i < LENGTH (makers); i++) {
    for (int dup = 0; dup <= 1; dup++) {
      struct ends ends = makers[i] ();
      int fd = dup ? stream_dup (ends.write) : ends.write;
      struct patience patience = patience_of (50 * MS);

      assert_int_not_equal (fd, -1);
      assert_int_equal (stream_write (fd, data, BIG, &patience), -1);
      assert_int_equal (errno, ETIMEDOUT);
      assert_true (clock_now () >= patience.until - MS);
      assert_true (patience.lost);

      patience_begin (&patience);
      assert_true (patience.until <= clock_now ());
      assert_int_equal (stream_write (fd, data, BIG, &patience), -1);
      assert_int_equal (errno, ETIMEDOUT);
      assert_int_equal (fcntl (ends.write, F_GETFL) & O_NONBLOCK, 0);
      if (dup)
        close (fd);
      close_both (ends);
    }
  }
}

/* One byte of room, or hardly more, is not taken for room for all. */
static void
test_little_room (void **state)
{
  (void) state;
  for (size_t i = 0; i < LENGTH (makers); i++) {
    struct ends ends = makers[i] ();
    struct patience patience = patience_of (50 * MS);
    ssize_t room = 0;

    assert_int_equal (stream_write (ends.write, data, BIG, &patience), -1);
    for (size_t n = 1; n <= 16384; n *= 2) {
      room += read (ends.read, got, n);
      patience = patience_of (5 * MS);
      assert_int_equal (stream_write (ends.write, data, BIG, &patience), -1);
      assert_int_equal (errno, ETIMEDOUT);
    }
    assert_true (room > 0);
    close_both (ends);
  }
}

/* Somebody reads all of it. */

static struct ends with_reader;

static void *
read_all (void *vp)
{
  size_t n = 0;
  ssize_t r = 1;

  (void) vp;
  while (n < BIG && r > 0) {
    r = read (with_reader.read, got + n, BIG - n < 999 ? BIG - n : 999);
    n += r > 0 ? (size_t) r : 0;
  }
  return NULL;
}

static void
test_reader (void **state)
{
  (void) state;
  for (size_t i = 0; i < BIG; i++)
    data[i] = (char) ('a' + i % 23);
  for (size_t i = 0; i < LENGTH (makers) - 1; i++) {
    for (int dup = 0; dup <= 1; dup++) {
      struct patience patience = patience_of (600 * S);
      pthread_t thread;
      int fd;

      with_reader = makers[i] ();
      fd = dup ? stream_dup (with_reader.write) : with_reader.write;
      memset (got, 0, sizeof got);
      assert_int_equal (pthread_create (&thread, NULL, read_all, NULL), 0);
      assert_int_equal (stream_write (fd, data, BIG, &patience), 0);
      pthread_join (thread, NULL);
      assert_memory_equal (got, data, BIG);
      assert_false (patience.lost);
      if (dup)
        close (fd);
      close_both (with_reader);
    }
  }
}

/* A reader that was given up and takes something is waited for again. */
static void
test_reader_again (void **state)
{
  struct ends ends = make_pipe ();
  struct patience patience = patience_of (5 * MS);
  uint64_t before;

  (void) state;
  assert_int_equal (stream_write (ends.write, data, BIG, &patience), -1);
  assert_true (patience.lost);
  while (read (ends.read, got, 65536) == 65536 && poll (&(struct pollfd) {
           .fd = ends.read, .events = POLLIN }, 1, 0) > 0)
    ;
  before = clock_now ();
  patience_begin (&patience);
  assert_int_equal (stream_write (ends.write, "new\n", 4, &patience), 0);
  assert_false (patience.lost);
  assert_true (patience.until >= before + 5 * S);
  close_both (ends);
}

/* The reader is gone: an error, and no signal. */
static void
test_no_reader (void **state)
{
  (void) state;
  for (size_t i = 0; i < LENGTH (makers) - 1; i++) {
    struct ends ends = makers[i] ();
    struct patience patience = patience_of (600 * S);

    close (ends.read);
    assert_int_equal (stream_write (ends.write, "new\n", 4, &patience), -1);
    assert_int_equal (errno, EPIPE);
    assert_false (patience.lost);
    close (ends.write);
  }
}

static void
test_dup_errors (void **state)
{
  struct ends ends = make_pipe ();

  (void) state;
  assert_int_equal (stream_dup (ends.read), -1);
  assert_int_equal (errno, EBADF);
  close_both (ends);
  assert_int_equal (stream_dup (ends.write), -1);
  assert_int_equal (errno, EBADF);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_nobody_reads),
    cmocka_unit_test (test_little_room),
    cmocka_unit_test (test_reader),
    cmocka_unit_test (test_reader_again),
    cmocka_unit_test (test_no_reader),
    cmocka_unit_test (test_dup_errors),
  };

  /* As in nbdkit. */
  signal (SIGPIPE, SIG_IGN);
  return cmocka_run_group_tests (tests, NULL, NULL);
}
