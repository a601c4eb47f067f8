/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A plugin of which every read fails; its errno is the offset. */

#include <config.h>

#include <stddef.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

static void *
errno_open (int readonly)
{
  (void) readonly;
  return NBDKIT_HANDLE_NOT_NEEDED;
}

static int64_t
errno_get_size (void *handle)
{
  (void) handle;
  return 1024 * 1024;
}

static int
errno_pread (void *handle, void *buf, uint32_t count, uint64_t offset,
             uint32_t flags)
{
  (void) handle;
  (void) buf;
  (void) count;
  (void) flags;
  nbdkit_set_error ((int) offset);
  return -1;
}

static struct nbdkit_plugin plugin = {
  .name       = "errno",
  .open       = errno_open,
  .get_size   = errno_get_size,
  .pread      = errno_pread,
};

NBDKIT_REGISTER_PLUGIN (plugin)
