/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Numbers with units: four characters of number, in the unit that suits. */

#include <config.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "num2str.h"

#define KiB 1024.0
#define MiB (1024 * KiB)
#define GiB (1024 * MiB)
#define TiB (1024 * GiB)
#define PiB (1024 * TiB)
#define EiB (1024 * PiB)

static const struct {
  double value;
  enum num_unit unit;
  const char *expected;
} table[] = {
  /* Whole bytes below 1024 have no decimals. */
  { 0, NUM_BYTES, "0 B" },
  { 1, NUM_BYTES, "1 B" },
  { 9, NUM_BYTES, "9 B" },
  { 10, NUM_BYTES, "10 B" },
  { 512, NUM_BYTES, "512 B" },
  { 1000, NUM_BYTES, "1000 B" },
  { 1023, NUM_BYTES, "1023 B" },
  { 1024, NUM_BYTES, "1.00 KiB" },

  /* As many decimals as fit, and one less after rounding up. */
  { 1025, NUM_BYTES, "1.00 KiB" },
  { 4096, NUM_BYTES, "4.00 KiB" },
  { 9999, NUM_BYTES, "9.76 KiB" },
  { 10234, NUM_BYTES, "9.99 KiB" },
  { 10239, NUM_BYTES, "10.0 KiB" },
  { 10240, NUM_BYTES, "10.0 KiB" },
  { 102348, NUM_BYTES, "99.9 KiB" },
  { 102399, NUM_BYTES, "100 KiB" },
  { 102400, NUM_BYTES, "100 KiB" },
  { 1023 * KiB, NUM_BYTES, "1023 KiB" },
  { 1023 * KiB + 511, NUM_BYTES, "1023 KiB" },

  /* The unit is chosen after rounding. */
  { 1023 * KiB + 512, NUM_BYTES, "1.00 MiB" },
  { 1048575, NUM_BYTES, "1.00 MiB" },
  { 1048576, NUM_BYTES, "1.00 MiB" },
  { 1572864, NUM_BYTES, "1.50 MiB" },
  { 10485759, NUM_BYTES, "10.0 MiB" },
  { 34230272, NUM_BYTES, "32.6 MiB" },
  { GiB - 1, NUM_BYTES, "1.00 GiB" },
  { GiB, NUM_BYTES, "1.00 GiB" },
  { 1224065024, NUM_BYTES, "1.14 GiB" },
  { 2 * GiB, NUM_BYTES, "2.00 GiB" },
  { 5218762752, NUM_BYTES, "4.86 GiB" },
  { TiB - 1, NUM_BYTES, "1.00 TiB" },
  { TiB, NUM_BYTES, "1.00 TiB" },
  { PiB, NUM_BYTES, "1.00 PiB" },
  { EiB, NUM_BYTES, "1.00 EiB" },
  { 8 * EiB, NUM_BYTES, "8.00 EiB" },
  { (double) UINT64_MAX, NUM_BYTES, "16.0 EiB" },

  /* Rates have fractions; small ones keep their digits. */
  { 0, NUM_BYTES_PER_S, "0 B/s" },
  { 0.0001, NUM_BYTES_PER_S, "0.0001 B/s" },
  { 0.00152, NUM_BYTES_PER_S, "0.0015 B/s" },
  { 0.0123, NUM_BYTES_PER_S, "0.012 B/s" },
  { 0.1, NUM_BYTES_PER_S, "0.10 B/s" },
  { 0.4567, NUM_BYTES_PER_S, "0.46 B/s" },
  { 0.994, NUM_BYTES_PER_S, "0.99 B/s" },
  { 0.999, NUM_BYTES_PER_S, "1.00 B/s" },
  { 1, NUM_BYTES_PER_S, "1 B/s" },
  { 1.5, NUM_BYTES_PER_S, "1.50 B/s" },
  { 9.99, NUM_BYTES_PER_S, "9.99 B/s" },
  { 9.996, NUM_BYTES_PER_S, "10.0 B/s" },
  { 99.96, NUM_BYTES_PER_S, "100 B/s" },
  { 512, NUM_BYTES_PER_S, "512 B/s" },
  { 1023.4, NUM_BYTES_PER_S, "1023 B/s" },
  { 1023.6, NUM_BYTES_PER_S, "1.00 KiB/s" },
  { 1224065024 / 0.356, NUM_BYTES_PER_S, "3.20 GiB/s" },
  { 1224065024 / 2.107, NUM_BYTES_PER_S, "554 MiB/s" },
  { 5218762752 / 0.013, NUM_BYTES_PER_S, "374 GiB/s" },
  { 5218762752 / 2.107, NUM_BYTES_PER_S, "2.31 GiB/s" },
  { 9304.06 * GiB, NUM_BYTES_PER_S, "9.09 TiB/s" },
  { (double) UINT64_MAX * 1e9, NUM_BYTES_PER_S, "14.9 RiB/s" },
  { 1e40, NUM_BYTES_PER_S, "7888609052 QiB/s" },

  /* Where space is scarce. */
  { 0, NUM_SHORT_BYTES, "0B" },
  { 512, NUM_SHORT_BYTES, "512B" },
  { 4096, NUM_SHORT_BYTES, "4.00K" },
  { 1048575, NUM_SHORT_BYTES, "1.00M" },
  { 100 * GiB, NUM_SHORT_BYTES, "100G" },

  /* Times are nanoseconds and scale by 1000. */
  { 0, NUM_TIME, "0 ns" },
  { 0.25, NUM_TIME, "0.25 ns" },
  { 45, NUM_TIME, "45 ns" },
  { 45.5, NUM_TIME, "45.5 ns" },
  { 999, NUM_TIME, "999 ns" },
  { 999.6, NUM_TIME, "1.00 us" },
  { 1000, NUM_TIME, "1.00 us" },
  { 17000, NUM_TIME, "17.0 us" },
  { 999499, NUM_TIME, "999 us" },
  { 999500, NUM_TIME, "1.00 ms" },
  { 510.5e6, NUM_TIME, "510 ms" },
  { 2.107e9, NUM_TIME, "2.11 s" },
  { 59.96e9, NUM_TIME, "60.0 s" },
  { 3600e9, NUM_TIME, "3600 s" },
  { 99999.4e9, NUM_TIME, "99999 s" },
  { 99999.5e9, NUM_TIME, "1.16 d" },
  { 86400e9 * 365, NUM_TIME, "365 d" },
  { 86400e9 * 99999.4, NUM_TIME, "99999 d" },
  { 86400e9 * 99999.5, NUM_TIME, "274 y" },
  { (double) UINT64_MAX, NUM_TIME, "585 y" },

  /* The same where space is scarce. */
  { 0, NUM_SHORT_TIME, "0ns" },
  { 0.05, NUM_SHORT_TIME, "0.05ns" },
  { 999.4, NUM_SHORT_TIME, "999ns" },
  { 1234, NUM_SHORT_TIME, "1.23us" },
  { 25.6e6, NUM_SHORT_TIME, "25.6ms" },
  { 99999.4e9, NUM_SHORT_TIME, "99999s" },
  { 99999.5e9, NUM_SHORT_TIME, "1.16d" },
  { (double) UINT64_MAX, NUM_SHORT_TIME, "585y" },

  /* Counts have no unit but a scale. */
  { 0, NUM_COUNT, "0" },
  { 7, NUM_COUNT, "7" },
  { 999, NUM_COUNT, "999" },
  { 999.6, NUM_COUNT, "1.00k" },
  { 1000, NUM_COUNT, "1.00k" },
  { 12345, NUM_COUNT, "12.3k" },
  { 1234567, NUM_COUNT, "1.23M" },
  { 999999999, NUM_COUNT, "1.00G" },
  { 5e12, NUM_COUNT, "5.00T" },
  { 5e15, NUM_COUNT, "5.00P" },
  { (double) UINT64_MAX, NUM_COUNT, "18.4E" },
  { (double) UINT64_MAX * 1e9, NUM_COUNT, "18.4R" },
};

static void
test_table (void **state)
{
  char buf[NUM2STR_LEN];

  (void) state;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    assert_ptr_equal (num2str (buf, table[i].value, table[i].unit), buf);
    assert_string_equal (buf, table[i].expected);
  }
}

static const struct {
  double ns;
  const char *expected;
} seconds_table[] = {
  { 0, "0.000 s" },
  { 1, "0.000000001 s" },
  { 999, "0.0000010 s" },
  { 17000, "0.000017 s" },
  { 100000, "0.00010 s" },
  { 123456, "0.00012 s" },
  { 2400000, "0.0024 s" },
  { 9900000, "0.0099 s" },
  { 9960000, "0.010 s" },
  { 13e6, "0.013 s" },
  { 356e6, "0.356 s" },
  { 999.4e6, "0.999 s" },
  { 999.6e6, "1.000 s" },
  { 1021e6, "1.021 s" },
  { 2.107e9, "2.107 s" },
  { 86400e9, "86400.000 s" },
  { (double) UINT64_MAX, "18446744073.710 s" },
};

static void
test_seconds (void **state)
{
  char buf[NUM2STR_LEN];

  (void) state;
  for (size_t i = 0; i < sizeof seconds_table / sizeof seconds_table[0];
       i++) {
    assert_ptr_equal (seconds2str (buf, seconds_table[i].ns), buf);
    assert_string_equal (buf, seconds_table[i].expected);
  }
}

/* What must hold for any number.  The string is read back: the number,
 * its characters, how many of them are decimals, and the factor.
 */
struct parsed {
  double number, factor;
  size_t length, decimals;
  bool first, last;             /* of the units of its kind */
};

static bool
is_time (enum num_unit unit)
{
  return unit == NUM_TIME || unit == NUM_SHORT_TIME;
}

/* How many of one unit make the next. */
static double
base_of (enum num_unit unit)
{
  return is_time (unit) || unit == NUM_COUNT ? 1000 : 1024;
}

static struct parsed
parse (const char *string, enum num_unit unit)
{
  static const char *const units[][12] = {
    [NUM_BYTES] = { " B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB",
                    " ZiB", " YiB", " RiB", " QiB" },
    [NUM_BYTES_PER_S] = { " B/s", " KiB/s", " MiB/s", " GiB/s", " TiB/s",
                          " PiB/s", " EiB/s", " ZiB/s", " YiB/s", " RiB/s",
                          " QiB/s" },
    [NUM_SHORT_BYTES] = { "B", "K", "M", "G", "T", "P", "E", "Z", "Y",
                          "R", "Q" },
    [NUM_TIME] = { " ns", " us", " ms", " s" },
    [NUM_SHORT_TIME] = { "ns", "us", "ms", "s" },
    [NUM_COUNT] = { "", "k", "M", "G", "T", "P", "E", "Z", "Y", "R", "Q" },
  };
  struct parsed parsed = { .factor = 1 };
  const char *const *name = units[unit];
  const char *point = strchr (string, '.');

  parsed.length = strspn (string, "0123456789.");
  parsed.number = strtod (string, NULL);
  if (point)
    parsed.decimals = (size_t) (string + parsed.length - point) - 1;
  if (is_time (unit) && strpbrk (string, "dy")) {
    const char *days = unit == NUM_TIME ? " d" : "d";
    const bool in_days = strcmp (string + parsed.length, days) == 0;

    parsed.factor = in_days ? 86400e9 : 365.25 * 86400e9;
    parsed.last = true;
    return parsed;
  }
  while (*name && strcmp (string + parsed.length, *name) != 0) {
    parsed.factor *= base_of (unit);
    name++;
  }
  assert_non_null (*name);
  parsed.first = name == units[unit];
  parsed.last = name[1] == NULL;
  return parsed;
}

static double
check_property (double value, enum num_unit unit)
{
  char buf[NUM2STR_LEN];
  const struct parsed p = parse (num2str (buf, value, unit), unit);
  double half = p.factor / 2;   /* of a step of the last digit */

  /* It is the value, rounded to the digits that are shown. */
  for (size_t i = 0; i < p.decimals; i++)
    half /= 10;
  assert_true (fabs (p.number * p.factor - value)
               <= half + value * 1e-12);

  if (value >= 0.995 && !p.last) {
    assert_true (p.length <= 4);
    assert_true (p.number < base_of (unit));
  }
  if (value >= 0.995)
    assert_true (p.number >= 1);

  /* Three digits at least, but where there are no more. */
  if (!(p.first && value == trunc (value)))
    assert_true (p.length >= 3);
  return p.number * p.factor;
}

/* Values from 0.001 up to more than any, close together, and those around
 * each change of decimals or unit.
 */
static void
test_sweep (void **state)
{
  static const double edges[] = {
    1, 9.995, 10, 99.95, 100, 999.5, 1000, 1023.5, 1024,
  };
  static const double steps[] = {
    -1e-3, -1e-6, -1e-9, 0, 1e-9, 1e-6, 1e-3,
  };

  (void) state;
  for (int unit = NUM_BYTES; unit <= NUM_COUNT; unit++) {
    double shown, before = 0;

    for (double value = 0.001; value < 1e20; value *= 1.003) {
      shown = check_property (value, unit);
      assert_true (shown >= before);
      before = shown;
    }
    for (double value = 0; value < 5000; value++)
      check_property (value, unit);
    for (double factor = 1; factor < 1e18; factor *= base_of (unit)) {
      for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        before = 0;
        for (size_t j = 0; j < sizeof steps / sizeof steps[0]; j++) {
          shown = check_property (edges[i] * (1 + steps[j]) * factor, unit);
          assert_true (shown >= before);
          before = shown;
        }
      }
    }
  }
}

/* In columns of all widths, with a blank in front. */
static void
test_columns (void **state)
{
  static const double values[] = {
    0, 0.001, 0.4, 0.999, 1, 9.99, 99.5, 999.4, 999.96, 1e4, 99999.99, 1e7,
    4294967296, 1e12, (double) UINT64_MAX, 1.8e28,
  };
  char buf[NUM2STR_LEN];

  (void) state;
  for (int width = 5; width <= 30; width++) {
    for (uint64_t value = 1; value; value = value < UINT64_MAX / 3
           ? value * 3 : value < UINT64_MAX ? UINT64_MAX : 0) {
      count2str (buf, value, width);
      assert_true (strlen (buf) < (size_t) width);
      assert_true (fabs (strtod (buf, NULL) - (double) value) <= 0
                   || strpbrk (buf, "kMGTPE"));
    }
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
      decimal2str (buf, values[i], 3, width);
      assert_true (strlen (buf) < (size_t) width);
    }
  }
  assert_string_equal (count2str (buf, 999999999, 10), "999999999");
  assert_string_equal (count2str (buf, 1000000000, 10), "1.00G");
  assert_string_equal (count2str (buf, 9999, 5), "9999");
  assert_string_equal (count2str (buf, 10000, 5), "10k");
  assert_string_equal (count2str (buf, 1499999, 5), "1.5M");
  assert_string_equal (count2str (buf, 9960000, 5), "10M");
  assert_string_equal (count2str (buf, 999600, 5), "1.0M");
  assert_string_equal (count2str (buf, UINT64_MAX, 5), "18E");
  assert_string_equal (count2str (buf, UINT64_MAX, 21), "18446744073709551615");
  assert_string_equal (decimal2str (buf, 9999.99, 2, 9), "9999.99");
  assert_string_equal (decimal2str (buf, 99999.99, 2, 9), "99999.99");
  assert_string_equal (decimal2str (buf, 100000, 2, 9), "100000.0");
  assert_string_equal (decimal2str (buf, 9999999, 2, 9), "9999999");
  assert_string_equal (decimal2str (buf, 1e9, 2, 9), "1.00G");
  for (int unit = NUM_SHORT_BYTES; unit <= NUM_COUNT; unit++) {
    if (is_time (unit))
      continue;
    for (double value = 1e-20; value < 1e29; value *= 1.01)
      assert_true (strlen (rate2str (buf, value, unit)) <= 5);
  }
  for (double ns = 0.001; ns <= (double) UINT64_MAX; ns *= 1.0001)
    assert_true (strlen (num2str (buf, ns, NUM_SHORT_TIME)) <= 6);
  assert_string_equal (rate2str (buf, 0, NUM_COUNT), "0");
  assert_string_equal (rate2str (buf, 0.0994, NUM_COUNT), "<0.1");
  assert_string_equal (rate2str (buf, 0.0995, NUM_COUNT), "0.10");
  assert_string_equal (rate2str (buf, 0.01, NUM_SHORT_BYTES), "<0.1B");
}

/* Seconds never lose more than the last digit, and a short time keeps two
 * digits that count.
 */
static void
test_seconds_sweep (void **state)
{
  char buf[NUM2STR_LEN];
  double before = 0, shown;

  (void) state;
  for (double ns = 1; ns < 1e18; ns *= 1.003) {
    char *end;

    shown = strtod (seconds2str (buf, ns), &end);
    assert_string_equal (end, " s");
    assert_int_equal (strspn (buf, "0123456789."), end - buf);
    assert_true (fabs (shown * 1e9 - ns)
                 <= (ns < 10e6 ? ns * 0.05 : 0.5e6) + 0.5);
    assert_true (shown >= before);
    before = shown;
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_table),
    cmocka_unit_test (test_seconds),
    cmocka_unit_test (test_sweep),
    cmocka_unit_test (test_columns),
    cmocka_unit_test (test_seconds_sweep),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
