/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <json.h>

#include "errors.h"
#include "json_stream.h"

/* 2^64 - 1 has 20. */
#define SAFE_DIGITS 19

int
json_stream_open (struct json_stream *stream, const char *file)
{
  *stream = (struct json_stream) { .file = file, .line = 1 };
  if (strcmp (file, "-") == 0) {
    stream->file = "standard input";
    stream->fp = stdin;
    return 0;
  }
  stream->fp = fopen (file, "re");
  if (stream->fp == NULL) {
    tell_error_at (file, 0, "%m");
    return -1;
  }
  return 0;
}

void
json_stream_close (struct json_stream *stream)
{
  if (stream->fp && stream->fp != stdin)
    fclose (stream->fp);
  free (stream->text);
  stream->fp = NULL;
  stream->text = NULL;
}

/* One character, or EOF at the end and after an error. */
static int
next_char (struct json_stream *stream)
{
  const int c = getc_unlocked (stream->fp);

  stream->line += c == '\n';
  return c;
}

static int
grow (struct json_stream *stream)
{
  const size_t capacity = stream->capacity ? 2 * stream->capacity : 4096;
  char *text = realloc (stream->text, capacity);

  if (text == NULL) {
    tell_error_at (stream->file, stream->line, "%m");
    return -1;
  }
  stream->text = text;
  stream->capacity = capacity;
  return 0;
}

static int
add_char (struct json_stream *stream, int c)
{
  if (stream->size == stream->capacity && grow (stream) == -1)
    return -1;
  stream->text[stream->size++] = (char) c;
  return 0;
}

/* Where we are in an object. */
struct place {
  unsigned depth;               /* open brackets */
  unsigned parts;               /* that were opened */
  bool in_string, escaped;
  size_t digits;                /* of a whole number, so far */
  bool fraction;                /* it is none */
};

static void
step_in_string (struct place *place, int c)
{
  if (place->escaped)
    place->escaped = false;
  else if (c == '\\')
    place->escaped = true;
  else if (c == '"')
    place->in_string = false;
}

static void
step (struct place *place, int c)
{
  if (place->in_string) {
    step_in_string (place, c);
    return;
  }
  switch (c) {
  case '"': place->in_string = true; break;
  case '{': case '[': place->depth++; place->parts++; break;
  case '}': case ']': place->depth--; break;
  }
}

/* Outside of strings: make of a long whole number a double, see the
 * header.
 */
static int
widen_number (struct json_stream *stream, struct place *place, int c)
{
  if (!place->in_string && isdigit (c)) {
    place->digits++;
    return 0;
  }
  if (c == '.' || ((c == 'e' || c == 'E') && place->digits))
    place->fraction = true;
  else {
    const bool wide = place->digits > SAFE_DIGITS && !place->fraction;

    place->fraction = false;
    place->digits = 0;
    if (wide && (add_char (stream, '.') == -1
                 || add_char (stream, '0') == -1))
      return -1;
  }
  return 0;
}

/* What no report has. */
static const char *
fault_of (const struct json_stream *stream, const struct place *place, int c)
{
  if (c == EOF)
    return ferror (stream->fp) ? strerror (errno) : "the file is cut short";
  if (c == '\0')
    return "not JSON";
  if (place->depth > MAX_OBJECT_DEPTH)
    return "nested too deep for a report";
  if (stream->size >= MAX_OBJECT_BYTES || place->parts > MAX_OBJECT_PARTS)
    return "too large for a report";
  return NULL;
}

/* Collect the text of an object whose first character was read. */
static int
collect (struct json_stream *stream, int c)
{
  struct place place = { .depth = 0 };

  stream->size = 0;
  for (;; c = next_char (stream)) {
    const char *fault = fault_of (stream, &place, c);

    if (fault) {
      tell_error_at (stream->file, stream->line, "%s", fault);
      return -1;
    }
    if (widen_number (stream, &place, c) == -1 || add_char (stream, c) == -1)
      return -1;
    step (&place, c);
    if (place.depth == 0)
      return 0;
  }
}

/* The line of a place in the text that began in a line. */
static unsigned
line_of (const struct json_stream *stream, size_t place, unsigned line)
{
  for (size_t i = 0; i < place && i < stream->size; i++)
    line += stream->text[i] == '\n';
  return line;
}

/* Returns NULL after telling the error. */
static struct json_object *
parse (const struct json_stream *stream, unsigned line)
{
  struct json_tokener *tokener
    = json_tokener_new_ex (MAX_OBJECT_DEPTH + 2);
  struct json_object *object;

  if (tokener == NULL) {
    tell_error_at (stream->file, line, "%s", strerror (ENOMEM));
    return NULL;
  }
  json_tokener_set_flags (tokener, JSON_TOKENER_VALIDATE_UTF8);
  object = json_tokener_parse_ex (tokener, stream->text, (int) stream->size);
  if (object == NULL)
    tell_error_at (stream->file,
                   line_of (stream, json_tokener_get_parse_end (tokener),
                            line),
                   "not JSON: %s",
                   json_tokener_error_desc (json_tokener_get_error (tokener)));
  json_tokener_free (tokener);
  return object;
}

enum next
json_stream_next (struct json_stream *stream, struct json_object **object,
                  unsigned *line)
{
  int c;

  do {
    *line = stream->line;
    c = next_char (stream);
  } while (c != EOF && isspace (c));
  if (c == EOF && !ferror (stream->fp))
    return NEXT_END;
  if (c == EOF) {
    tell_error_at (stream->file, 0, "%m");
    return NEXT_ERROR;
  }
  if (c != '{') {
    tell_error_at (stream->file, *line, "not a report in JSON");
    return NEXT_ERROR;
  }
  if (collect (stream, c) == -1)
    return NEXT_ERROR;
  *object = parse (stream, *line);
  return *object ? NEXT_OBJECT : NEXT_ERROR;
}
