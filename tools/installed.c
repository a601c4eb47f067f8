/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "installed.h"
#include "memory.h"

#define FILTER "nbdkit-stats-filter.so"
#define LOAD "nbdkit-load.so"

/* The build tree has this beside the directory of the program. */
#define BUILT_FILTER "filters/stats/.libs/" FILTER

/* The top of the build tree that the running program is in, or NULL. */
static char *
build_tree (void)
{
  char exe[PATH_MAX];
  ssize_t len = readlink ("/proc/self/exe", exe, sizeof exe - 1);
  char *filter;
  int there;

  if (len == -1)
    return NULL;
  exe[len] = '\0';
  /* Off with the program, and with the directory that it is in. */
  for (int i = 0; i < 2; i++)
    *(strrchr (exe, '/') ? strrchr (exe, '/') : exe) = '\0';
  filter = format_string ("%s/" BUILT_FILTER, exe);
  there = access (filter, F_OK) == 0;
  free (filter);
  return there ? copy_string (exe) : NULL;
}

static char *
find (const char *variable, const char *built, const char *installed)
{
  const char *chosen = getenv (variable);
  char *top, *path;

  if (chosen && *chosen)
    return copy_string (chosen);
  top = build_tree ();
  if (top == NULL)
    return copy_string (installed);
  path = format_string ("%s/%s", top, built);
  free (top);
  return path;
}

char *
installed_filter (void)
{
  return find ("NBDKIT_STATS_FILTER", BUILT_FILTER, FILTERDIR "/" FILTER);
}

char *
installed_jobs (void)
{
  return find ("NBDKIT_STATS_JOBS", "jobs", PKGDATADIR "/jobs");
}

char *
installed_load (void)
{
  return find ("NBDKIT_STATS_LOAD", "filters/load/.libs/" LOAD,
               PKGLIBDIR "/" LOAD);
}
