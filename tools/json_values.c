/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <math.h>

#include "json_values.h"

json_object *
json_get (json_object *object, const char *key)
{
  json_object *value = NULL;

  if (json_object_is_type (object, json_type_object))
    json_object_object_get_ex (object, key, &value);
  return value;
}

size_t
json_length (json_object *array)
{
  return json_object_is_type (array, json_type_array)
    ? json_object_array_length (array) : 0;
}

json_object *
json_element (json_object *array, size_t i)
{
  return i < json_length (array) ? json_object_array_get_idx (array, i) : NULL;
}

double
json_number (json_object *object, const char *key)
{
  json_object *value = json_get (object, key);

  if (json_object_is_type (value, json_type_double)
      || json_object_is_type (value, json_type_int))
    return json_object_get_double (value);
  return NAN;
}

uint64_t
json_whole (json_object *object, const char *key)
{
  json_object *value = json_get (object, key);

  return json_object_is_type (value, json_type_int)
    ? json_object_get_uint64 (value) : 0;
}

const char *
json_text (json_object *object, const char *key)
{
  json_object *value = json_get (object, key);

  return json_object_is_type (value, json_type_string)
    ? json_object_get_string (value) : "";
}
