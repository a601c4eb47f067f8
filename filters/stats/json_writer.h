/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Writes JSON to a stream, figure by figure.
 *
 * The blocks of the code are those of the text:
 *
 *   JSON_OBJECT (json, "in_flight") {
 *     json_real (json, "mean", 1.5);
 *     json_count (json, "max", 2);
 *   }
 *
 * writes "in_flight":{"mean":1.5,"max":2} with the comma before it, if
 * there must be one.  So nothing can be left open, ended twice, or added to
 * what has ended.
 *
 * A string becomes UTF-8 and a number finite, with a point in every
 * locale, whatever they are given.  Nothing here allocates memory or
 * fails; errors of the stream are left to ferror.  No other thread may use
 * it meanwhile.
 */

#ifndef STATS_JSON_WRITER_H
#define STATS_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
  FILE *fp;
  bool comma;                   /* something stands before what comes next */
};

/* An object or an array with all that the block after it adds.  key is
 * NULL where it is in an array itself, or in nothing.  It ends however the
 * block is left; break and continue leave this block and no loop around it.
 */
#define JSON_OBJECT(json, key) JSON_BLOCK (json, key, '{', '}', __COUNTER__)
#define JSON_ARRAY(json, key) JSON_BLOCK (json, key, '[', ']', __COUNTER__)

/* Add a value; key is NULL in an array. */
extern void json_count (struct json *json, const char *key,
                        unsigned __int128 n);
extern void json_string (struct json *json, const char *key, const char *s);
extern void json_bool (struct json *json, const char *key, bool value);
extern void json_null (struct json *json, const char *key);

/* With as few digits as are read back as the same number, and null where
 * the value is none.
 */
extern void json_real (struct json *json, const char *key, double value);

/* The digits of a number, as for a key: they are the end of buf. */
#define JSON_DIGITS_LEN 40
extern char *json_digits (char buf[JSON_DIGITS_LEN], unsigned __int128 n);

/* The rest is not for others: a loop that runs once, and whose variable
 * ends what it began.
 */
struct json_block {
  struct json *json;
  char end;
  bool done;
};

extern struct json_block json_begin (struct json *json, const char *key,
                                     char begin, char end);
extern void json_end (struct json_block *block);

#define JSON_BLOCK(json, key, begin, end, nr)                             \
  JSON_NAMED_BLOCK (json, key, begin, end, nr)
#define JSON_NAMED_BLOCK(json, key, begin, end, nr)                       \
  for (struct json_block json_block_##nr                                  \
         __attribute__ ((cleanup (json_end)))                             \
         = json_begin (json, key, begin, end);                            \
       !json_block_##nr.done; json_block_##nr.done = true)

#endif /* STATS_JSON_WRITER_H */
