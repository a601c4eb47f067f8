/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "backend.h"
#include "cold.h"
#include "stopwatch.h"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

struct backend backend;

/* What no filter has taken. */
static int
backend_config (const char *key, const char *value)
{
  nbdkit_error ("%s=%s: this parameter is not known", key, value);
  return -1;
}

/* Connections; the handle is the path of its file, or this. */
static char no_file[] = "";

static int
make_file (const char *path, uint32_t size)
{
  static const char zeroes[MAX_COUNT];
  const int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ssize_t written;

  if (fd == -1) {
    nbdkit_error ("%s: %m", path);
    return -1;
  }
  written = write (fd, zeroes, size);
  if (written != (ssize_t) size)
    nbdkit_error ("%s: %s", path, written == -1 ? strerror (errno)
                  : "not written whole");
  close (fd);
  return written == (ssize_t) size ? 0 : -1;
}

static void
backend_close (void *handle)
{
  if (handle == no_file)
    return;
  unlink (handle);
  free (handle);
}

static void *
backend_open (int readonly)
{
  static _Atomic unsigned number;
  char *path;

  (void) readonly;
  if (backend.workload == NULL) {
    nbdkit_error ("this plugin is for nbdkit-stats overhead");
    return NULL;
  }
  if (!backend.workload->files)
    return no_file;
  if (asprintf (&path, "%s/%u", backend.directory, number++) == -1) {
    nbdkit_error ("asprintf: %m");
    return NULL;
  }
  if (make_file (path, backend.workload->count) == -1) {
    backend_close (path);
    return NULL;
  }
  return path;
}

static int64_t
backend_get_size (void *handle)
{
  (void) handle;
  return BACKEND_SIZE;
}

static int
backend_yes (void *handle)
{
  (void) handle;
  return 1;
}

/* The backend's work, and what makes the caches cold, is not the filter's. */

static void
work_begins (void)
{
  if (stopwatch != STOPWATCH_OFF)
    stopwatch_stop ();
}

static int
work_ends (int err)
{
  if (stopwatch != STOPWATCH_OFF) {
    cold_walk ();
    stopwatch_run ();
  }
  if (err == 0)
    return 0;
  nbdkit_set_error (err);
  return -1;
}

static int
backend_pread (void *handle, void *buf, uint32_t count, uint64_t offset,
               uint32_t flags)
{
  (void) offset;
  (void) flags;
  work_begins ();
  return work_ends (backend.workload->pread (handle, buf, count));
}

static int
backend_pwrite (void *handle, const void *buf, uint32_t count,
                uint64_t offset, uint32_t flags)
{
  (void) offset;
  (void) flags;
  work_begins ();
  return work_ends (backend.workload->pwrite (handle, buf, count));
}

/* What a filter may ask for besides. */

static int
backend_range (void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
  (void) handle;
  (void) count;
  (void) offset;
  (void) flags;
  return 0;
}

static int
backend_flush (void *handle, uint32_t flags)
{
  return backend_range (handle, 0, 0, flags);
}

static int
backend_extents (void *handle, uint32_t count, uint64_t offset,
                 uint32_t flags, struct nbdkit_extents *extents)
{
  (void) handle;
  (void) flags;
  return nbdkit_add_extent (extents, offset, count, 0);
}

static int
backend_fua (void *handle)
{
  (void) handle;
  return NBDKIT_FUA_NATIVE;
}

static int
backend_cache (void *handle)
{
  (void) handle;
  return NBDKIT_CACHE_NATIVE;
}

static struct nbdkit_plugin plugin = {
  .name = "load",
  .longname = "what stands below a filter that is measured",
  .config = backend_config,
  .open = backend_open,
  .close = backend_close,
  .get_size = backend_get_size,
  .can_multi_conn = backend_yes,
  .can_fast_zero = backend_yes,
  .can_fua = backend_fua,
  .can_cache = backend_cache,
  .pread = backend_pread,
  .pwrite = backend_pwrite,
  .flush = backend_flush,
  .trim = backend_range,
  .zero = backend_range,
  .extents = backend_extents,
  .cache = backend_range,
  .errno_is_preserved = 1,
};

NBDKIT_REGISTER_PLUGIN (plugin)
