/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Connections: opened, failed, at once, and by export name; and what is
 * kept of one that is closed.
 */

#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "connections.h"
#include "fail-alloc.h"
#include "unit-threads.h"

static struct connections connections;

static int
start (void **state)
{
  (void) state;
  connections_init (&connections);
  return 0;
}

static int
stop (void **state)
{
  (void) state;
  connections_free (&connections);
  return 0;
}

static struct connections_totals
read_totals (void)
{
  struct connections_totals totals;

  memset (&totals, 0xff, sizeof totals);
  connections_read (&connections, &totals);
  return totals;
}

/* What is asked before the first request takes so long in all. */
static struct connection *
open_one (const char *name, uint64_t ns)
{
  struct connection *connection = connection_new (&connections, name);

  assert_non_null (connection);
  connection_ask (connection);
  connection_asked (connection, ns / 2, false);
  connection_opened (connection);
  connection_ask (connection);
  connection_asked (connection, ns - ns / 2, false);
  connection_answered (connection);
  return connection;
}

static void
open_ok (const char *name, uint64_t ns)
{
  connection_closed (open_one (name, ns));
}

static void
open_bad (const char *name, uint64_t ns)
{
  struct connection *connection = connection_new (&connections, name);

  assert_non_null (connection);
  connection_ask (connection);
  connection_asked (connection, ns, true);
  connection_release (connection);
}

static void
check_opens (const struct opens *opens, uint64_t opened, uint64_t failed,
             uint64_t ns, uint64_t longest_ns)
{
  assert_int_equal (opens->opened, opened);
  assert_int_equal (opens->failed, failed);
  assert_int_equal (opens->ns, ns);
  assert_int_equal (opens->longest_ns, longest_ns);
}

static void
check_at_once (uint64_t now, uint64_t recent_most, uint64_t most)
{
  const struct connections_totals totals = read_totals ();

  assert_int_equal (totals.now, now);
  assert_int_equal (totals.recent_most, recent_most);
  assert_int_equal (totals.most, most);
}

static void
test_nothing (void **state)
{
  const struct connections_totals totals = read_totals ();

  (void) state;
  check_opens (&totals.all, 0, 0, 0, 0);
  assert_int_equal (totals.nr_exports, 0);
  check_at_once (0, 0, 0);
}

/* Failed ones take time, too, but are never open. */
static void
test_opens (void **state)
{
  struct connections_totals totals;
  struct connection *first, *second;

  (void) state;
  first = open_one ("", 100);
  open_bad ("", 3000);
  second = open_one ("", 20);
  open_bad ("", 0);
  totals = read_totals ();
  check_opens (&totals.all, 2, 2, 3120, 3000);
  check_at_once (2, 2, 2);
  connection_closed (first);
  connection_closed (second);
  check_at_once (0, 2, 2);
  totals = read_totals ();
  check_opens (&totals.all, 2, 2, 3120, 3000);
}

/* A client connects, whether or not it opens anything then. */
static void
test_clients (void **state)
{
  struct connections_totals totals;

  (void) state;
  for (unsigned i = 0; i < 3; i++)
    connections_client (&connections);
  open_ok ("", 1);
  open_ok ("", 1);
  totals = read_totals ();
  assert_int_equal (totals.clients, 3);
  assert_int_equal (totals.all.opened, 2);
}

/* It is decided whether it was opened when its size is known and a report
 * asks, when something fails, or when it closes.  What comes later is no
 * opening any more.
 */
static void
test_decided (void **state)
{
  struct connections_totals totals;
  struct connection *connection = connection_new (&connections, "");

  (void) state;
  assert_non_null (connection);
  connection_ask (connection);
  connection_asked (connection, 10, false);
  connection_opened (connection);
  totals = read_totals ();
  check_opens (&totals.all, 0, 0, 0, 0);
  assert_int_equal (totals.now, 1);
  connection_answered (connection);
  connection_ask (connection);
  totals = read_totals ();      /* while it is still being asked */
  check_opens (&totals.all, 0, 0, 0, 0);
  connection_asked (connection, 5, false);
  totals = read_totals ();
  check_opens (&totals.all, 1, 0, 15, 15);
  connection_ask (connection);
  connection_asked (connection, 1000, true);
  connection_closed (connection);
  totals = read_totals ();
  check_opens (&totals.all, 1, 0, 15, 15);

  /* It fails after it was open, and is closed then. */
  connection = connection_new (&connections, "");
  connection_opened (connection);
  connection_ask (connection);
  connection_asked (connection, 7, true);
  connection_ask (connection);
  connection_asked (connection, 100, false);
  connection_answered (connection);
  totals = read_totals ();
  check_opens (&totals.all, 1, 1, 22, 15);
  assert_int_equal (totals.now, 1);
  connection_closed (connection);
  totals = read_totals ();
  check_opens (&totals.all, 1, 1, 22, 15);
  assert_int_equal (totals.now, 0);

  /* It closes before it was asked for its size. */
  connection = connection_new (&connections, "");
  connection_ask (connection);
  connection_asked (connection, 1, false);
  connection_opened (connection);
  connection_closed (connection);
  totals = read_totals ();
  check_opens (&totals.all, 2, 1, 23, 15);
}

/* Several that are undecided at once, in whatever order that ends. */
static void
test_undecided (void **state)
{
  enum { N = 6 };
  struct connection *open[N];
  struct connections_totals totals;
  uint64_t random_state = 1;

  (void) state;
  for (unsigned round = 0; round < 100; round++) {
    unsigned order[N] = { 0, 1, 2, 3, 4, 5 };

    for (unsigned i = 0; i < N; i++) {
      const unsigned j = (unsigned) random_below (&random_state, N);
      const unsigned was = order[i];

      order[i] = order[j];
      order[j] = was;
      open[i] = connection_new (&connections, "");
      assert_non_null (open[i]);
      connection_opened (open[i]);
    }
    for (unsigned i = 0; i < N; i++) {
      if (i == N / 2) {
        connection_answered (open[order[i]]);
        read_totals ();
      }
      connection_closed (open[order[i]]);
    }
    totals = read_totals ();
    assert_int_equal (totals.all.opened, (round + 1) * N);
    assert_int_equal (totals.now, 0);
    assert_null (connections.undecided);
  }
}

/* Each read begins the recent figure again, with what is open then. */
static void
test_at_once (void **state)
{
  struct connection *open[5];

  (void) state;
  for (unsigned i = 0; i < 5; i++)
    open[i] = open_one ("", 1);
  for (unsigned i = 0; i < 4; i++)
    connection_closed (open[i]);
  open_bad ("", 1);
  check_at_once (1, 5, 5);
  check_at_once (1, 1, 5);
  open_ok ("", 1);
  check_at_once (1, 2, 5);
  connection_closed (open[4]);
  check_at_once (0, 1, 5);
  check_at_once (0, 0, 5);
}

/* Each name has figures of its own, from its first opening that went well,
 * in the order in which these came.
 */
static void
test_exports (void **state)
{
  struct connections_totals totals;
  char name[] = "b";

  (void) state;
  open_bad ("c", 100000);
  open_ok ("", 1);
  open_ok (name, 10);
  name[0] = 'c';                /* names are kept, not pointers */
  open_ok (name, 100);
  open_bad (name, 300);
  open_ok ("b", 1000);
  open_ok ("B", 10000);
  totals = read_totals ();
  assert_int_equal (totals.nr_exports, 4);
  assert_string_equal (totals.exports[0].name, "");
  assert_string_equal (totals.exports[1].name, "b");
  assert_string_equal (totals.exports[2].name, "c");
  assert_string_equal (totals.exports[3].name, "B");
  check_opens (&totals.exports[0].opens, 1, 0, 1, 1);
  check_opens (&totals.exports[1].opens, 2, 0, 1010, 1000);
  check_opens (&totals.exports[2].opens, 1, 1, 400, 300);
  check_opens (&totals.exports[3].opens, 1, 0, 10000, 10000);
  check_opens (&totals.other_exports, 0, 1, 100000, 100000);
  check_opens (&totals.all, 5, 2, 111411, 100000);
}

/* A client that makes up names fills the list, and no more than that; with
 * names that do not exist not even that.
 */
static void
test_many_exports (void **state)
{
  struct connections_totals totals;
  char name[32];

  (void) state;
  for (unsigned i = 0; i < 2 * MAX_EXPORTS; i++) {
    snprintf (name, sizeof name, "junk %u", i);
    open_bad (name, 1);
  }
  for (unsigned i = 0; i < MAX_EXPORTS + 10; i++) {
    snprintf (name, sizeof name, "export %u", i);
    open_ok (name, 1);
  }
  open_ok ("export 0", 1);
  open_ok (name, 5);
  totals = read_totals ();
  assert_int_equal (totals.nr_exports, MAX_EXPORTS);
  check_opens (&totals.all, MAX_EXPORTS + 12, 2 * MAX_EXPORTS,
               3 * MAX_EXPORTS + 16, 5);
  check_opens (&totals.other_exports, 11, 2 * MAX_EXPORTS,
               2 * MAX_EXPORTS + 15, 5);
  for (unsigned i = 0; i < MAX_EXPORTS; i++) {
    snprintf (name, sizeof name, "export %u", i);
    assert_string_equal (totals.exports[i].name, name);
    check_opens (&totals.exports[i].opens, i ? 1 : 2, 0, i ? 1 : 2, 1);
  }
}

/* A name has its place from its first request on, which may come before
 * anybody knows whether it was opened.
 */
static void
test_used (void **state)
{
  struct connections_totals totals;
  struct connection *a = connection_new (&connections, "a");
  struct connection *b = open_one ("b", 1);
  struct connection *bad = connection_new (&connections, "bad");

  (void) state;
  assert_int_equal (connections_first_used (&connections), NO_PLACE);
  assert_int_equal (a->place, NO_PLACE);
  read_totals ();
  assert_int_equal (b->place, 0);
  connection_use (a);
  connection_use (a);
  assert_int_equal (a->place, 1);
  assert_int_equal (connections_first_used (&connections), 1);
  totals = read_totals ();
  assert_int_equal (totals.nr_exports, 2);
  check_opens (&totals.exports[1].opens, 0, 0, 0, 0);
  assert_false (connections_used_several (&connections));

  /* It is the same one however it ends. */
  connection_ask (a);
  connection_asked (a, 5, true);
  assert_int_equal (a->place, 1);
  totals = read_totals ();
  assert_string_equal (totals.exports[1].name, "a");
  check_opens (&totals.exports[1].opens, 0, 1, 5, 5);

  connection_use (b);
  assert_int_equal (b->place, 0);
  assert_true (connections_used_several (&connections));
  assert_int_equal (connections_first_used (&connections), 1);

  /* One that failed without a place gets none any more. */
  connection_ask (bad);
  connection_asked (bad, 1, true);
  connection_use (bad);
  assert_int_equal (bad->place, PLACE_OF_OTHERS);
  assert_int_equal (read_totals ().nr_exports, 2);
  connection_release (a);
  connection_release (bad);
  connection_closed (b);
}

/* Several connections to one export are one export. */
static void
test_used_one (void **state)
{
  struct connection *first = open_one ("", 1), *second = open_one ("", 1);

  (void) state;
  connection_use (first);
  connection_use (second);
  assert_int_equal (first->place, second->place);
  assert_false (connections_used_several (&connections));
  connection_closed (first);
  connection_closed (second);
}

/* A name is as long as clients like.  What is kept of it has a bound. */
static void
test_long_names (void **state)
{
  char name[4096 + 1];
  struct connections_totals totals;

  (void) state;
  memset (name, 'x', sizeof name - 1);
  name[MAX_EXPORT_NAME] = '\0';
  open_ok (name, 1);
  totals = read_totals ();
  assert_int_equal (totals.nr_exports, 1);
  assert_string_equal (totals.exports[0].name, name);
  assert_false (totals.exports[0].cut);

  name[0] = 'y';
  name[MAX_EXPORT_NAME] = 'x';
  name[sizeof name - 1] = '\0';
  open_ok (name, 1);
  totals = read_totals ();
  assert_int_equal (totals.nr_exports, 2);
  assert_int_equal (strlen (totals.exports[1].name), MAX_EXPORT_NAME);
  assert_true (totals.exports[1].cut);
}

static void
test_no_memory (void **state)
{
  unsigned long first = 1, failed;
  struct connection *connection;

  (void) state;
  for (;; first++) {
    errno = 0;
    number_allocations (first, first);
    connection = connection_new (&connections, "name");
    failed = stop_numbering ();
    if (connection)
      break;
    assert_int_equal (errno, ENOMEM);
    assert_null (connections.undecided);
  }
  connection_closed (connection);
  assert_int_equal (read_totals ().all.opened, 1);
  if (failed == 0)
    skip ();
  assert_int_equal (first, 3);
}

/* Streams: one for each operation, which live as long as anybody keeps the
 * connection, and take no more than their share of memory.
 */

static void
test_streams (void **state)
{
  struct connection *connection = open_one ("", 1);
  struct sequence *streams[NR_OPS];

  (void) state;
  for (unsigned op = 0; op < NR_OPS; op++) {
    assert_null (connection->streams[op]);
    streams[op] = connection_stream (connection, op);
    assert_non_null (streams[op]);
    assert_ptr_equal (connection_stream (connection, op), streams[op]);
    for (unsigned other = 0; other < op; other++)
      assert_ptr_not_equal (streams[op], streams[other]);
  }
  assert_int_equal (connections.stream_bytes,
                    NR_OPS * sizeof (struct sequence));

  connection_keep (connection);
  connection_keep (connection);
  connection_closed (connection);
  connection_release (connection);
  sequence_add (connection_stream (connection, OP_READ), 0, 512,
                &(struct sequence_found) { 0 });
  assert_int_equal (connections.stream_bytes,
                    NR_OPS * sizeof (struct sequence));
  connection_release (connection);
  assert_int_equal (connections.stream_bytes, 0);
}

static void
test_streams_no_memory (void **state)
{
  struct connection *connection = open_one ("", 1);
  unsigned long failed;

  (void) state;
  number_allocations (1, 1);
  connection_stream (connection, OP_READ);
  failed = stop_numbering ();
  if (failed) {
    assert_null (connection->streams[OP_READ]);
    assert_int_equal (connections.stream_bytes, 0);
  }
  assert_non_null (connection_stream (connection, OP_READ));
  connection_closed (connection);
}

static void
test_streams_bounded (void **state)
{
  enum { MANY = MAX_STREAM_BYTES / sizeof (struct sequence) / NR_OPS + 10 };
  static struct connection *open[MANY];
  size_t streams = 0;

  (void) state;
  for (unsigned i = 0; i < MANY; i++) {
    open[i] = open_one ("", 1);
    for (unsigned op = 0; op < NR_OPS; op++) {
      streams += connection_stream (open[i], op) != NULL;
      assert_true (streams * sizeof (struct sequence) <= MAX_STREAM_BYTES);
    }
  }
  assert_int_equal (streams, MAX_STREAM_BYTES / sizeof (struct sequence));
  assert_null (open[MANY - 1]->streams[0]);

  /* What one gives back another has. */
  connection_closed (open[0]);
  for (unsigned op = 0; op < NR_OPS; op++)
    assert_non_null (connection_stream (open[MANY - 1], op));
  for (unsigned i = 1; i < MANY; i++)
    connection_closed (open[i]);
  assert_int_equal (connections.stream_bytes, 0);
}

/* From many threads at once, with a reader. */

enum { THREADS = 8, ROUNDS = 2000 }; /* each fourth fails */

static void *
come_and_go (void *vp)
{
  char name[] = { *(const char *) vp, '\0' };

  for (unsigned i = 0; i < ROUNDS; i++) {
    struct connection *connection = connection_new (&connections, name);

    connections_client (&connections);
    CHECK (connection != NULL);
    if (connection == NULL)
      return NULL;
    connection_ask (connection);
    connection_asked (connection, 1, false);
    connection_opened (connection);
    connection_ask (connection);
    connection_asked (connection, 2, i % 4 == 3);
    connection_answered (connection);
    connection_closed (connection);
  }
  return NULL;
}

static void
test_threads (void **state)
{
  static const char names[] = "abcdabcd";
  struct connections_totals totals;
  pthread_t threads[THREADS];
  uint64_t last = 0;

  (void) state;
  for (unsigned i = 0; i < THREADS; i++)
    assert_int_equal (pthread_create (&threads[i], NULL, come_and_go,
                                      (void *) &names[i]), 0);
  for (unsigned i = 0; i < 500; i++) {
    totals = read_totals ();
    assert_true (totals.all.opened >= last);
    assert_int_equal (totals.all.ns,
                      3 * (totals.all.opened + totals.all.failed));
    assert_in_range (totals.now, 0, THREADS);
    assert_in_range (totals.recent_most, totals.now, totals.most);
    last = totals.all.opened;
  }
  for (unsigned i = 0; i < THREADS; i++)
    pthread_join (threads[i], NULL);
  assert_no_complaint ();
  totals = read_totals ();
  assert_int_equal (totals.clients, THREADS * ROUNDS);
  check_opens (&totals.all, THREADS * ROUNDS / 4 * 3, THREADS * ROUNDS / 4,
               3 * THREADS * ROUNDS, 3);
  assert_int_equal (totals.nr_exports, 4);
  for (unsigned i = 0; i < 4; i++)
    check_opens (&totals.exports[i].opens, ROUNDS / 4 * 6, ROUNDS / 4 * 2,
                 6 * ROUNDS, 3);
  assert_int_equal (totals.now, 0);
  assert_in_range (totals.most, 1, THREADS);
}

#define TEST(f) cmocka_unit_test_setup_teardown (f, start, stop)

/* Block sizes. */

static void
open_with (const struct block_sizes *sizes)
{
  struct connection *connection = open_one ("", 0);

  if (sizes)
    connection_block_sizes (connection, sizes);
  connection_closed (connection);
}

static void
test_block_sizes (void **state)
{
  static const struct block_sizes sizes = { 512, 65536, 1 << 25 };
  static const struct block_sizes others = { 512, 4096, 1 << 25 };
  struct connections_totals totals;

  open_bad ("", 1);
  assert_int_equal (read_totals ().block_sizes.preferred, 0);
  open_with (&sizes);
  open_with (&sizes);
  totals = read_totals ();
  assert_memory_equal (&totals.block_sizes, &sizes, sizeof sizes);
  assert_false (totals.block_sizes_differ);
  open_with (&others);
  totals = read_totals ();
  assert_memory_equal (&totals.block_sizes, &sizes, sizeof sizes);
  assert_true (totals.block_sizes_differ);

  /* None is another one, whichever comes first. */
  for (int i = 0; i < 2; i++) {
    stop (state);
    start (state);
    open_with (i ? &sizes : NULL);
    assert_false (read_totals ().block_sizes_differ);
    open_with (i ? NULL : &sizes);
    totals = read_totals ();
    assert_memory_equal (&totals.block_sizes, &sizes, sizeof sizes);
    assert_true (totals.block_sizes_differ);
  }
}

/* A report may come before they are told.  That is no difference, neither of
 * the first connection nor of a later one, unless they are never told.
 */
static void
test_block_sizes_late (void **state)
{
  static const struct block_sizes sizes = { 1, 65536, UINT32_MAX };
  struct connections_totals totals;
  struct connection *connection;

  (void) state;
  for (unsigned i = 1; i <= 2; i++) {
    connection = open_one ("", 0);
    totals = read_totals ();
    assert_int_equal (totals.all.opened, i);
    assert_false (totals.block_sizes_differ);
    connection_block_sizes (connection, &sizes);
    connection_closed (connection);
    totals = read_totals ();
    assert_memory_equal (&totals.block_sizes, &sizes, sizeof sizes);
    assert_false (totals.block_sizes_differ);
  }
  connection = open_one ("", 0);
  assert_false (read_totals ().block_sizes_differ);
  connection_closed (connection);
  assert_true (read_totals ().block_sizes_differ);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_nothing),
    TEST (test_opens),
    TEST (test_clients),
    TEST (test_decided),
    TEST (test_undecided),
    TEST (test_at_once),
    TEST (test_exports),
    TEST (test_many_exports),
    TEST (test_used),
    TEST (test_used_one),
    TEST (test_long_names),
    TEST (test_no_memory),
    TEST (test_streams),
    TEST (test_streams_no_memory),
    TEST (test_streams_bounded),
    TEST (test_threads),
    TEST (test_block_sizes),
    TEST (test_block_sizes_late),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
