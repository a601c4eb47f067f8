/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Values of parameters, good and bad.  What is bad must be refused, not
 * guessed at.
 */

#include <config.h>

#include <inttypes.h>
#include <locale.h>
#include <stdbool.h>

#include "parse.h"
#include "unit.h"

static void
test_bool (void **state)
{
  static const char *const good[2][12] = {
    { "false", "no", "off", "0", "f", "n", "False", "NO", "oFF", "F", "N" },
    { "true", "yes", "on", "1", "t", "y", "True", "YES", "oN", "T", "Y" },
  };
  static const char *const bad[] = {
    "", " ", "2", "-1", "00", "01", "10", "1.0", "tru", "truee", "yes ",
    " no", "o", "of", "enable", "null", "0x1", "true\n",
  };
  bool result;

  (void) state;
  for (int truth = 0; truth <= 1; truth++) {
    for (unsigned i = 0; good[truth][i]; i++) {
      result = !truth;
      if (parse_bool (good[truth][i], &result) != 0 || result != truth)
        fail_msg ("\"%s\" is not %s", good[truth][i],
                  truth ? "true" : "false");
    }
  }
  for (size_t i = 0; i < LENGTH (bad); i++) {
    if (parse_bool (bad[i], &result) != -1)
      fail_msg ("\"%s\" was taken", bad[i]);
  }
}

static void
test_size (void **state)
{
  static const struct {
    const char *value;
    uint64_t size;
  } good[] = {
    { "0", 0 }, { "1", 1 }, { "512", 512 }, { "512B", 512 },
    { "512b", 512 }, { "0004096", 4096 }, { "64K", 65536 },
    { "64k", 65536 }, { "64KB", 65536 }, { "64KiB", 65536 },
    { "64kib", 65536 }, { "64Kb", 65536 }, { "1M", MiB }, { "3G", 3 * GiB },
    { "2T", 2048 * GiB }, { "1P", GiB * MiB }, { "1E", GiB * GiB },
    { "1EiB", GiB * GiB }, { "1e", GiB * GiB },
    { "15E", 15 * GiB * GiB }, { "0E", 0 },
    { "18446744073709551615", UINT64_MAX },
    { "18014398509481983K", UINT64_MAX - 1023 },
  };
  static const char *const bad[] = {
    "", " ", "K", "B", "KiB", "-1", "-1K", "+1", " 1", "1 ", "1 K", "1.5K",
    "1,5K", ".5", "1e3", "0x10", "0x", "1KK", "1KiBs", "1iB", "1Ki",
    "1BK", "1Q", "1%", "inf", "nan", "ten", "64K\n", "1M1",
    "18446744073709551616", "99999999999999999999999", "16E",
    "18014398509481984K", "17592186044416M", "-18446744073709551615",
  };
  uint64_t size;

  (void) state;
  for (size_t i = 0; i < LENGTH (good); i++) {
    size = 12345;
    if (parse_size (good[i].value, &size) != 0 || size != good[i].size)
      fail_msg ("\"%s\" gives %" PRIu64, good[i].value, size);
  }
  for (size_t i = 0; i < LENGTH (bad); i++) {
    if (parse_size (bad[i], &size) != -1)
      fail_msg ("\"%s\" was taken for %" PRIu64, bad[i], size);
  }
}

static void
test_decimal (void **state)
{
  static const struct {
    const char *value;
    uint64_t scale, result;
  } good[] = {
    { "0", 1000, 0 }, { "1", 1000, 1000 }, { "0.01", S, 10000000 },
    { "95.5", 1000, 95500 }, { ".5", 1000, 500 }, { "0.5", 1000, 500 },
    { "00.50", 1000, 500 }, { "0.001", 1000, 1 }, { "0.0019", 1000, 1 },
    { "0.0009", 1000, 0 }, { "99.9", 1000, 99900 }, { "100", 1000, 100000 },
    { "100.001", 1000, 100001 }, { "0.000000001", S, 1 },
    { "1.999999999999999999999999", S, 1999999999 },
    { "3", 1, 3 }, { "3.9", 1, 3 }, { "0.123456789", S, 123456789 },
    { "31536000", S, 31536000 * S },
    { "18446744072", S, 18446744072 * S },
    { "0.1", 10, 1 }, { "4294967296", 1000, 4294967296000 },
  };
  static const char *const bad[] = {
    "", " ", ".", "5.", "-1", "-.5", "+1", " 1", "1 ", "1.5 ", "1 .5",
    "1e3", "1E3", "inf", "-inf", "INFINITY", "nan", "0x1p3", "0x10", "1,5",
    "1.2.3", "1..2", "..5", "1s", "95%", "1.5K", "ten", "1.-5", "1.+5",
    "18446744073709551615", "18446744073709551616", "18446744073.99",
    "99999999999999999999999999", "99999999999999999999999999.5", "1.5\n",
  };
  uint64_t result;

  (void) state;
  for (size_t i = 0; i < LENGTH (good); i++) {
    result = 12345;
    if (parse_decimal (good[i].value, good[i].scale, &result) != 0
        || result != good[i].result)
      fail_msg ("\"%s\" times %" PRIu64 " gives %" PRIu64, good[i].value,
                good[i].scale, result);
  }
  for (size_t i = 0; i < LENGTH (bad); i++) {
    if (parse_decimal (bad[i], S, &result) != -1)
      fail_msg ("\"%s\" was taken for %" PRIu64, bad[i], result);
  }
}

/* A plugin may have set a locale in which decimals have a comma. */
static void
test_locale (void **state)
{
  static const char *const comma[] = {
    "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "it_IT.UTF-8", "de_DE",
  };
  uint64_t result;
  size_t i = 0;

  while (i < LENGTH (comma) && setlocale (LC_ALL, comma[i]) == NULL)
    i++;
  if (i == LENGTH (comma))
    print_message ("there is no locale with a comma here\n");
  test_decimal (state);
  assert_int_equal (parse_decimal ("1,5", 1000, &result), -1);
  setlocale (LC_ALL, "C");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_bool),
    cmocka_unit_test (test_size),
    cmocka_unit_test (test_decimal),
    cmocka_unit_test (test_locale),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
