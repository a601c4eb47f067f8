/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* nbdkit's functions that turn the values of parameters into numbers. */

#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server.h"

int
nbdkit_parse_bool (const char *str)
{
  static const char *const words[][2] = {
    { "0", "1" }, { "f", "t" }, { "false", "true" },
    { "n", "y" }, { "no", "yes" }, { "off", "on" },
  };

  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    for (int truth = 0; truth <= 1; truth++) {
      if (strcasecmp (str, words[i][truth]) == 0)
        return truth;
    }
  }
  nbdkit_error ("%s: neither true nor false", str);
  return -1;
}

/* The power of two that a letter after a size stands for, or -1. */
static int
size_shift (char letter)
{
  static const char letters[] = "bkmgtpe";
  const char *found;

  if (letter == '\0')
    return 0;
  letter = (char) tolower ((unsigned char) letter);
  if (letter == 's')
    return 9;                   /* sectors */
  found = strchr (letters, letter);
  return found ? (int) (found - letters) * 10 : -1;
}

int64_t
nbdkit_parse_size (const char *str)
{
  char *end;
  int64_t size;
  int shift;

  errno = 0;
  size = strtoll (str, &end, 10);
  shift = size_shift (*end);
  if (errno || end == str || shift == -1 || (*end && end[1])
      || size < 0 || size > INT64_MAX >> shift) {
    nbdkit_error ("%s: not a size", str);
    return -1;
  }
  return size << shift;
}

static int
parse_signed (const char *what, const char *str, int64_t min, int64_t max,
              int64_t *r)
{
  char *end;

  errno = 0;
  *r = strtoll (str, &end, 0);
  if (errno == 0 && end != str && *end == '\0' && *r >= min && *r <= max)
    return 0;
  nbdkit_error ("%s: %s: not a number from %" PRIi64 " to %" PRIi64,
                what, str, min, max);
  return -1;
}

static int
parse_unsigned (const char *what, const char *str, uint64_t max, uint64_t *r)
{
  char *end;

  errno = 0;
  *r = strtoull (str, &end, 0);
  if (errno == 0 && end != str && *end == '\0' && strchr (str, '-') == NULL
      && *r <= max)
    return 0;
  nbdkit_error ("%s: %s: not a number from 0 to %" PRIu64, what, str, max);
  return -1;
}

#define PARSE_SIGNED(suffix, type, min, max)                              \
  int                                                                     \
  nbdkit_parse_##suffix (const char *what, const char *str, type *r)      \
  {                                                                       \
    int64_t value;                                                        \
                                                                          \
    if (parse_signed (what, str, min, max, &value) == -1)                 \
      return -1;                                                          \
    *r = (type) value;                                                    \
    return 0;                                                             \
  }

#define PARSE_UNSIGNED(suffix, type, max)                                 \
  int                                                                     \
  nbdkit_parse_##suffix (const char *what, const char *str, type *r)      \
  {                                                                       \
    uint64_t value;                                                       \
                                                                          \
    if (parse_unsigned (what, str, max, &value) == -1)                    \
      return -1;                                                          \
    *r = (type) value;                                                    \
    return 0;                                                             \
  }

PARSE_SIGNED (int, int, INT_MIN, INT_MAX)
PARSE_SIGNED (int8_t, int8_t, INT8_MIN, INT8_MAX)
PARSE_SIGNED (int16_t, int16_t, INT16_MIN, INT16_MAX)
PARSE_SIGNED (int32_t, int32_t, INT32_MIN, INT32_MAX)
PARSE_SIGNED (int64_t, int64_t, INT64_MIN, INT64_MAX)
PARSE_UNSIGNED (unsigned, unsigned, UINT_MAX)
PARSE_UNSIGNED (uint8_t, uint8_t, UINT8_MAX)
PARSE_UNSIGNED (uint16_t, uint16_t, UINT16_MAX)
PARSE_UNSIGNED (uint32_t, uint32_t, UINT32_MAX)
PARSE_UNSIGNED (uint64_t, uint64_t, UINT64_MAX)
