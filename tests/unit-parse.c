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

static void
test_duration (void **state)
{
  static const struct {
    const char *value;
    uint64_t ns;
  } good[] = {
    { "1", S }, { "1s", S }, { "1m", 60 * S }, { "1.5m", 90 * S },
    { ".5", S / 2 }, { "0.25s", S / 4 }, { "250ms", S / 4 },
    { "1.5ms", 1500000 }, { "1us", 1000 }, { "1.2\u03bcs", 1200 },
    { "2\u00b5s", 2000 }, { "1000000000ns", S }, { "1.9ns", 1 },
    { "0", 0 }, { "0m", 0 }, { "18446744072s", 18446744072 * S },
    { "307445734m", UINT64_C (307445734) * 60 * S },
  };
  static const char *const bad[] = {
    "", " ", "s", "m", "ms", "1 s", "1s ", " 1s", "1S", "1M", "1MS", "1sec",
    "1min", "1h", "1d", "1u", "1n", "1mss", "1sm", "-1s", "+1s", "1e3s",
    "1,5s", "1.s", "1..5s", "1.5.5s", "0x10s", "nans", "infs", "1\u03bc",
    "1\xces", "307445735m", "18446744073s", "99999999999999999999s", "1s1",
  };
  uint64_t ns;

  (void) state;
  for (size_t i = 0; i < LENGTH (good); i++) {
    ns = 12345;
    if (parse_duration (good[i].value, &ns) != 0 || ns != good[i].ns)
      fail_msg ("\"%s\" gives %" PRIu64 " ns", good[i].value, ns);
  }
  for (size_t i = 0; i < LENGTH (bad); i++) {
    if (parse_duration (bad[i], &ns) != -1)
      fail_msg ("\"%s\" was taken for %" PRIu64 " ns", bad[i], ns);
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
    cmocka_unit_test (test_decimal),
    cmocka_unit_test (test_duration),
    cmocka_unit_test (test_locale),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
