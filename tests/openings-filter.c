/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A filter that writes down what nbdkit's log filter does not: when exports
 * were opened and closed here.  Each line of openings=FILE is one of
 *
 *   opening BEGIN END          something was asked before the first request
 *   connected BEGIN END        the same, from open to prepare
 *   closed TIME
 *
 * in nanoseconds of the wall clock, which is also that of the log filter.
 *
 * With openings-twice=1 each opening opens the export once more inside, for
 * itself, and closes it again.
 */

#include <config.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <nbdkit-filter.h>

static int fd = -1;
static bool twice;

struct handle {
  uint64_t begin;               /* of open */
};

static uint64_t
now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_REALTIME, &t);
  return (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
}

/* In one write, since there are several threads. */
static void
put (const char *what, uint64_t begin, uint64_t end)
{
  char line[100];
  const int n = snprintf (line, sizeof line, "%s %" PRIu64 " %" PRIu64 "\n",
                          what, begin, end);

  if (write (fd, line, (size_t) n) != n)
    nbdkit_error ("openings: %m");
}

static int
openings_config (nbdkit_next_config *next, nbdkit_backend *nxdata,
                 const char *key, const char *value)
{
  char *path;

  if (strcmp (key, "openings-twice") == 0) {
    twice = strcmp (value, "1") == 0;
    return 0;
  }
  if (strcmp (key, "openings") != 0)
    return next (nxdata, key, value);
  path = nbdkit_absolute_path (value);
  if (path == NULL)
    return -1;
  fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (fd == -1)
    nbdkit_error ("openings: %s: %m", path);
  free (path);
  return fd == -1 ? -1 : 0;
}

#define WRITE_DOWN(call)                        \
  ({                                            \
    const uint64_t begin_ = now ();             \
    const typeof (call) r_ = (call);            \
                                                \
    put ("opening", begin_, now ());            \
    r_;                                         \
  })

static int
openings_preconnect (nbdkit_next_preconnect *next, nbdkit_backend *nxdata,
                     int readonly)
{
  return WRITE_DOWN (next (nxdata, readonly));
}

static int
openings_list_exports (nbdkit_next_list_exports *next, nbdkit_backend *nxdata,
                       int readonly, int is_tls,
                       struct nbdkit_exports *exports)
{
  (void) is_tls;
  return WRITE_DOWN (next (nxdata, readonly, exports));
}

static const char *
openings_default_export (nbdkit_next_default_export *next,
                         nbdkit_backend *nxdata, int readonly, int is_tls)
{
  (void) is_tls;
  return WRITE_DOWN (next (nxdata, readonly));
}

static void
open_again (nbdkit_context *context, int readonly, const char *exportname)
{
  nbdkit_next *again
    = nbdkit_next_context_open (nbdkit_context_get_backend (context),
                                readonly, exportname, 1);

  if (again == NULL)
    return;
  if (again->prepare (again) == 0)
    again->finalize (again);
  nbdkit_next_context_close (again);
}

static void *
openings_open (nbdkit_next_open *next, nbdkit_context *context, int readonly,
               const char *exportname, int is_tls)
{
  struct handle *handle = malloc (sizeof *handle);

  (void) is_tls;
  if (handle == NULL)
    return NULL;
  handle->begin = now ();
  if (next (context, readonly, exportname) == -1) {
    free (handle);
    return NULL;
  }
  if (twice)
    open_again (context, readonly, exportname);
  return handle;
}

static int
openings_prepare (nbdkit_next *next, void *vp, int readonly)
{
  const struct handle *handle = vp;

  (void) next;
  (void) readonly;
  put ("connected", handle->begin, now ());
  return 0;
}

static void
openings_close (void *handle)
{
  put ("closed", now (), 0);
  free (handle);
}

static int64_t
openings_get_size (nbdkit_next *next, void *handle)
{
  (void) handle;
  return WRITE_DOWN (next->get_size (next));
}

static const char *
openings_export_description (nbdkit_next *next, void *handle)
{
  (void) handle;
  return WRITE_DOWN (next->export_description (next));
}

#ifdef HAVE_STRUCT_NBDKIT_FILTER_BLOCK_SIZE
static int
openings_block_size (nbdkit_next *next, void *handle, uint32_t *minimum,
                     uint32_t *preferred, uint32_t *maximum)
{
  (void) handle;
  return WRITE_DOWN (next->block_size (next, minimum, preferred, maximum));
}
#endif

#define QUESTION(name)                                \
  static int                                          \
  openings_##name (nbdkit_next *next, void *handle)   \
  {                                                   \
    (void) handle;                                    \
    return WRITE_DOWN (next->name (next));            \
  }

QUESTION (can_write)
QUESTION (can_flush)
QUESTION (is_rotational)
QUESTION (can_trim)
QUESTION (can_zero)
QUESTION (can_fast_zero)
QUESTION (can_extents)
QUESTION (can_fua)
QUESTION (can_multi_conn)
QUESTION (can_cache)

static struct nbdkit_filter filter = {
  .name           = "openings",
  .config         = openings_config,
  .preconnect     = openings_preconnect,
  .list_exports   = openings_list_exports,
  .default_export = openings_default_export,
  .open           = openings_open,
  .prepare        = openings_prepare,
  .close          = openings_close,
  .get_size       = openings_get_size,
  .export_description = openings_export_description,
#ifdef HAVE_STRUCT_NBDKIT_FILTER_BLOCK_SIZE
  .block_size     = openings_block_size,
#endif
  .can_write      = openings_can_write,
  .can_flush      = openings_can_flush,
  .is_rotational  = openings_is_rotational,
  .can_trim       = openings_can_trim,
  .can_zero       = openings_can_zero,
  .can_fast_zero  = openings_can_fast_zero,
  .can_extents    = openings_can_extents,
  .can_fua        = openings_can_fua,
  .can_multi_conn = openings_can_multi_conn,
  .can_cache      = openings_can_cache,
};

NBDKIT_REGISTER_FILTER (filter)
