/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A stream to memory: all that is written is there, or closing tells. */

#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "fail-alloc.h"
#include "unit.h"

static void
test_nothing (void **state)
{
  struct buffer buffer;
  FILE *fp;

  (void) state;
  memset (&buffer, 0xff, sizeof buffer);
  fp = buffer_open (&buffer);
  assert_non_null (fp);
  assert_int_equal (buffer_close (fp), 0);
  assert_int_equal (buffer.size, 0);
  assert_null (buffer.data);
}

static void
test_text (void **state)
{
  struct buffer buffer;
  FILE *fp = buffer_open (&buffer);

  (void) state;
  fprintf (fp, "elapsed time: %d.%03d s\n", 2, 107);
  fputc ('\0', fp);
  fputs ("end", fp);
  assert_int_equal (fflush (fp), 0);
  assert_int_equal (buffer.size, 26);
  fputs (".", fp);
  assert_int_equal (buffer_close (fp), 0);
  assert_int_equal (buffer.size, 27);
  assert_memory_equal (buffer.data, "elapsed time: 2.107 s\n\0end.", 27);
  free (buffer.data);
}

/* In pieces of all sizes, up to many times its first capacity. */
static void
test_grows (void **state)
{
  enum { SIZE = 1000003 };
  char *text = malloc (SIZE);
  size_t written = 0, n;
  uint64_t random = 1;

  (void) state;
  for (size_t i = 0; i < SIZE; i++)
    text[i] = (char) random_64 (&random);
  for (unsigned step = 1; step <= SIZE; step *= 10) {
    struct buffer buffer;
    FILE *fp = buffer_open (&buffer);

    for (written = 0; written < SIZE; written += n) {
      n = 1 + random_below (&random, step);
      n = n < SIZE - written ? n : SIZE - written;
      assert_int_equal (fwrite (text + written, 1, n, fp), n);
    }
    assert_int_equal (buffer_close (fp), 0);
    assert_int_equal (buffer.size, SIZE);
    assert_true (buffer.capacity >= SIZE);
    assert_memory_equal (buffer.data, text, SIZE);
    free (buffer.data);
  }
  free (text);
}

/* Memory runs out at each allocation in turn, for once or for good: either
 * all is there, or it was told.
 */

enum { LINES = 4000 };

/* Returns whether an error was told. */
static bool
write_lines (struct buffer *buffer)
{
  FILE *fp = buffer_open (buffer);

  if (fp == NULL)
    return errno == ENOMEM;
  for (int i = 0; i < LINES; i++)
    fprintf (fp, "%9d\n", i);
  return buffer_close (fp) == -1;
}

static void
check_lines (const struct buffer *buffer)
{
  char line[16];

  assert_int_equal (buffer->size, 10 * LINES);
  for (size_t i = 0; i < LINES; i++) {
    snprintf (line, sizeof line, "%9zu\n", i);
    assert_memory_equal (buffer->data + 10 * i, line, 10);
  }
}

static void
test_no_memory (void **state)
{
  static const bool for_good[] = { false, true };
  struct buffer buffer;
  unsigned long needed;
  bool told;

  (void) state;
  number_allocations (ULONG_MAX, ULONG_MAX);
  told = write_lines (&buffer);
  needed = stop_numbering ();
  assert_false (told);
  check_lines (&buffer);
  free (buffer.data);
  if (needed == 0)
    skip ();

  for (size_t i = 0; i < LENGTH (for_good); i++) {
    for (unsigned long n = 1; n <= needed; n++) {
      number_allocations (n, for_good[i] ? ULONG_MAX : n);
      told = write_lines (&buffer);
      stop_numbering ();
      if (!told)
        check_lines (&buffer);
      /* The first is the stream's own, without which there is none. */
      if (n == 1 || for_good[i])
        assert_true (told);
      free (buffer.data);
    }
  }
}

/* An error that was met long before the end is told at the end. */
static void
test_error_stays (void **state)
{
  struct buffer buffer;
  FILE *fp;
  static char text[100000];
  bool failed;

  (void) state;
  memset (text, 'x', sizeof text);
  fp = buffer_open (&buffer);
  fputs ("begin\n", fp);
  assert_int_equal (fflush (fp), 0);
  number_allocations (1, 1);
  fwrite (text, 1, sizeof text, fp);
  failed = fflush (fp) == EOF || ferror (fp);
  if (stop_numbering () == 0) {
    buffer_close (fp);
    free (buffer.data);
    skip ();
  }
  assert_true (failed);
  fputs ("end\n", fp);
  fflush (fp);
  assert_int_equal (buffer_close (fp), -1);
  free (buffer.data);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_nothing),
    cmocka_unit_test (test_text),
    cmocka_unit_test (test_grows),
    cmocka_unit_test (test_no_memory),
    cmocka_unit_test (test_error_stays),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
