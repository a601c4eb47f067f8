/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What the writer of JSON writes, letter by letter. */

#include <config.h>

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_writer.h"
#include "unit.h"

/* A text that grows. */

static char *text;
static size_t size;
static struct json json[1];

static void
begin (void)
{
  *json = (struct json) { .fp = open_memstream (&text, &size) };
  assert_non_null (json->fp);
}

/* The text is then to be freed. */
static void
end (void)
{
  assert_false (ferror (json->fp));
  assert_int_equal (fclose (json->fp), 0);
  assert_int_equal (strlen (text), size);
}

static void
expect (const char *expected)
{
  end ();
  assert_string_equal (text, expected);
  free (text);
}

/* Objects and arrays. */

static void
test_empty (void **state)
{
  (void) state;
  begin ();
  JSON_OBJECT (json, NULL)
    ;
  expect ("{}");
}

static void
test_nested (void **state)
{
  (void) state;
  begin ();
  JSON_OBJECT (json, NULL) {
    json_count (json, "a", 1);
    JSON_ARRAY (json, "b") {
      json_count (json, NULL, 2);
      json_null (json, NULL);
      JSON_OBJECT (json, NULL) {
        json_string (json, "c", "d");
        JSON_ARRAY (json, "e")
          ;
        JSON_OBJECT (json, "f") {
        }
      }
      JSON_OBJECT (json, NULL)
        JSON_ARRAY (json, "g")
          JSON_ARRAY (json, NULL)
            json_string (json, NULL, "h");
    }
    json_real (json, "i", 0.5);
  }
  expect ("{\"a\":1,\"b\":[2,null,{\"c\":\"d\",\"e\":[],\"f\":{}},"
          "{\"g\":[[\"h\"]]}],\"i\":0.5}");
}

static void
add_and_return (void)
{
  JSON_OBJECT (json, NULL) {
    json_count (json, "a", 1);
    JSON_ARRAY (json, "b") {
      json_count (json, NULL, 2);
      return;
    }
    json_count (json, "c", 3);
  }
}

/* However a block is left, what it has begun is ended. */
static void
test_left_early (void **state)
{
  (void) state;
  begin ();
  JSON_ARRAY (json, NULL) {
    add_and_return ();
    for (unsigned i = 0; i < 3; i++) {
      JSON_ARRAY (json, NULL) {
        if (i == 0)
          continue;
        JSON_OBJECT (json, NULL) {
          if (i == 1)
            break;
          json_count (json, "i", i);
        }
      }
    }
    JSON_OBJECT (json, NULL)
      goto out;
    json_null (json, NULL);
  }
 out:
  expect ("[{\"a\":1,\"b\":[2]},[],[{}],[{\"i\":2}],{}]");
}

/* At random, as long as depth is not 0, and into a text of the expected. */

static uint64_t seed = 1;
static char *wanted;            /* the end of that text */

static void add_random (const char *key, unsigned depth);

static void
add_several (const char *key, unsigned depth)
{
  const unsigned n = (unsigned) random_below (&seed, 4);

  for (unsigned i = 0; i < n; i++) {
    if (i > 0)
      *wanted++ = ',';
    add_random (key, depth - 1);
  }
}

static void
add_random (const char *key, unsigned depth)
{
  if (key)
    wanted = stpcpy (wanted, "\"k\":");
  switch (random_below (&seed, depth ? 3 : 1)) {
  case 0:
    json_count (json, key, depth);
    *wanted++ = (char) ('0' + depth);
    break;
  case 1:
    *wanted++ = '{';
    JSON_OBJECT (json, key)
      add_several ("k", depth);
    *wanted++ = '}';
    break;
  case 2:
    *wanted++ = '[';
    JSON_ARRAY (json, key)
      add_several (NULL, depth);
    *wanted++ = ']';
    break;
  }
}

static void
test_random (void **state)
{
  static char expected[1 << 16];

  (void) state;
  for (unsigned i = 0; i < 1000; i++) {
    wanted = expected;
    begin ();
    add_random (NULL, 7);
    *wanted = '\0';
    expect (expected);
  }
}

/* Strings. */

static void
test_strings (void **state)
{
  static const struct {
    const char *s, *expected;
  } table[] = {
    { "", "" }, { "a", "a" }, { "a/b ~", "a/b ~" },
    { "say \"disk\"", "say \\\"disk\\\"" }, { "\"", "\\\"" },
    { "C:\\disks\\a\\", "C:\\\\disks\\\\a\\\\" },
    { "\b\f\n\r\t", "\\b\\f\\n\\r\\t" },
    { "\x01\x1b[31m\x1f\x7f", "\\u0001\\u001b[31m\\u001f\\u007f" },
    { "\v\a", "\\u000b\\u0007" },
    { "\xc2\x80\xdf\xbf", "\xc2\x80\xdf\xbf" },
    { "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xe2\x80\xa8z",
      "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xe2\x80\xa8z" },
    /* No UTF-8: nowhere, cut off, too long, surrogates, too much. */
    { "\xff", "\xef\xbf\xbd" },
    { "a\xff\xfe" "b", "a\xef\xbf\xbd\xef\xbf\xbd" "b" },
    { "cut \xe2\x82", "cut \xef\xbf\xbd" },
    { "\xe2\x82\"", "\xef\xbf\xbd\\\"" },
    { "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd" },
    { "\xed\xa0\xbd\xed\xb8\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                                  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
    { "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                          "\xef\xbf\xbd" },
  };
  char expected[200];

  (void) state;
  for (size_t i = 0; i < LENGTH (table); i++) {
    begin ();
    json_string (json, NULL, table[i].s);
    snprintf (expected, sizeof expected, "\"%s\"", table[i].expected);
    expect (expected);

    begin ();
    json_null (json, table[i].s);       /* keys are strings, too */
    snprintf (expected, sizeof expected, "\"%s\":null", table[i].expected);
    expect (expected);
  }
}

/* All bytes there are, far more of them than any buffer holds. */
static void
test_long_strings (void **state)
{
  enum { LONG = 100000 };
  static const struct {
    char c;
    const char *expected;
  } table[] = {
    { 'x', "x" }, { '"', "\\\"" }, { '\x01', "\\u0001" },
    { '\xff', "\xef\xbf\xbd" },
  };
  static char s[LONG + 1];

  (void) state;
  for (size_t i = 0; i < LENGTH (table); i++) {
    const size_t length = strlen (table[i].expected);

    memset (s, table[i].c, LONG);
    begin ();
    json_string (json, NULL, s);
    end ();
    assert_int_equal (size, 2 + LONG * length);
    for (size_t k = 0; k < LONG; k++)
      assert_memory_equal (text + 1 + k * length, table[i].expected, length);
    free (text);
  }
}

/* Numbers. */

static void
test_counts (void **state)
{
  static const struct {
    unsigned __int128 n;
    const char *expected;
  } table[] = {
    { 0, "0" }, { 9, "9" }, { 10, "10" }, { 1000, "1000" },
    { UINT32_MAX, "4294967295" },
    { UINT64_MAX, "18446744073709551615" },
    { (unsigned __int128) UINT64_MAX + 1, "18446744073709551616" },
    { (unsigned __int128) UINT64_MAX * 10, "184467440737095516150" },
    { ~(unsigned __int128) 0, "340282366920938463463374607431768211455" },
    { (unsigned __int128) 1 << 127,
      "170141183460469231731687303715884105728" },
  };

  (void) state;
  for (size_t i = 0; i < LENGTH (table); i++) {
    begin ();
    json_count (json, NULL, table[i].n);
    expect (table[i].expected);
  }
}

/* In each locale: main has set the user's. */
static void
test_reals (void **state)
{
  static const struct {
    double value;
    const char *expected;
  } table[] = {
    { 0, "0" }, { -0.0, "0" }, { 1, "1" }, { 0.5, "0.5" }, { -2.5, "-2.5" },
    { 0.1, "0.1" }, { 0.1 + 0.2, "0.30000000000000004" },
    { 1 / 3.0, "0.3333333333333333" }, { 2 / 3.0, "0.6666666666666666" },
    { 1224065024 / 2.107, "580951601.3289036" },
    { 1e11, "100000000000" }, { 1e14, "100000000000000" },
    { 1e22, "1e+22" }, { 1.25e-9, "1.25e-09" },
    { 9007199254740993.0, "9007199254740992" },
    { 18446744073709551615.0, "1.8446744073709552e+19" },
    { DBL_MAX, "1.7976931348623157e+308" },
    { -DBL_MAX, "-1.7976931348623157e+308" },
    { DBL_MIN, "2.2250738585072014e-308" },
    { DBL_TRUE_MIN, "4.94065645841247e-324" },
    { DBL_EPSILON, "2.220446049250313e-16" },
    { NAN, "null" }, { -NAN, "null" },
    { INFINITY, "null" }, { -INFINITY, "null" },
  };

  (void) state;
  for (size_t i = 0; i < LENGTH (table); i++) {
    begin ();
    json_real (json, NULL, table[i].value);
    expect (table[i].expected);
  }
}

/* Any number, of any size, is read back as the same one. */
static void
test_reals_read_back (void **state)
{
  locale_t c_locale = newlocale (LC_ALL_MASK, "C", (locale_t) 0);

  (void) state;
  assert_true (c_locale != (locale_t) 0);
  for (unsigned i = 0; i < 100000; i++) {
    const uint64_t bits = random_64 (&seed);
    locale_t old_locale;
    double value, read;

    memcpy (&value, &bits, sizeof value);
    if (!isfinite (value))
      continue;
    begin ();
    json_real (json, NULL, value);
    end ();
    old_locale = uselocale (c_locale);
    read = strtod (text, NULL);
    uselocale (old_locale);
    if (read != value)
      fail_msg ("%.17g is told as %s", value, text);
    free (text);
  }
  freelocale (c_locale);
}

/* A stream that takes nothing. */
static void
test_full_disk (void **state)
{
  FILE *fp = fopen ("/dev/full", "w");

  (void) state;
  if (fp == NULL)
    skip ();
  *json = (struct json) { .fp = fp };
  JSON_OBJECT (json, NULL)
    json_string (json, "s", "s");
  fflush (fp);
  assert_true (ferror (fp));
  fclose (fp);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_empty),
    cmocka_unit_test (test_nested),
    cmocka_unit_test (test_left_early),
    cmocka_unit_test (test_random),
    cmocka_unit_test (test_strings),
    cmocka_unit_test (test_long_strings),
    cmocka_unit_test (test_counts),
    cmocka_unit_test (test_reals),
    cmocka_unit_test (test_reals_read_back),
    cmocka_unit_test (test_full_disk),
  };

  setlocale (LC_ALL, "");
  return cmocka_run_group_tests (tests, NULL, NULL);
}
