/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A plugin that sets the locale of the process to $COMMA_LOCALE, which has
 * a decimal comma, and that expects to find it so at any time later.
 */

#include <config.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

static int
check_comma (void)
{
  char half[8];

  snprintf (half, sizeof half, "%.1f", 0.5);
  if (strcmp (half, "0,5") == 0)
    return 0;
  nbdkit_error ("a half is written %s", half);
  return -1;
}

static void
comma_load (void)
{
  if (setlocale (LC_ALL, getenv ("COMMA_LOCALE")) == NULL
      || check_comma () == -1)
    exit (EXIT_FAILURE);
}

static void
comma_unload (void)
{
  if (check_comma () == 0)
    nbdkit_debug ("there are commas at the end");
}

static void *
comma_open (int readonly)
{
  (void) readonly;
  return NBDKIT_HANDLE_NOT_NEEDED;
}

static int64_t
comma_get_size (void *handle)
{
  (void) handle;
  return 1024 * 1024;
}

static int
comma_pread (void *handle, void *buf, uint32_t count, uint64_t offset,
             uint32_t flags)
{
  (void) handle;
  (void) offset;
  (void) flags;
  memset (buf, 0, count);
  return check_comma ();
}

static struct nbdkit_plugin plugin = {
  .name       = "comma",
  .load       = comma_load,
  .unload     = comma_unload,
  .open       = comma_open,
  .get_size   = comma_get_size,
  .pread      = comma_pread,
};

NBDKIT_REGISTER_PLUGIN (plugin)
