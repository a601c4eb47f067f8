/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <json.h>

#include "errors.h"
#include "json_input.h"

/* Errors. */

#define WAY_LEN 512

/* Write the way to a value, and return how long it is. */
static size_t
write_way (char *way, const struct input *input)
{
  size_t n;

  way[0] = '\0';
  if (input->parent == NULL)
    return 0;
  n = write_way (way, input->parent);
  if (input->key)
    n += (size_t) snprintf (way + n, WAY_LEN - n, "%s%.100s", n ? "." : "",
                            input->key);
  else
    n += (size_t) snprintf (way + n, WAY_LEN - n, "[%zu]", input->index);
  return n < WAY_LEN ? n : WAY_LEN - 1;
}

void
input_error (const struct input *object, const char *key,
             const char *fmt, ...)
{
  const struct input value = {
    .source = object->source, .parent = object, .key = key,
  };
  char way[WAY_LEN], what[256];
  va_list args;

  if (object->source->failed)
    return;
  object->source->failed = true;
  va_start (args, fmt);
  vsnprintf (what, sizeof what, fmt, args);
  va_end (args);
  write_way (way, key ? &value : object);
  tell_error_at (object->source->file, object->source->line, "%s %s",
                 way[0] ? way : "the report", what);
}

/* Objects and lists. */

struct input
input_root (struct json_source *source, struct json_object *value)
{
  return (struct input) { .source = source, .value = value };
}

/* NULL where it is missing, which is told; null is NULL, too. */
static struct json_object *
member (const struct input *object, const char *key)
{
  struct json_object *value = NULL;

  if (object->value == NULL)
    return NULL;
  if (!json_object_object_get_ex (object->value, key, &value))
    input_error (object, key, "is missing");
  return value;
}

static struct input
container (const struct input *parent, const char *key, enum json_type type)
{
  struct input input = {
    .source = parent->source, .value = member (parent, key),
    .parent = parent, .key = key,
  };

  if (!json_object_is_type (input.value, type)) {
    input_error (parent, key, "is not %s",
                 type == json_type_array ? "a list" : "an object");
    input.value = NULL;
  }
  return input;
}

struct input
input_object (const struct input *parent, const char *key)
{
  return container (parent, key, json_type_object);
}

struct input
input_list (const struct input *parent, const char *key)
{
  return container (parent, key, json_type_array);
}

bool
input_has (const struct input *object, const char *key)
{
  struct json_object *value = NULL;

  return object->value
    && json_object_object_get_ex (object->value, key, &value) && value;
}

size_t
input_length (const struct input *list)
{
  return list->value ? json_object_array_length (list->value) : 0;
}

struct input
input_item (const struct input *list, size_t i)
{
  struct input input = {
    .source = list->source, .parent = list, .index = i,
    .value = json_object_array_get_idx (list->value, i),
  };

  if (!json_object_is_type (input.value, json_type_object)) {
    input_error (&input, NULL, "is not an object");
    input.value = NULL;
  }
  return input;
}

/* Numbers. */

/* The digits of one that json_stream made a double.  Returns false where
 * it is none, or has more than 128 bits.
 */
static bool
read_digits (const char *text, unsigned __int128 *n)
{
  const unsigned __int128 most = ~(unsigned __int128) 0;

  for (*n = 0; isdigit ((unsigned char) *text); text++) {
    const unsigned digit = (unsigned) (*text - '0');

    if (*n > (most - digit) / 10)
      return false;
    *n = *n * 10 + digit;
  }
  return strcmp (text, ".0") == 0;
}

static bool
is_whole (struct json_object *value, unsigned __int128 *n)
{
  switch (json_object_get_type (value)) {
  case json_type_int:
    *n = json_object_get_uint64 (value);
    return json_object_get_int64 (value) >= 0;
  case json_type_double:
    return read_digits (json_object_to_json_string (value), n);
  default:
    return false;
  }
}

static unsigned __int128
whole (const struct input *object, const char *key, unsigned __int128 most)
{
  struct json_object *value = member (object, key);
  unsigned __int128 n = 0;

  if (object->source->failed)
    return 0;
  if (!is_whole (value, &n)) {
    input_error (object, key, "is not a count");
    return 0;
  }
  if (n > most) {
    input_error (object, key, "is too large");
    return 0;
  }
  return n;
}

uint64_t
input_count (const struct input *object, const char *key)
{
  return (uint64_t) whole (object, key, UINT64_MAX);
}

unsigned
input_small (const struct input *object, const char *key)
{
  return (unsigned) whole (object, key, UINT_MAX);
}

unsigned __int128
input_large (const struct input *object, const char *key)
{
  return whole (object, key, ~(unsigned __int128) 0);
}

uint64_t
input_count_or_null (const struct input *object, const char *key)
{
  return member (object, key) ? input_count (object, key) : 0;
}

double
input_real (const struct input *object, const char *key)
{
  struct json_object *value = member (object, key);

  if (value == NULL)
    return NAN;
  if (!json_object_is_type (value, json_type_int)
      && !json_object_is_type (value, json_type_double)) {
    input_error (object, key, "is not a number");
    return NAN;
  }
  return json_object_get_double (value);
}

/* The rest. */

bool
input_bool (const struct input *object, const char *key)
{
  struct json_object *value = member (object, key);

  if (!json_object_is_type (value, json_type_boolean))
    input_error (object, key, "is neither true nor false");
  return json_object_get_boolean (value);
}

const char *
input_string (const struct input *object, const char *key)
{
  struct json_object *value = member (object, key);

  if (!json_object_is_type (value, json_type_string)) {
    input_error (object, key, "is not a string");
    return "";
  }
  return json_object_get_string (value);
}
