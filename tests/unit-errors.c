/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "unit-capture.h"
#include "unit.h"

static void
test_line (void **state)
{
  (void) state;
  capture ();
  tell_error ("%d is %s", 3, "odd");
  assert_string_equal (what (), "nbdkit-stats: 3 is odd\n");
}

static void
test_place (void **state)
{
  (void) state;
  capture ();
  tell_error_at ("a.json", 0, "empty");
  tell_error_at ("a.json", 7, "cut");
  assert_string_equal (what (), "nbdkit-stats: a.json: empty\n"
                       "nbdkit-stats: a.json:7: cut\n");
}

static void
test_errno (void **state)
{
  (void) state;
  capture ();
  errno = ENOENT;
  tell_error_at ("a.json", 1, "%m");
  assert_string_equal (what (), "nbdkit-stats: a.json:1: "
                       "No such file or directory\n");
}

/* Neither a second line nor an escape sequence. */
static void
test_hostile_name (void **state)
{
  (void) state;
  capture ();
  tell_error_at ("a\nb\033[2J\177\303\244", 0, "odd");
  assert_string_equal (what (), "nbdkit-stats: a\\x0ab\\x1b[2J\\x7f\303\244: "
                       "odd\n");
}

static void
test_long (void **state)
{
  static char name[5000];

  (void) state;
  memset (name, 'n', sizeof name - 1);
  capture ();
  tell_error_at (name, 12, "too long");
  assert_true (strlen (what ()) < 3000);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_line),
    cmocka_unit_test (test_place),
    cmocka_unit_test (test_errno),
    cmocka_unit_test (test_hostile_name),
    cmocka_unit_test (test_long),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
