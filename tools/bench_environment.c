/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "bench_environment.h"
#include "errors.h"
#include "memory.h"

static struct environment *
find_or_add (struct environments *environments, const char *name, size_t len)
{
  struct environment *column;
  struct section *section;

  for (size_t i = 0; i < environments->nr; i++) {
    column = &environments->list[i];
    if (strlen (column->name) == len && memcmp (column->name, name, len) == 0)
      return column;
  }
  environments->list = grow (environments->list, environments->nr,
                             sizeof *column);
  column = &environments->list[environments->nr++];
  section = get_memory (1, sizeof *section);
  section->name = copy_bytes (name, len);
  column->name = section->name;
  column->settings = section;
  return column;
}

/* Take the next KEY=VALUE from *s, which is moved behind it, into a string
 * of its own.
 */
static char *
next_part (const char **s)
{
  char *part = get_memory (strlen (*s) + 1, 1), *end = part;

  while (**s && **s != ',') {
    if (**s == '\\' && (*s)[1] == ',')
      ++*s;
    *end++ = *(*s)++;
  }
  if (**s)
    ++*s;
  return part;
}

static int
add_part (struct section *section, char *part, const char *argument)
{
  char *equals = strchr (part, '=');

  if (equals == NULL || equals == part) {
    tell_error ("--env %s: this is no KEY=VALUE: %s (a comma in a value is "
                "\\,)", argument, part);
    return -1;
  }
  *equals = '\0';
  if (section_find (section, part)) {
    tell_error ("--env %s: %s is set already", argument, part);
    return -1;
  }
  section_add (section, "--env", 0, part, equals + 1);
  return 0;
}

int
environments_add (struct environments *environments, const char *argument)
{
  const char *colon = strchr (argument, ':'), *s;
  struct environment *column;
  int r = 0;

  if (colon == NULL || colon == argument) {
    tell_error ("--env %s: this is no NAME:KEY=VALUE,...", argument);
    return -1;
  }
  column = find_or_add (environments, argument, (size_t) (colon - argument));
  for (s = colon + 1; *s && r == 0;) {
    char *part = next_part (&s);

    r = add_part (column->settings, part, argument);
    free (part);
  }
  return r;
}

int
environments_check (const struct environments *environments,
                    const struct job *job)
{
  for (size_t i = 0; i < environments->nr; i++) {
    const struct section *section = environments->list[i].settings;

    for (size_t k = 0; k < section->nr_settings; k++) {
      if (job_knows (job, section->settings[k].name))
        continue;
      tell_error ("--env %s: %s has no %s", section->name, job->file.path,
                  section->settings[k].name);
      return -1;
    }
  }
  return 0;
}

void
environments_free (struct environments *environments)
{
  for (size_t i = 0; i < environments->nr; i++) {
    section_free (environments->list[i].settings);
    free (environments->list[i].settings);
  }
  free (environments->list);
}
