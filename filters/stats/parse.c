/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "clock.h"
#include "parse.h"

int
parse_bool (const char *value, bool *result)
{
  static const char *const words[][2] = {
    { "false", "true" }, { "no", "yes" }, { "off", "on" },
    { "0", "1" }, { "f", "t" }, { "n", "y" },
  };

  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    for (int truth = 0; truth <= 1; truth++) {
      if (strcasecmp (value, words[i][truth]) == 0) {
        *result = truth;
        return 0;
      }
    }
  }
  return -1;
}

/* Digits at *p, which is moved behind them; -1 where there are none. */
static int
parse_digits (const char **p, uint64_t *result)
{
  char *end;

  if (!isdigit ((unsigned char) **p))
    return -1;
  errno = 0;
  *result = strtoull (*p, &end, 10);
  *p = end;
  return errno ? -1 : 0;
}

/* A number at *p, which is moved behind it. */
static int
parse_number (const char **p, uint64_t scale, uint64_t *result)
{
  uint64_t whole = 0, fraction = 0, step = scale / 10;

  if (parse_digits (p, &whole) == -1 && **p != '.')
    return -1;
  if (**p == '.') {
    if (!isdigit ((unsigned char) *++*p))
      return -1;
    for (; isdigit ((unsigned char) **p); ++*p, step /= 10)
      fraction += step * (uint64_t) (**p - '0');
  }
  if (whole > UINT64_MAX / scale - 1)
    return -1;
  *result = whole * scale + fraction;
  return 0;
}

int
parse_decimal (const char *value, uint64_t scale, uint64_t *result)
{
  return parse_number (&value, scale, result) == 0 && *value == '\0' ? 0 : -1;
}

int
parse_duration (const char *value, uint64_t *ns)
{
  static const struct {
    const char *name;
    uint64_t scale, times;
  } units[] = {
    { "", NS_PER_S, 1 }, { "s", NS_PER_S, 1 }, { "m", NS_PER_S, 60 },
    { "ms", NS_PER_S / 1000, 1 }, { "us", 1000, 1 },
    { "\u00b5s", 1000, 1 }, { "\u03bcs", 1000, 1 }, { "ns", 1, 1 },
  };
  const char *unit = value + strspn (value, "0123456789.");
  size_t i = 0;

  while (strcmp (unit, units[i].name) != 0)
    if (++i == sizeof units / sizeof units[0])
      return -1;
  if (parse_number (&value, units[i].scale, ns) == -1 || value != unit
      || *ns > UINT64_MAX / units[i].times)
    return -1;
  *ns *= units[i].times;
  return 0;
}
