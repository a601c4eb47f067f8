/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "connection.h"
#include "stopwatch.h"

struct connection {
  nbdkit_next next;             /* first: it is all that filters know */
  const struct workload *workload;
  char *path;                   /* of this connection's file, or NULL */
};

/* What a filter may ask for besides reads and writes. */

static int
next_nothing (nbdkit_next *next)
{
  (void) next;
  return 0;
}

static int64_t
next_get_size (nbdkit_next *next)
{
  (void) next;
  return BACKEND_SIZE;
}

static const char *
next_export_description (nbdkit_next *next)
{
  (void) next;
  return NULL;
}

#ifdef HAVE_BLOCK_SIZE
static int
next_block_size (nbdkit_next *next, uint32_t *minimum, uint32_t *preferred,
                 uint32_t *maximum)
{
  (void) next;
  *minimum = *preferred = *maximum = 0;
  return 0;
}
#endif

static int
next_can (nbdkit_next *next)
{
  (void) next;
  return 1;
}

static int
next_native (nbdkit_next *next)
{
  (void) next;
  _Static_assert (NBDKIT_FUA_NATIVE == NBDKIT_ZERO_NATIVE
                  && NBDKIT_FUA_NATIVE == NBDKIT_CACHE_NATIVE,
                  "one value means native everywhere");
  return NBDKIT_FUA_NATIVE;
}

/* trim, zero and cache. */
static int
next_range (nbdkit_next *next, uint32_t count, uint64_t offset,
            uint32_t flags, int *err)
{
  (void) next;
  (void) count;
  (void) offset;
  (void) flags;
  (void) err;
  return 0;
}

static int
next_flush (nbdkit_next *next, uint32_t flags, int *err)
{
  return next_range (next, 0, 0, flags, err);
}

static int
next_extents (nbdkit_next *next, uint32_t count, uint64_t offset,
              uint32_t flags, struct nbdkit_extents *extents, int *err)
{
  (void) next;
  (void) flags;
  if (nbdkit_add_extent (extents, offset, count, 0) == 0)
    return 0;
  *err = errno;
  return -1;
}

/* The backend's work is not the filter's. */

static const struct workload *
workload_of (nbdkit_next *next)
{
  return ((struct connection *) next)->workload;
}

static int
watched_pread (nbdkit_next *next, void *buf, uint32_t count,
               uint64_t offset, uint32_t flags, int *err)
{
  int r;

  stopwatch_stop ();
  r = workload_of (next)->pread (next, buf, count, offset, flags, err);
  stopwatch_run ();
  return r;
}

static int
watched_pwrite (nbdkit_next *next, const void *buf, uint32_t count,
                uint64_t offset, uint32_t flags, int *err)
{
  int r;

  stopwatch_stop ();
  r = workload_of (next)->pwrite (next, buf, count, offset, flags, err);
  stopwatch_run ();
  return r;
}

static const nbdkit_next next_template = {
  .prepare = next_nothing,
  .finalize = next_nothing,
  .get_size = next_get_size,
  .export_description = next_export_description,
#ifdef HAVE_BLOCK_SIZE
  .block_size = next_block_size,
#endif
  .can_write = next_can,
  .can_flush = next_can,
  .is_rotational = next_nothing,
  .can_trim = next_can,
  .can_zero = next_native,
  .can_fast_zero = next_can,
  .can_extents = next_can,
  .can_fua = next_native,
  .can_multi_conn = next_can,
  .can_cache = next_native,
  .flush = next_flush,
  .trim = next_range,
  .zero = next_range,
  .extents = next_extents,
  .cache = next_range,
};

const char *
connection_path (nbdkit_next *next)
{
  return ((struct connection *) next)->path;
}

static int
make_file (const char *path, uint32_t size)
{
  static const char zeroes[MAX_COUNT];
  int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
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

nbdkit_next *
connection_open (nbdkit_backend *backend)
{
  const struct workload *workload = backend->workload;
  struct connection *c = calloc (1, sizeof *c);
  const unsigned number = backend->connections++;

  if (c == NULL)
    return NULL;
  c->next = next_template;
  c->next.pread = backend->watch ? watched_pread : workload->pread;
  c->next.pwrite = backend->watch ? watched_pwrite : workload->pwrite;
  c->workload = workload;
  if (!workload->files)
    return &c->next;

  if (asprintf (&c->path, "%s/%u", backend->directory, number) == -1) {
    free (c);
    return NULL;
  }
  if (make_file (c->path, workload->count) == -1) {
    connection_close (&c->next);
    return NULL;
  }
  return &c->next;
}

void
connection_close (nbdkit_next *next)
{
  struct connection *c = (struct connection *) next;

  if (c == NULL)
    return;
  if (c->path) {
    unlink (c->path);
    free (c->path);
  }
  free (c);
}
