/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A tree of JSON that grows figure by figure.
 *
 * Over json-c, for three reasons.  Any of its calls may find no memory, and
 * then it would put a null where a figure belongs: here a failure sticks
 * and shows at the end, so a report is a plain list of figures.  Its
 * strings and numbers are what they are given: here a string is UTF-8 and
 * a number is finite, with a point in every locale.  And where its output
 * buffer cannot grow it leaves bytes out and says nothing: here the buffer
 * is large enough before it prints.
 */

#ifndef STATS_JSON_TREE_H
#define STATS_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_object;

struct json_tree {
  struct json_object *root;
  size_t room;                  /* bytes that it takes in print, at most */
  bool failed;                  /* there was no memory for some of it */
};

/* An object or an array in a tree. */
struct json_node {
  struct json_tree *tree;
  struct json_object *object;   /* NULL: there was no memory for it */
};

/* Begin a tree and return its root, an object.  The tree must stay where
 * it is, and ends with json_tree_write.
 */
extern struct json_node json_tree_begin (struct json_tree *tree);

/* Add to a node; key is NULL where that is an array, and copied where it
 * is an object.  None of these fails at once.
 */
extern struct json_node add_object (struct json_node to, const char *key);
extern struct json_node add_array (struct json_node to, const char *key);
extern void add_count (struct json_node to, const char *key, uint64_t n);
extern void add_real (struct json_node to, const char *key, double value);
extern void add_string (struct json_node to, const char *key, const char *s);
extern void add_null (struct json_node to, const char *key);

/* Write the whole tree as one line, and free it.  Returns -1 where there
 * was no memory at any time, and then nothing was written.  Errors of fp
 * are left to ferror.
 */
extern int json_tree_write (struct json_tree *tree, FILE *fp);

#endif /* STATS_JSON_TREE_H */
