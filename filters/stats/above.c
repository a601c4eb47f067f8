/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "above.h"

#define OUR_NAME "stats"

/* Filters that have no callback for requests, or only look at them: they do
 * the same whether a zero comes as one or as the writes that stand for it.
 */
static const char *const transparent[] = {
  OUR_NAME, "exitlast", "exitwhen", "exportname", "ip", "log", "noextents",
  "nofilter", "noparallel",
};

/* nbdkit takes a value with a dot or a slash for the path of a file. */
static bool
is_filter (const char *value, const char *name)
{
  static const char prefix[] = "nbdkit-", suffix[] = "-filter.so";
  const size_t length = strlen (name);
  const char *slash = strrchr (value, '/');
  const char *file = slash ? slash + 1 : value;

  return strcmp (value, name) == 0
    || (strncmp (file, prefix, sizeof prefix - 1) == 0
        && strncmp (file + sizeof prefix - 1, name, length) == 0
        && strcmp (file + sizeof prefix - 1 + length, suffix) == 0);
}

static bool
is_transparent (const char *value)
{
  for (size_t i = 0; i < sizeof transparent / sizeof transparent[0]; i++)
    if (is_filter (value, transparent[i]))
      return true;
  return false;
}

/* "--filter", which may be shortened as long as no other option begins the
 * same.
 */
static bool
is_filter_option (const char *arg)
{
  const size_t length = strcspn (arg, "=");

  return length >= strlen ("--fi") && strncmp (arg, "--filter", length) == 0;
}

/* The value of the next --filter, in *arg, which getdelim allocates. */
static const char *
next_filter (FILE *cmdline, char **arg, size_t *room)
{
  const char *value;

  do {
    if (getdelim (arg, room, '\0', cmdline) == -1
        || strcmp (*arg, "--") == 0)
      return NULL;
  } while (!is_filter_option (*arg));

  value = strchr (*arg, '=');
  if (value)
    return value + 1;
  return getdelim (arg, room, '\0', cmdline) == -1 ? NULL : *arg;
}

unsigned
above_facing_client (FILE *cmdline)
{
  char *arg = NULL;
  size_t room = 0;
  const char *filter;
  unsigned ours = 0;

  if (cmdline == NULL)
    return 0;
  while ((filter = next_filter (cmdline, &arg, &room)) != NULL
         && is_transparent (filter))
    ours += is_filter (filter, OUR_NAME);
  free (arg);
  return ours;
}
