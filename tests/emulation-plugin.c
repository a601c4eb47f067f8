/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A plugin that can what the name of the export says, and that writes down
 * whatever nbdkit asks of it.  The words of a name:
 *
 *   write=3, zero=3, fast_zero=3, trim=3, flush=3, extents=3, multi_conn=3
 *                               it cannot; =1: the question is an error
 *   cache=none, fua=none        or emulate, or error
 *   size=BYTES                  1 MiB otherwise
 *
 * What is not named works.  Requests at some offsets fail, see failing.
 *
 * The file "exports" has the names that it lists, a line each.  Data are in
 * files of the directory $DISKS, each with the name of its export.  The file
 * $TRACE gets a line for each call: the name, a tab, and what was called.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#define THREAD_MODEL NBDKIT_THREAD_MODEL_SERIALIZE_ALL_REQUESTS

struct handle {
  char *name;                   /* of the export */
  int fd;                       /* its data */
};

static FILE *trace;

static void __attribute__ ((format (printf, 2, 3)))
called (const struct handle *h, const char *format, ...)
{
  va_list args;

  flockfile (trace);
  fprintf (trace, "%s\t", h == NULL ? "" : h->name);
  va_start (args, format);
  vfprintf (trace, format, args);
  va_end (args);
  putc ('\n', trace);
  funlockfile (trace);
}

/* What follows KEY= in the name, up to its end, or NULL. */
static const char *
value_of (const struct handle *h, const char *key)
{
  const size_t length = strlen (key);
  const char *word = h->name;

  while (strncmp (word, key, length) != 0 || word[length] != '=') {
    word = strchr (word, ' ');
    if (word == NULL)
      return NULL;
    word++;
  }
  return word + length + 1;
}

static bool
is (const struct handle *h, const char *key, const char *value)
{
  const char *const it = value_of (h, key);

  return it != NULL && strncmp (it, value, strlen (value)) == 0;
}

static int
fail (int error)
{
  nbdkit_error ("on purpose");
  nbdkit_set_error (error);
  return -1;
}

static void
emulation_load (void)
{
  const char *const path = getenv ("TRACE");

  trace = path == NULL ? NULL : fopen (path, "ae");
  if (trace == NULL) {
    nbdkit_error ("TRACE: %m");
    exit (EXIT_FAILURE);
  }
  setlinebuf (trace);
}

static void
emulation_unload (void)
{
  fclose (trace);
}

/* --- Before there is a connection --- */

static int
emulation_config (const char *key, const char *value)
{
  called (NULL, "config %s %s", key, value);
  return 0;
}

static int
emulation_config_complete (void)
{
  called (NULL, "config_complete");
  return 0;
}

static int
emulation_get_ready (void)
{
  called (NULL, "get_ready");
  return 0;
}

static int
emulation_after_fork (void)
{
  called (NULL, "after_fork");
  return 0;
}

static int
emulation_preconnect (int readonly)
{
  called (NULL, "preconnect %d", readonly);
  return 0;
}

static int
emulation_list_exports (int readonly, int is_tls,
                        struct nbdkit_exports *exports)
{
  FILE *const names = fopen ("exports", "re");
  char name[4096];
  int r = 0;

  called (NULL, "list_exports %d %d", readonly, is_tls);
  if (names == NULL)
    return fail (errno);
  while (r == 0 && fgets (name, sizeof name, names) != NULL) {
    name[strcspn (name, "\n")] = '\0';
    r = nbdkit_add_export (exports, name, NULL);
  }
  fclose (names);
  return r;
}

static const char *
emulation_default_export (int readonly, int is_tls)
{
  called (NULL, "default_export %d %d", readonly, is_tls);
  return "";
}

/* --- A connection --- */

static int64_t
size_of (const struct handle *h)
{
  const char *const size = value_of (h, "size");

  return size == NULL ? 1024 * 1024 : strtoll (size, NULL, 10);
}

/* Opens the data, of which a new file is made where there is none. */
static int
open_disk (const struct handle *h)
{
  char path[4096];
  int fd;

  snprintf (path, sizeof path, "%s/%s", getenv ("DISKS"), h->name);
  fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd != -1 && ftruncate (fd, size_of (h)) == 0)
    return fd;
  nbdkit_error ("%s: %m", path);
  if (fd != -1)
    close (fd);
  return -1;
}

static void
free_handle (struct handle *h)
{
  free (h->name);
  free (h);
}

static void *
emulation_open (int readonly)
{
  struct handle *const h = calloc (1, sizeof *h);

  if (h == NULL)
    return NULL;
  h->name = strdup (nbdkit_export_name ());
  if (h->name != NULL) {
    called (h, "open %d %d", readonly, nbdkit_is_tls ());
    h->fd = open_disk (h);
    if (h->fd != -1)
      return h;
  }
  free_handle (h);
  return NULL;
}

static void
emulation_close (void *h)
{
  called (h, "close");
  close (((struct handle *) h)->fd);
  free_handle (h);
}

/* --- What it can --- */

static int64_t
emulation_get_size (void *h)
{
  called (h, "get_size");
  return size_of (h);
}

static const char *
emulation_export_description (void *h)
{
  called (h, "export_description");
  return NULL;
}

static int
emulation_is_rotational (void *h)
{
  called (h, "is_rotational");
  return 0;
}

#ifdef HAVE_STRUCT_NBDKIT_FILTER_BLOCK_SIZE
static int
emulation_block_size (void *h, uint32_t *minimum, uint32_t *preferred,
                      uint32_t *maximum)
{
  called (h, "block_size");
  *minimum = *preferred = *maximum = 0;
  return 0;
}
#endif

#define CAN(what)                               \
  static int                                    \
  emulation_can_##what (void *h)                \
  {                                             \
    called (h, "can_" #what);                   \
    if (is (h, #what, "1"))                     \
      return fail (EIO);                        \
    return !is (h, #what, "3");                 \
  }

CAN (write)
CAN (flush)
CAN (trim)
CAN (zero)
CAN (fast_zero)
CAN (extents)
CAN (multi_conn)

#define CAN_NATIVELY(what, WHAT)                \
  static int                                    \
  emulation_can_##what (void *h)                \
  {                                             \
    called (h, "can_" #what);                   \
    if (is (h, #what, "error"))                 \
      return fail (EIO);                        \
    if (is (h, #what, "none"))                  \
      return NBDKIT_##WHAT##_NONE;              \
    if (is (h, #what, "emulate"))               \
      return NBDKIT_##WHAT##_EMULATE;           \
    return NBDKIT_##WHAT##_NATIVE;              \
  }

CAN_NATIVELY (cache, CACHE)
CAN_NATIVELY (fua, FUA)

/* --- Requests --- */

/* Writes the request down.  The error that it ends with, or 0. */
static int
failing (const struct handle *h, const char *op, uint32_t count,
         uint64_t offset, uint32_t flags)
{
  const bool zero = strcmp (op, "zero") == 0;
  const bool changes = zero || strcmp (op, "pwrite") == 0
                       || strcmp (op, "trim") == 0;

  called (h, "%s %" PRIu32 " %" PRIu64 " 0x%" PRIx32, op, count, offset, flags);
  switch (offset) {
  case 786432: return changes ? ENOSPC : 0;
  case 790528: return changes ? 0 : EIO;
  case 851968: return zero ? EOPNOTSUPP : 0;
  case 856064: return zero ? ENOTSUP : 0;
  default: return 0;
  }
}

static int
emulation_pread (void *vp, void *buf, uint32_t count, uint64_t offset,
                 uint32_t flags)
{
  const struct handle *const h = vp;
  const int error = failing (h, "pread", count, offset, flags);

  if (error != 0)
    return fail (error);
  return pread (h->fd, buf, count, (off_t) offset) == count ? 0 : fail (EIO);
}

static int
emulation_pwrite (void *vp, const void *buf, uint32_t count, uint64_t offset,
                  uint32_t flags)
{
  const struct handle *const h = vp;
  const int error = failing (h, "pwrite", count, offset, flags);

  if (error != 0)
    return fail (error);
  return pwrite (h->fd, buf, count, (off_t) offset) == count ? 0 : fail (EIO);
}

/* Also what is trimmed reads as zeros. */
static int
make_zero (const struct handle *h, const char *op, uint32_t count,
           uint64_t offset, uint32_t flags)
{
  int error = failing (h, op, count, offset, flags);
  void *zeros;

  if (error != 0)
    return fail (error);
  zeros = calloc (1, count);
  if (zeros == NULL || pwrite (h->fd, zeros, count, (off_t) offset) != count)
    error = fail (EIO);
  free (zeros);
  return error;
}

static int
emulation_zero (void *h, uint32_t count, uint64_t offset, uint32_t flags)
{
  return make_zero (h, "zero", count, offset, flags);
}

static int
emulation_trim (void *h, uint32_t count, uint64_t offset, uint32_t flags)
{
  return make_zero (h, "trim", count, offset, flags);
}

static int
emulation_cache (void *h, uint32_t count, uint64_t offset, uint32_t flags)
{
  const int error = failing (h, "cache", count, offset, flags);

  return error == 0 ? 0 : fail (error);
}

static int
emulation_flush (void *h, uint32_t flags)
{
  called (h, "flush 0x%" PRIx32, flags);
  return 0;
}

static int
emulation_extents (void *h, uint32_t count, uint64_t offset, uint32_t flags,
                   struct nbdkit_extents *extents)
{
  const int error = failing (h, "extents", count, offset, flags);

  if (error != 0)
    return fail (error);
  if (nbdkit_add_extent (extents, 0, 500000, 0) == -1)
    return -1;
  return nbdkit_add_extent (extents, 500000, 548576,
                            NBDKIT_EXTENT_HOLE | NBDKIT_EXTENT_ZERO);
}

static struct nbdkit_plugin plugin = {
  .name               = "emulation",
  .load               = emulation_load,
  .unload             = emulation_unload,
  .config             = emulation_config,
  .config_complete    = emulation_config_complete,
  .get_ready          = emulation_get_ready,
  .after_fork         = emulation_after_fork,
  .preconnect         = emulation_preconnect,
  .list_exports       = emulation_list_exports,
  .default_export     = emulation_default_export,
  .open               = emulation_open,
  .close              = emulation_close,
  .get_size           = emulation_get_size,
  .export_description = emulation_export_description,
  .is_rotational      = emulation_is_rotational,
#ifdef HAVE_STRUCT_NBDKIT_FILTER_BLOCK_SIZE
  .block_size         = emulation_block_size,
#endif
  .can_write          = emulation_can_write,
  .can_flush          = emulation_can_flush,
  .can_trim           = emulation_can_trim,
  .can_zero           = emulation_can_zero,
  .can_fast_zero      = emulation_can_fast_zero,
  .can_extents        = emulation_can_extents,
  .can_multi_conn     = emulation_can_multi_conn,
  .can_cache          = emulation_can_cache,
  .can_fua            = emulation_can_fua,
  .pread              = emulation_pread,
  .pwrite             = emulation_pwrite,
  .zero               = emulation_zero,
  .trim               = emulation_trim,
  .cache              = emulation_cache,
  .flush              = emulation_flush,
  .extents            = emulation_extents,
};

NBDKIT_REGISTER_PLUGIN (plugin)
