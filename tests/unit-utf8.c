/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What is not UTF-8 becomes U+FFFD, once for each sequence that could have
 * begun a character; all else stays as it is.
 */

#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "utf8.h"

#define BAD UTF8_REPLACEMENT

/* s with what is not UTF-8 replaced, into clean. */
static void
clean_up (char *clean, const char *s)
{
  while (*s) {
    bool good;
    const size_t length = utf8_next (s, &good);

    clean = good ? mempcpy (clean, s, length) : stpcpy (clean, BAD);
    s += length;
  }
  *clean = '\0';
}

static void
expect_clean (const char *s, const char *expected)
{
  char clean[100];

  clean_up (clean, s);
  assert_string_equal (clean, expected);
}

static void
test_good (void **state)
{
  static const char *const table[] = {
    "", "a", "disk-1", "\x01\t\n\x1f\x7f", "\"\\/",
    "\xc2\x80", "\xdf\xbf",                     /* U+0080, U+07FF */
    "\xe0\xa0\x80", "\xef\xbf\xbf",             /* U+0800, U+FFFF */
    "\xed\x9f\xbf", "\xee\x80\x80",             /* around the surrogates */
    "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf",     /* U+10000, U+10FFFF */
    "\xef\xbf\xbd", "\xef\xbb\xbf",             /* U+FFFD, U+FEFF */
    "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z",
  };

  (void) state;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    expect_clean (table[i], table[i]);
}

static void
test_bad (void **state)
{
  static const struct {
    const char *s, *expected;
  } table[] = {
    /* No lead at all. */
    { "\x80", BAD }, { "\xbf", BAD }, { "\x80\xbf", BAD BAD },
    { "\xfe", BAD }, { "\xff", BAD }, { "\xf5\x80\x80\x80", BAD BAD BAD BAD },
    { "\xf8\x88\x80\x80\x80", BAD BAD BAD BAD BAD },

    /* The end comes too early: of the string, or before another. */
    { "\xc3", BAD }, { "\xe2\x82", BAD }, { "\xf0\x9f\x98", BAD },
    { "\xc3z", BAD "z" }, { "\xe2\x82z", BAD "z" },
    { "\xf0\x9f\x98z", BAD "z" }, { "\xf0\x9fz", BAD "z" },
    { "\xe2\xe2\x82\xac", BAD "\xe2\x82\xac" },
    { "\xf0\x9f\xc3\xa4", BAD "\xc3\xa4" },
    { "\xc3\xc3", BAD BAD },

    /* Too many bytes. */
    { "\xc3\xa4\xa4", "\xc3\xa4" BAD },

    /* Longer than needed: '/' in two, three and four bytes. */
    { "\xc0\xaf", BAD BAD }, { "\xe0\x80\xaf", BAD BAD BAD },
    { "\xf0\x80\x80\xaf", BAD BAD BAD BAD },
    { "\xc1\xbf", BAD BAD }, { "\xe0\x9f\xbf", BAD BAD BAD },
    { "\xf0\x8f\xbf\xbf", BAD BAD BAD BAD },

    /* Surrogates, alone and in pairs. */
    { "\xed\xa0\x80", BAD BAD BAD }, { "\xed\xbf\xbf", BAD BAD BAD },
    { "\xed\xa0\xbd\xed\xb8\x80", BAD BAD BAD BAD BAD BAD },

    /* More than U+10FFFF. */
    { "\xf4\x90\x80\x80", BAD BAD BAD BAD },

    { "a\xff" "b\xfe" "c", "a" BAD "b" BAD "c" },
  };

  (void) state;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    expect_clean (table[i].s, table[i].expected);
}

/* What people see has no character that a terminal acts upon. */
static void
test_plain (void **state)
{
  static const char s[] =
    "a \x1b[31m\t\n\x7f\xc3\xa4\xc2\x9b\xc2\xa0\xff\xe2\x82|\xe2\x82\xac";
  char *plain = NULL;
  size_t size;
  FILE *fp = open_memstream (&plain, &size);

  (void) state;
  assert_non_null (fp);
  utf8_write_plain (fp, s);
  fclose (fp);
  assert_string_equal (plain,
                       "a ?[31m???\xc3\xa4?\xc2\xa0??|\xe2\x82\xac");
  free (plain);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_good),
    cmocka_unit_test (test_bad),
    cmocka_unit_test (test_plain),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
