/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Values out of JSON that may have another shape than one thinks: where
 * something is not there, or is something else, each gives nothing.
 */

#ifndef TOOLS_JSON_VALUES_H
#define TOOLS_JSON_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include <json.h>

/* object may be NULL or no object.  What is given still belongs to it. */
extern json_object *json_get (json_object *object, const char *key);
extern json_object *json_element (json_object *array, size_t i);
extern size_t json_length (json_object *array);

extern double json_number (json_object *object, const char *key);  /* NaN */
extern uint64_t json_whole (json_object *object, const char *key); /* 0 */
extern const char *json_text (json_object *object, const char *key); /* "" */

#endif /* TOOLS_JSON_VALUES_H */
