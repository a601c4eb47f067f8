/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_writer.h"
#include "utf8.h"

/* A sign, 17 digits, a mark of several bytes between them, an exponent. */
#define REAL_LEN 48

/* How many bytes stand for themselves inside of quotes. */
static size_t
plain (const char *s)
{
  const char *end = s;

  while (*end >= ' ' && *end <= '~' && *end != '"' && *end != '\\')
    end++;
  return (size_t) (end - s);
}

/* A character of ASCII that is not plain. */
static void
write_escape (FILE *fp, char c)
{
  static const char letters[] = "\"\\bfnrt", characters[] = "\"\\\b\f\n\r\t";
  const char *place = strchr (characters, c);

  if (place)
    fprintf (fp, "\\%c", letters[place - characters]);
  else
    fprintf (fp, "\\u%04x", (unsigned) c);
}

/* Write what stands for the character at s, and return its length. */
static size_t
write_character (FILE *fp, const char *s)
{
  bool good;
  const size_t length = utf8_next (s, &good);

  if (!good)
    fputs_unlocked (UTF8_REPLACEMENT, fp);
  else if (length == 1)
    write_escape (fp, *s);
  else
    fwrite_unlocked (s, 1, length, fp);
  return length;
}

static void
write_string (FILE *fp, const char *s)
{
  putc_unlocked ('"', fp);
  for (;;) {
    const size_t length = plain (s);

    fwrite_unlocked (s, 1, length, fp);
    s += length;
    if (*s == '\0')
      break;
    s += write_character (fp, s);
  }
  putc_unlocked ('"', fp);
}

/* All that stands before a value.  Returns where to write it. */
static FILE *
begin_value (struct json *json, const char *key)
{
  if (json->comma)
    putc_unlocked (',', json->fp);
  json->comma = true;
  if (key) {
    write_string (json->fp, key);
    putc_unlocked (':', json->fp);
  }
  return json->fp;
}

struct json_block
json_begin (struct json *json, const char *key, char begin, char end)
{
  FILE *fp = begin_value (json, key);

  putc_unlocked (begin, fp);
  json->comma = false;
  return (struct json_block) { .json = json, .end = end };
}

void
json_end (struct json_block *block)
{
  putc_unlocked (block->end, block->json->fp);
  block->json->comma = true;
}

/* By hand: printf knows no 128 bits, and takes several times as long. */
char *
json_digits (char buf[JSON_DIGITS_LEN], unsigned __int128 n)
{
  char *p = buf + JSON_DIGITS_LEN - 1;
  uint64_t rest;

  *p = '\0';
  for (; n > UINT64_MAX; n /= 10)
    *--p = (char) ('0' + (int) (n % 10));
  rest = (uint64_t) n;
  do
    *--p = (char) ('0' + rest % 10);
  while (rest /= 10);
  return p;
}

void
json_count (struct json *json, const char *key, unsigned __int128 n)
{
  char digits[JSON_DIGITS_LEN];

  fputs_unlocked (json_digits (digits, n), begin_value (json, key));
}

/* Whatever stands between the digits, make it a point. */
static void
set_point (char *number)
{
  char *mark = number + strspn (number, "-0123456789");
  const char *rest = mark + strcspn (mark, "0123456789e");

  if (rest > mark) {
    memmove (mark + 1, rest, strlen (rest) + 1);
    *mark = '.';
  }
}

void
json_real (struct json *json, const char *key, double value)
{
  char number[REAL_LEN];
  int digits = 15;              /* any number of so many can be kept apart */

  if (!isfinite (value)) {
    json_null (json, key);
    return;
  }
  do
    snprintf (number, sizeof number, "%.*g", digits, value + 0.0);
  while (strtod (number, NULL) != value && ++digits <= 17);
  set_point (number);
  fputs_unlocked (number, begin_value (json, key));
}

void
json_string (struct json *json, const char *key, const char *s)
{
  write_string (begin_value (json, key), s);
}

void
json_bool (struct json *json, const char *key, bool value)
{
  fputs_unlocked (value ? "true" : "false", begin_value (json, key));
}

void
json_null (struct json *json, const char *key)
{
  fputs_unlocked ("null", begin_value (json, key));
}
