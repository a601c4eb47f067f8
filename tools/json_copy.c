/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "json_copy.h"
#include "json_writer.h"

/* json-c has a type of the name of a function of our writer. */
#define json_bool json_c_bool
#include <json.h>
#undef json_bool

static void
copy_object (struct json *json, const char *key, struct json_object *object)
{
  JSON_OBJECT (json, key) {
    json_object_object_foreach (object, name, value)
      json_copy (json, name, value);
  }
}

static void
copy_array (struct json *json, const char *key, struct json_object *array)
{
  JSON_ARRAY (json, key) {
    for (size_t i = 0; i < json_object_array_length (array); i++)
      json_copy (json, NULL, json_object_array_get_idx (array, i));
  }
}

void
json_copy (struct json *json, const char *key, struct json_object *value)
{
  switch (json_object_get_type (value)) {
  case json_type_null: json_null (json, key); break;
  case json_type_boolean:
    json_bool (json, key, json_object_get_boolean (value));
    break;
  case json_type_double:
    json_real (json, key, json_object_get_double (value));
    break;
  case json_type_int:
    json_count (json, key, json_object_get_uint64 (value));
    break;
  case json_type_string:
    json_string (json, key, json_object_get_string (value));
    break;
  case json_type_object: copy_object (json, key, value); break;
  case json_type_array: copy_array (json, key, value); break;
  }
}

void
json_string_or_null (struct json *json, const char *key, const char *s)
{
  if (s)
    json_string (json, key, s);
  else
    json_null (json, key);
}
