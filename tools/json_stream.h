/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A file with JSON objects one after the other, each on a line or on
 * several, taken apart into the objects.
 *
 * Whatever the file is, no more than one object is in memory, and no more
 * than a report can be: what is none is told as soon as it is seen.
 */

#ifndef TOOLS_JSON_STREAM_H
#define TOOLS_JSON_STREAM_H

#include <stdio.h>

/* Of json-c, whose header is left to those who need it: it has a name that
 * json_writer.h has, too.
 */
struct json_object;

/* A full report of one layer has about 1 MB. */
#define MAX_OBJECT_BYTES ((size_t) 16 << 20)
#define MAX_OBJECT_PARTS 100000 /* objects and lists in it */
#define MAX_OBJECT_DEPTH 20

struct json_stream {
  const char *file;             /* the name, for errors */
  FILE *fp;
  unsigned line;                /* of what is read next, from 1 */
  char *text;                   /* of the object */
  size_t size, capacity;
};

/* "-" is standard input.  Returns -1 after telling the error. */
extern int json_stream_open (struct json_stream *stream, const char *file);
extern void json_stream_close (struct json_stream *stream);

enum next { NEXT_OBJECT, NEXT_END, NEXT_ERROR };

/* The next object, which the caller puts, and the line that it begins in.
 * NEXT_ERROR comes after telling the error, and is the end, too.
 *
 * A whole number that may not fit into 64 bits, which json-c would cut
 * without a word, becomes a double that still has its text: all its
 * digits, and ".0".
 */
extern enum next json_stream_next (struct json_stream *stream,
                                   struct json_object **object,
                                   unsigned *line);

#endif /* TOOLS_JSON_STREAM_H */
