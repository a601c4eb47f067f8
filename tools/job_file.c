/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ini.h>

#include "errors.h"
#include "job_file.h"
#include "memory.h"

/* More than any job has, and little enough to be read at once. */
#define MAX_TEXT (1024 * 1024)

/* More than that would take long to look through, and long to join. */
#define MAX_ENTRIES 1000
#define MAX_VALUE (64 * 1024)

/* inih cuts longer ones off without a word. */
#define MAX_NAME 49

/* The text on its way to inih, line by line.  inih does not tell numbers of
 * lines, and takes some things in silence that are surely mistakes: we look
 * at each line before it does.
 */
struct reader {
  struct job_file *file;
  const char *next;
  const char *end;
  unsigned line;                /* the number of the current one, from 1 */
  bool indented;
  bool told;                    /* that something is wrong */
};

static int wrong (struct reader *reader, const char *fmt, ...)
  __attribute__ ((format (printf, 2, 3)));

static int
wrong (struct reader *reader, const char *fmt, ...)
{
  char message[512];
  va_list args;

  va_start (args, fmt);
  vsnprintf (message, sizeof message, fmt, args);
  va_end (args);
  if (!reader->told)
    tell_error_at (reader->file->path, reader->line, "%s", message);
  reader->told = true;
  return -1;
}

static struct section *
current_section (struct job_file *file)
{
  return file->nr_sections ? &file->sections[file->nr_sections - 1] : NULL;
}

/* The one that an indented line goes on, if there is any. */
static struct setting *
last_setting (struct job_file *file)
{
  struct section *section = current_section (file);

  return section && section->nr_settings
    ? &section->settings[section->nr_settings - 1] : NULL;
}

static int
add_section (struct reader *reader, const char *name, size_t len)
{
  struct job_file *file = reader->file;
  struct section *section;

  if (len == 0 || len > MAX_NAME)
    return wrong (reader, "a name has 1 to %d characters", MAX_NAME);
  if (file->nr_sections == MAX_ENTRIES)
    return wrong (reader, "there are more than %d sections", MAX_ENTRIES);
  for (size_t i = 0; i < file->nr_sections; i++) {
    if (strlen (file->sections[i].name) == len
        && memcmp (file->sections[i].name, name, len) == 0)
      return wrong (reader, "there is a section %s in line %u already",
                    file->sections[i].name, file->sections[i].line);
  }
  file->sections = grow (file->sections, file->nr_sections, sizeof *section);
  section = &file->sections[file->nr_sections++];
  section->name = copy_bytes (name, len);
  section->line = reader->line;
  return 0;
}

/* "[name]", and nothing behind it. */
static int
read_header (struct reader *reader, const char *s, size_t len)
{
  const char *bracket = memchr (s, ']', len);

  if (bracket == NULL)
    return wrong (reader, "the ] of the section is missing");
  if (bracket + 1 != s + len)
    return wrong (reader, "something stands behind the ] of the section");
  return add_section (reader, s + 1, (size_t) (bracket - s) - 1);
}

/* inih drops what follows a blank and a semicolon: half of a command. */
static bool
has_comment_inside (const char *s, size_t len)
{
  for (size_t i = 1; i < len; i++) {
    if (s[i] == ';' && isspace ((unsigned char) s[i - 1]))
      return true;
  }
  return false;
}

static int
check_line (struct reader *reader, const char *s, size_t len)
{
  if (memchr (s, '\0', len))
    return wrong (reader, "this is no text");
  reader->indented = len > 0 && isspace ((unsigned char) s[0]);
  while (len > 0 && isspace ((unsigned char) s[0]))
    s++, len--;
  while (len > 0 && isspace ((unsigned char) s[len - 1]))
    len--;
  if (len == 0 || s[0] == '#' || s[0] == ';')
    return 0;
  if (s[0] == '[' && !(reader->indented && last_setting (reader->file)))
    return read_header (reader, s, len);
  if (has_comment_inside (s, len))
    return wrong (reader, "a comment stands in a line of its own, and a "
                  "command has no blank before its ;");
  return 0;
}

/* What inih calls for the next line: like fgets, into room for so many. */
static char *
next_line (char *buf, int room, void *stream)
{
  struct reader *reader = stream;
  const char *s = reader->next, *newline;
  size_t len;

  if (reader->told || s == reader->end)
    return NULL;
  newline = memchr (s, '\n', (size_t) (reader->end - s));
  len = (size_t) ((newline ? newline + 1 : reader->end) - s);
  reader->line++;
  reader->next += len;
  if (len + 2 > (size_t) room)
    wrong (reader, "a line has at most %d characters; a value may go on in "
           "indented lines below", room - 3);
  else
    check_line (reader, s, len);
  if (reader->told)
    return NULL;
  memcpy (buf, s, len);
  buf[len] = '\0';
  return buf;
}

static int
continue_value (struct reader *reader, struct setting *setting,
                const char *value)
{
  char *joined;

  if (strlen (setting->value) > MAX_VALUE)
    return wrong (reader, "the value of %s is too long", setting->name);
  joined = format_string ("%s%s%s", setting->value,
                          setting->value[0] ? " " : "", value);
  free (setting->value);
  setting->value = joined;
  return 0;
}

static int
new_setting (struct reader *reader, const char *name, const char *value)
{
  struct section *section = current_section (reader->file);
  const struct setting *before;

  if (section == NULL)
    return wrong (reader, "a setting stands before the first [section]");
  if (name[0] == '\0' || strlen (name) > MAX_NAME)
    return wrong (reader, "a name has 1 to %d characters", MAX_NAME);
  before = section_find (section, name);
  if (before)
    return wrong (reader, "%s is set in line %u already", name,
                  before->line);
  if (section->nr_settings == MAX_ENTRIES)
    return wrong (reader, "there are more than %d settings", MAX_ENTRIES);
  section_add (section, reader->file->path, reader->line, name, value);
  return 0;
}

/* What inih calls for each setting, and for each line that goes on. */
static int
take_setting (void *user, const char *section __attribute__ ((unused)),
              const char *name, const char *value)
{
  struct reader *reader = user;
  struct setting *last = last_setting (reader->file);
  int r;

  if (reader->indented && last && strcmp (last->name, name) == 0)
    r = continue_value (reader, last, value);
  else
    r = new_setting (reader, name, value);
  return r == 0;
}

int
job_file_parse (struct job_file *file, const char *path, const char *text,
                size_t size)
{
  static const char bom[] = "\xef\xbb\xbf";
  struct reader reader = { .file = file, .next = text, .end = text + size };
  int line;

  *file = (struct job_file) { .path = copy_string (path) };
  file->text = copy_bytes (text, size);
  if (size >= 3 && memcmp (text, bom, 3) == 0)
    reader.next += 3;
  line = ini_parse_stream (next_line, &reader, take_setting, &reader);
  if (line != 0 && !reader.told) {
    reader.line = line > 0 ? (unsigned) line : 0;
    wrong (&reader, "this is no [section], no NAME = VALUE and no comment");
  }
  return reader.told ? -1 : 0;
}

int
job_file_read (struct job_file *file, const char *path)
{
  char *text = NULL;
  size_t size = 0;
  FILE *fp;
  int result = -1;

  *file = (struct job_file) { .path = NULL };
  fp = fopen (path, "re");
  if (fp != NULL) {
    text = get_memory (MAX_TEXT + 1, 1);
    size = fread (text, 1, MAX_TEXT + 1, fp);
  }
  if (fp == NULL || ferror (fp))
    tell_error_at (path, 0, "%m");
  else if (size > MAX_TEXT)
    tell_error_at (path, 0, "this is too large for a job file");
  else
    result = job_file_parse (file, path, text, size);
  if (fp)
    fclose (fp);
  free (text);
  return result;
}

struct setting *
section_find (const struct section *section, const char *name)
{
  for (size_t i = 0; i < section->nr_settings; i++) {
    if (strcmp (section->settings[i].name, name) == 0)
      return &section->settings[i];
  }
  return NULL;
}

void
section_add (struct section *section, const char *file, unsigned line,
             const char *name, const char *value)
{
  struct setting *setting;

  section->settings = grow (section->settings, section->nr_settings,
                            sizeof *setting);
  setting = &section->settings[section->nr_settings++];
  setting->file = file;
  setting->line = line;
  setting->name = copy_string (name);
  setting->value = copy_string (value);
}

void
section_free (struct section *section)
{
  for (size_t i = 0; i < section->nr_settings; i++) {
    free (section->settings[i].name);
    free (section->settings[i].value);
  }
  free (section->settings);
  free (section->name);
}

void
job_file_free (struct job_file *file)
{
  for (size_t i = 0; i < file->nr_sections; i++)
    section_free (&file->sections[i]);
  free (file->sections);
  free (file->path);
  free (file->text);
}
