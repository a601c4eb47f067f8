/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Writes JSON that was read, and what may be nothing. */

#ifndef TOOLS_JSON_COPY_H
#define TOOLS_JSON_COPY_H

struct json;
struct json_object;

/* Add a value, whatever it is; NULL is null. */
extern void json_copy (struct json *json, const char *key,
                       struct json_object *value);

extern void json_string_or_null (struct json *json, const char *key,
                                 const char *s);

#endif /* TOOLS_JSON_COPY_H */
