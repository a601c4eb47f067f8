/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Values out of a JSON object, each of the type that it must have.
 *
 * A value that is not there, or is something else, is told with the way to
 * it, "layers[0].ops.read.total_ios is missing", and all that is read from
 * then on is 0 and not told any more.  So whoever reads looks once, at the
 * end, whether anything failed.
 */

#ifndef TOOLS_JSON_INPUT_H
#define TOOLS_JSON_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;             /* of json-c, as in json_stream.h */

/* What all values of an object have in common. */
struct json_source {
  const char *file;             /* for errors */
  unsigned line;
  bool failed;
};

/* An object or a list, and the way to it, which must outlive it. */
struct input {
  struct json_source *source;
  struct json_object *value;    /* NULL after an error */
  const struct input *parent;
  const char *key;              /* in its parent, which is an object, */
  size_t index;                 /* or a list */
};

extern struct input input_root (struct json_source *source,
                                struct json_object *value);

/* What stands under a key of an object. */
extern struct input input_object (const struct input *parent,
                                  const char *key);
extern struct input input_list (const struct input *parent, const char *key);

/* Whether there is something other than null. */
extern bool input_has (const struct input *object, const char *key);

/* A list's objects; where it has any other value, that is an error. */
extern size_t input_length (const struct input *list);
extern struct input input_item (const struct input *list, size_t i);

/* A whole number that is not negative, up to 64 bits, 32 and 128. */
extern uint64_t input_count (const struct input *object, const char *key);
extern unsigned input_small (const struct input *object, const char *key);
extern unsigned __int128 input_large (const struct input *object,
                                      const char *key);

/* Where null is allowed, too, which is 0. */
extern uint64_t input_count_or_null (const struct input *object,
                                     const char *key);

/* Any number, NaN for null. */
extern double input_real (const struct input *object, const char *key);
extern bool input_bool (const struct input *object, const char *key);

/* As long as the JSON object lives; "" after an error. */
extern const char *input_string (const struct input *object,
                                 const char *key);

/* Something is wrong with what stands under a key, or with the object
 * itself where key is NULL.  The message goes on from there: "is odd".
 */
extern void input_error (const struct input *object, const char *key,
                         const char *fmt, ...)
  __attribute__ ((format (printf, 3, 4)));

#endif /* TOOLS_JSON_INPUT_H */
