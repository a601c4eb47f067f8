/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <link.h>
#include <string.h>

#include "plugin.h"

/* Of the objects in the order in which they were loaded: stops at the first
 * that is a plugin.
 */
static int
look_at (struct dl_phdr_info *object, size_t size, void *vp)
{
  static const char prefix[] = "nbdkit-", suffix[] = "-plugin.so";
  const char *slash = strrchr (object->dlpi_name, '/');
  const char *file = slash ? slash + 1 : object->dlpi_name;
  const size_t around = sizeof prefix - 1 + sizeof suffix - 1;
  const size_t length = strlen (file);
  char **result = vp;

  (void) size;
  if (length <= around || strncmp (file, prefix, sizeof prefix - 1) != 0
      || strcmp (file + length - (sizeof suffix - 1), suffix) != 0)
    return 0;
  *result = strndup (file + sizeof prefix - 1, length - around);
  return 1;
}

char *
plugin_name (void)
{
  char *name = NULL;

  dl_iterate_phdr (look_at, &name);
  return name;
}
