/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json.h>
#include <printbuf.h>

#include "json_tree.h"
#include "utf8.h"

/* How many bytes things take in print. */
#define ROOM_PUNCTUATION 4      /* of a key: "":,  of a value: {} [] "" null */
#define ROOM_NUMBER 32
#define ROOM_CHARACTER 6        /* \u001f */

struct json_node
json_tree_begin (struct json_tree *tree)
{
  *tree = (struct json_tree) { .root = json_object_new_object () };
  tree->room = ROOM_PUNCTUATION;
  tree->failed = tree->root == NULL;
  return (struct json_node) { tree, tree->root };
}

/* Add a value, which is null if it is NULL, and takes room bytes.  Owns the
 * value from now on.
 */
static void
add (struct json_node to, const char *key, struct json_object *value,
     size_t room)
{
  int r = -1;

  if (to.object)
    r = key ? json_object_object_add (to.object, key, value)
            : json_object_array_add (to.object, value);
  if (r < 0) {
    json_object_put (value);
    to.tree->failed = true;
  }
  to.tree->room += (key ? strlen (key) : 0) + ROOM_PUNCTUATION + room;
}

/* Likewise, where NULL means that there was no memory for the value. */
static void
add_made (struct json_node to, const char *key, struct json_object *value,
          size_t room)
{
  if (value)
    add (to, key, value, room);
  else
    to.tree->failed = true;
}

/* A new object or array.  Where it could not be added it is gone. */
static struct json_node
add_node (struct json_node to, const char *key, struct json_object *object)
{
  struct json_tree *tree = to.tree;

  add_made (to, key, object, ROOM_PUNCTUATION);
  return (struct json_node) { tree, tree->failed ? NULL : object };
}

struct json_node
add_object (struct json_node to, const char *key)
{
  return add_node (to, key, json_object_new_object ());
}

struct json_node
add_array (struct json_node to, const char *key)
{
  return add_node (to, key, json_object_new_array ());
}

void
add_count (struct json_node to, const char *key, uint64_t n)
{
  add_made (to, key, json_object_new_uint64 (n), ROOM_NUMBER);
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

/* For json-c: 12 digits are more than any clock or table has, and no rest
 * of a binary fraction is among them.
 */
static int
print_real (struct json_object *real, struct printbuf *out, int level,
            int flags)
{
  char number[ROOM_NUMBER];

  (void) level;
  (void) flags;
  snprintf (number, sizeof number, "%.12g", json_object_get_double (real));
  set_point (number);
  return printbuf_memappend (out, number, (int) strlen (number));
}

void
add_real (struct json_node to, const char *key, double value)
{
  struct json_object *real;

  if (!isfinite (value)) {
    add_null (to, key);
    return;
  }
  real = json_object_new_double (value == 0 ? 0 : value); /* no -0 */
  if (real)
    json_object_set_serializer (real, print_real, NULL, NULL);
  add_made (to, key, real, ROOM_NUMBER);
}

void
add_string (struct json_node to, const char *key, const char *s)
{
  char *clean = utf8_clean (s);

  if (clean == NULL) {
    to.tree->failed = true;
    return;
  }
  add_made (to, key, json_object_new_string (clean),
            ROOM_PUNCTUATION + ROOM_CHARACTER * strlen (clean));
  free (clean);
}

void
add_null (struct json_node to, const char *key)
{
  add (to, key, NULL, ROOM_PUNCTUATION);
}

/* For json-c: instead of the root, print what is as long as it can get. */
static int
print_room (struct json_object *root, struct printbuf *out, int level,
            int flags)
{
  const struct json_tree *tree = json_object_get_userdata (root);

  (void) level;
  (void) flags;
  if (tree->room > INT_MAX)
    return -1;
  return printbuf_memset (out, 0, ' ', (int) tree->room);
}

/* The root has one output buffer for all its prints, which only grows.
 * That is why printing twice helps: the second time it need not grow.
 */
static const char *
print (struct json_tree *tree, size_t *length)
{
  const int flags = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE;

  json_object_set_serializer (tree->root, print_room, tree, NULL);
  if (json_object_to_json_string_ext (tree->root, flags) == NULL)
    return NULL;
  json_object_set_serializer (tree->root, NULL, NULL, NULL);
  return json_object_to_json_string_length (tree->root, flags, length);
}

int
json_tree_write (struct json_tree *tree, FILE *fp)
{
  size_t length;
  const char *text = tree->failed ? NULL : print (tree, &length);

  if (text) {
    fwrite (text, 1, length, fp);
    fputc ('\n', fp);
  }
  json_object_put (tree->root);
  tree->root = NULL;
  return text ? 0 : -1;
}
