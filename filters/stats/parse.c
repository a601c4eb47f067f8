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

static bool
is_byte_unit (const char *unit)
{
  return *unit == '\0' || strcasecmp (unit, "B") == 0
    || strcasecmp (unit, "iB") == 0;
}

int
parse_size (const char *value, uint64_t *result)
{
  static const char suffixes[] = "KMGTPE";
  const char *suffix;
  unsigned shift;

  if (parse_digits (&value, result) == -1)
    return -1;
  if (*value == '\0' || strcasecmp (value, "B") == 0)
    return 0;
  suffix = strchr (suffixes, toupper ((unsigned char) *value));
  if (suffix == NULL || !is_byte_unit (value + 1))
    return -1;
  shift = 10 * (unsigned) (suffix - suffixes + 1);
  if (*result << shift >> shift != *result)
    return -1;
  *result <<= shift;
  return 0;
}

int
parse_decimal (const char *value, uint64_t scale, uint64_t *result)
{
  uint64_t whole = 0, fraction = 0, step = scale / 10;

  if (parse_digits (&value, &whole) == -1 && *value != '.')
    return -1;
  if (*value == '.') {
    if (!isdigit ((unsigned char) *++value))
      return -1;
    for (; isdigit ((unsigned char) *value); value++, step /= 10)
      fraction += step * (uint64_t) (*value - '0');
  }
  if (*value != '\0' || whole > UINT64_MAX / scale - 1)
    return -1;
  *result = whole * scale + fraction;
  return 0;
}
