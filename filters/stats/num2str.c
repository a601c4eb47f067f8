/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "num2str.h"

/* They go as far as 2^64 of a thing in one nanosecond. */
static const struct {
  double base;                  /* how many of one unit make the next */
  const char *names[12];        /* smallest first, NULL-terminated */
} scales[] = {
  [NUM_BYTES]       = { 1024, { " B", " KiB", " MiB", " GiB", " TiB", " PiB",
                                " EiB", " ZiB", " YiB", " RiB", " QiB",
                                NULL } },
  [NUM_BYTES_PER_S] = { 1024, { " B/s", " KiB/s", " MiB/s", " GiB/s", " TiB/s",
                                " PiB/s", " EiB/s", " ZiB/s", " YiB/s",
                                " RiB/s", " QiB/s", NULL } },
  [NUM_SHORT_BYTES] = { 1024, { "B", "K", "M", "G", "T", "P", "E", "Z", "Y",
                                "R", "Q", NULL } },
  [NUM_TIME]        = { 1000, { " ns", " us", " ms", " s", NULL } },
  [NUM_SHORT_TIME]  = { 1000, { "ns", "us", "ms", "s", NULL } },
  [NUM_COUNT]       = { 1000, { "", "k", "M", "G", "T", "P", "E", "Z", "Y",
                                "R", "Q", NULL } },
};

/* How many decimals fit when the number has four characters.  The limits
 * are where the decimals would round up to one more digit.
 */
static int
decimals (double v)
{
  if (v < 9.995)
    return 2;
  if (v < 99.95)
    return 1;
  return 0;
}

static bool
is_time (enum num_unit unit)
{
  return unit == NUM_TIME || unit == NUM_SHORT_TIME;
}

/* Seconds that have more than five digits are told in days, and such days
 * in years.
 */
static const char *
days2str (char buf[NUM2STR_LEN], double ns, enum num_unit unit)
{
  const double days = ns / 1e9 / 86400;
  const char *blank = unit == NUM_TIME ? " " : "";

  if (days >= 99999.5)
    snprintf (buf, NUM2STR_LEN, "%.0f%sy", days / 365.25, blank);
  else
    snprintf (buf, NUM2STR_LEN, "%.*f%sd", decimals (days), days, blank);
  return buf;
}

/* With so many decimals at most, where the value is told in a unit. */
static const char *
scaled2str (char buf[NUM2STR_LEN], double value, enum num_unit unit,
            int most)
{
  const double base = scales[unit].base;
  const char *const *name = scales[unit].names;

  if (is_time (unit) && value >= 99999.5e9)
    return days2str (buf, value, unit);

  if (value < 0.995 && value > 0) {
    snprintf (buf, NUM2STR_LEN,
              value < 0.0995 && !is_time (unit) ? "%.2g%s" : "%.2f%s",
              value, *name);
    return buf;
  }

  if (value < base && value == (unsigned) value) {
    snprintf (buf, NUM2STR_LEN, "%.0f%s", value, *name);
    return buf;
  }

  /* A value that would round to a whole next unit is in that unit. */
  while (value >= base - 0.5 && name[1] != NULL) {
    value /= base;
    name++;
  }
  snprintf (buf, NUM2STR_LEN, "%.*f%s",
            decimals (value) < most ? decimals (value) : most, value, *name);
  return buf;
}

const char *
num2str (char buf[NUM2STR_LEN], double value, enum num_unit unit)
{
  return scaled2str (buf, value, unit, 2);
}

const char *
seconds2str (char buf[NUM2STR_LEN], double ns)
{
  const double seconds = ns / 1e9;
  int digits = 3;
  double limit = 0.00995;       /* below it three decimals are one digit */

  while (digits < 9 && seconds < limit) {
    digits++;
    limit /= 10;
  }
  if (ns <= 0)
    digits = 3;
  snprintf (buf, NUM2STR_LEN, "%.*f s", digits, seconds);
  return buf;
}

/* With a unit, and as many decimals as a column has room for. */
static const char *
column2str (char buf[NUM2STR_LEN], double value, int width)
{
  int most = 2;

  while (strlen (scaled2str (buf, value, NUM_COUNT, most)) >= (size_t) width
         && most > 0)
    most--;
  return buf;
}

const char *
count2str (char buf[NUM2STR_LEN], uint64_t value, int width)
{
  if (snprintf (buf, NUM2STR_LEN, "%" PRIu64, value) < width)
    return buf;
  return column2str (buf, (double) value, width);
}

const char *
decimal2str (char buf[NUM2STR_LEN], double value, int digits, int width)
{
  for (; digits >= 0; digits--) {
    if (snprintf (buf, NUM2STR_LEN, "%.*f", digits, value) < width)
      return buf;
  }
  return column2str (buf, value, width);
}

const char *
rate2str (char buf[NUM2STR_LEN], double value, enum num_unit unit)
{
  if (value > 0 && value < 0.0995) {
    snprintf (buf, NUM2STR_LEN, "<0.1%s", scales[unit].names[0]);
    return buf;
  }
  return num2str (buf, value, unit);
}
