/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Tables of the program: columns as wide as what is in them. */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include "table.h"
#include "unit.h"

/* It prints this, and is empty then. */
static void
prints (struct table *table, const char *expected)
{
  char *text;
  size_t size;
  FILE *fp = open_memstream (&text, &size);

  assert_non_null (fp);
  table_print (table, fp);
  assert_int_equal (fclose (fp), 0);
  assert_string_equal (text, expected);
  assert_int_equal (table->nr_cells, 0);
  free (text);
}

static void
add_row (struct table *table, const char *a, const char *b, const char *c)
{
  table_add (table, "%s", a);
  table_add (table, "%s", b);
  table_add (table, "%s", c);
}

/* Words are on the left, numbers on the right, and titles above them. */
static void
test_widths (void **state)
{
  struct table table = {
    .titles = { "who", "long title", "n" }, .nr = 3, .nr_left = 1,
  };

  (void) state;
  add_row (&table, "a", "1", "1234");
  add_row (&table, "abcdef", "12", "5");
  prints (&table,
          "who     long title     n\n"
          "a                1  1234\n"
          "abcdef          12     5\n");
}

/* A title may be wider than what stands above it, or the other way round. */
static void
test_above (void **state)
{
  struct table table = {
    .titles = { "who", "ns", "CPU ns" }, .above = { NULL, "added", "own" },
    .nr = 3, .nr_left = 1,
  };

  (void) state;
  add_row (&table, "a", "1", "2");
  prints (&table,
          "     added     own\n"
          "who     ns  CPU ns\n"
          "a        1       2\n");
}

/* A column in which nothing stands is left out, and a line above with it. */
static void
test_empty_column (void **state)
{
  struct table table = {
    .titles = { "who", "ns", "n" }, .above = { NULL, "added", NULL },
    .nr = 3, .nr_left = 1,
  };

  (void) state;
  add_row (&table, "a", "", "1");
  add_row (&table, "b", "", "2");
  prints (&table,
          "who  n\n"
          "a    1\n"
          "b    2\n");
}

/* Where the last cells are empty no blanks stand for them. */
static void
test_empty_cells (void **state)
{
  struct table table = {
    .titles = { "who", "x", "y" }, .nr = 3, .nr_left = 1,
  };

  (void) state;
  add_row (&table, "a", "1", "");
  add_row (&table, "b", "", "22");
  add_row (&table, "c", "", "");
  prints (&table,
          "who  x   y\n"
          "a    1\n"
          "b       22\n"
          "c\n");
}

/* What was printed is not in the next table. */
static void
test_again (void **state)
{
  struct table table = { .titles = { "n" }, .nr = 1 };

  (void) state;
  table_add (&table, "%d", 1000);
  table_add (&table, "%d", 1);
  prints (&table, "   n\n1000\n   1\n");
  table_add (&table, "%d", 2);
  prints (&table, "n\n2\n");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_widths),
    cmocka_unit_test (test_above),
    cmocka_unit_test (test_empty_column),
    cmocka_unit_test (test_empty_cells),
    cmocka_unit_test (test_again),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
