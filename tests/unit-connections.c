/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Connections: opened, failed, at once, and by export name. */

#include <config.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "connections.h"
#include "fail-alloc.h"
#include "unit.h"

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

static void
open_ok (const char *name, uint64_t ns)
{
  connections_opened (&connections, name, ns, false);
}

static void
open_bad (const char *name, uint64_t ns)
{
  connections_opened (&connections, name, ns, true);
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

  (void) state;
  open_ok ("", 100);
  open_bad ("", 3000);
  open_ok ("", 20);
  open_bad ("", 0);
  totals = read_totals ();
  check_opens (&totals.all, 2, 2, 3120, 3000);
  check_at_once (2, 2, 2);
}

/* Each read begins the recent figure again, with what is open then. */
static void
test_at_once (void **state)
{
  (void) state;
  for (unsigned i = 0; i < 5; i++)
    open_ok ("", 1);
  for (unsigned i = 0; i < 4; i++)
    connections_closed (&connections);
  open_bad ("", 1);
  check_at_once (1, 5, 5);
  check_at_once (1, 1, 5);
  open_ok ("", 1);
  connections_closed (&connections);
  check_at_once (1, 2, 5);
  connections_closed (&connections);
  check_at_once (0, 1, 5);
  check_at_once (0, 0, 5);
}

/* Each name has figures of its own, in the order in which they came. */
static void
test_exports (void **state)
{
  struct connections_totals totals;
  char name[] = "b";

  (void) state;
  open_ok ("", 1);
  open_ok (name, 10);
  name[0] = 'c';                /* names are kept, not pointers */
  open_bad (name, 100);
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
  check_opens (&totals.exports[2].opens, 0, 1, 100, 100);
  check_opens (&totals.exports[3].opens, 1, 0, 10000, 10000);
  check_opens (&totals.all, 4, 1, 11111, 10000);
}

/* A client that makes up names fills the list, and no more than that. */
static void
test_many_exports (void **state)
{
  struct connections_totals totals;
  char name[32];

  (void) state;
  for (unsigned i = 0; i < MAX_EXPORTS + 10; i++) {
    snprintf (name, sizeof name, "export %u", i);
    open_ok (name, 1);
  }
  open_ok ("export 0", 1);
  open_ok (name, 1);
  totals = read_totals ();
  assert_int_equal (totals.nr_exports, MAX_EXPORTS);
  check_opens (&totals.all, MAX_EXPORTS + 12, 0, MAX_EXPORTS + 12, 1);
  for (unsigned i = 0; i < MAX_EXPORTS; i++) {
    snprintf (name, sizeof name, "export %u", i);
    assert_string_equal (totals.exports[i].name, name);
    check_opens (&totals.exports[i].opens, i ? 1 : 2, 0, i ? 1 : 2, 1);
  }
}

/* Without memory for its name a connection is in the sum alone. */
static void
test_no_memory (void **state)
{
  struct connections_totals totals;
  unsigned long failed;

  (void) state;
  number_allocations (1, 1);
  open_ok ("name", 5);
  failed = stop_numbering ();
  totals = read_totals ();
  check_opens (&totals.all, 1, 0, 5, 5);
  if (failed == 0)
    skip ();
  assert_int_equal (totals.nr_exports, 0);
  assert_int_equal (totals.now, 1);

  open_ok ("name", 7);
  totals = read_totals ();
  assert_int_equal (totals.nr_exports, 1);
  check_opens (&totals.exports[0].opens, 1, 0, 7, 7);
}

/* From many threads at once, with a reader. */

enum { THREADS = 8, ROUNDS = 2000 };

static void *
come_and_go (void *vp)
{
  char name[] = { *(const char *) vp, '\0' };

  for (unsigned i = 0; i < ROUNDS; i++) {
    open_ok (name, 3);
    open_bad (name, 2);
    connections_closed (&connections);
  }
  return NULL;
}

static void
test_threads (void **state)
{
  static const char names[THREADS] = "abcdabcd";
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
                      3 * totals.all.opened + 2 * totals.all.failed);
    assert_in_range (totals.now, 0, THREADS);
    assert_in_range (totals.recent_most, totals.now, totals.most);
    last = totals.all.opened;
  }
  for (unsigned i = 0; i < THREADS; i++)
    pthread_join (threads[i], NULL);
  totals = read_totals ();
  check_opens (&totals.all, THREADS * ROUNDS, THREADS * ROUNDS,
               5 * THREADS * ROUNDS, 3);
  assert_int_equal (totals.nr_exports, 4);
  for (unsigned i = 0; i < 4; i++)
    check_opens (&totals.exports[i].opens, 2 * ROUNDS, 2 * ROUNDS,
                 10 * ROUNDS, 3);
  assert_int_equal (totals.now, 0);
  assert_in_range (totals.most, 1, THREADS);
}

#define TEST(f) cmocka_unit_test_setup_teardown (f, start, stop)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_nothing),
    TEST (test_opens),
    TEST (test_at_once),
    TEST (test_exports),
    TEST (test_many_exports),
    TEST (test_no_memory),
    TEST (test_threads),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
