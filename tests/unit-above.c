/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What a command line of nbdkit's says of the filters above us. */

#include <config.h>

#include <string.h>

#include "above.h"
#include "unit.h"

/* arguments has a space in place of each NUL. */
static unsigned
facing (const char *arguments)
{
  char line[300];
  const size_t size = strlen (arguments) + 1;
  FILE *cmdline;
  unsigned count;

  assert_true (size <= sizeof line);
  for (size_t i = 0; i < size; i++)
    line[i] = arguments[i] == ' ' ? '\0' : arguments[i];
  cmdline = fmemopen (line, size, "r");
  assert_non_null (cmdline);
  count = above_facing_client (cmdline);
  fclose (cmdline);
  return count;
}

static void
test_command_lines (void **state)
{
  static const struct {
    const char *arguments;
    unsigned count;
  } lines[] = {
    { "nbdkit --filter=stats memory 1M", 1 },
    { "nbdkit --filter stats memory 1M", 1 },
    { "nbdkit --fi=stats memory 1M", 1 },
    { "nbdkit --filte stats memory 1M", 1 },
    { "nbdkit --filter=/usr/lib/nbdkit/nbdkit-stats-filter.so memory", 1 },
    { "nbdkit --filter=./nbdkit-stats-filter.so memory", 1 },
    { "nbdkit -f memory 1M --filter=stats statsfile=- -U -", 1 },
    { "nbdkit --filter=stats --filter=stats memory", 2 },
    /* Below others. */
    { "nbdkit --filter=log --filter=stats memory", 1 },
    { "nbdkit --filter=/x/nbdkit-log-filter.so --filter=stats memory", 1 },
    { "nbdkit --filter=blocksize --filter=stats memory", 0 },
    { "nbdkit --filter=stats --filter=blocksize --filter=stats memory", 1 },
    { "nbdkit --filter=stats --filter=log --filter=stats memory", 2 },
    { "nbdkit --filter=stats memory --filter=cow --filter=stats", 1 },
    /* What we do not know might do anything. */
    { "nbdkit --filter=./stats memory", 0 },
    { "nbdkit --filter=my-stats --filter=stats memory", 0 },
    { "nbdkit --filter=logs --filter=stats memory", 0 },
    { "nbdkit --filter=nbdkit-log-filter.so.1 --filter=stats memory", 0 },
    { "nbdkit --filter= --filter=stats memory", 0 },
    { "nbdkit --filter=blocksize --run --filter=stats memory", 0 },
    /* No filter at all. */
    { "nbdkit --filter", 0 },
    { "nbdkit --filters=stats --f=stats --fil --filter=stats", 0 },
    { "nbdkit --foreground --file=stats memory", 0 },
    { "nbdkit memory filter=stats", 0 },
    { "nbdkit memory -- --filter=stats", 0 },
    { "nbdkit", 0 },
    { "", 0 },
  };

  (void) state;
  for (size_t i = 0; i < LENGTH (lines); i++) {
    if (facing (lines[i].arguments) != lines[i].count)
      fail_msg ("\"%s\" gives %u", lines[i].arguments,
                facing (lines[i].arguments));
  }
  assert_int_equal (above_facing_client (NULL), 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_command_lines),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
