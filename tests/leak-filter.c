/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A filter that leaks, for who has to find that: so many bytes with each
 * request and with each connection, a descriptor with each connection, or
 * once and for all at the first request, which is no leak.
 */

#include <config.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <nbdkit-filter.h>

static unsigned leak_request, leak_connection, leak_file, leak_once;

/* Or the compiler sees that nobody needs it. */
static void *volatile leaked;

static void
leak (unsigned bytes)
{
  if (bytes > 0)
    leaked = malloc (bytes);
}

static int
leak_config (nbdkit_next_config *next, nbdkit_backend *nxdata,
             const char *key, const char *value)
{
  if (strcmp (key, "leak-request") == 0)
    return nbdkit_parse_unsigned (key, value, &leak_request);
  if (strcmp (key, "leak-connection") == 0)
    return nbdkit_parse_unsigned (key, value, &leak_connection);
  if (strcmp (key, "leak-file") == 0)
    return nbdkit_parse_unsigned (key, value, &leak_file);
  if (strcmp (key, "leak-once") == 0)
    return nbdkit_parse_unsigned (key, value, &leak_once);
  return next (nxdata, key, value);
}

static void *
leak_open (nbdkit_next_open *next, nbdkit_context *context, int readonly,
           const char *exportname, int is_tls)
{
  (void) is_tls;
  if (next (context, readonly, exportname) == -1)
    return NULL;
  leak (leak_connection);
  if (leak_file && open ("/dev/null", O_RDONLY | O_CLOEXEC) == -1)
    nbdkit_error ("/dev/null: %m");
  return NBDKIT_HANDLE_NOT_NEEDED;
}

static int
leak_pread (nbdkit_next *next, void *handle, void *buf, uint32_t count,
            uint64_t offset, uint32_t flags, int *err)
{
  static atomic_flag once = ATOMIC_FLAG_INIT;

  (void) handle;
  leak (leak_request);
  if (leak_once && !atomic_flag_test_and_set (&once))
    leak (leak_once);
  return next->pread (next, buf, count, offset, flags, err);
}

static struct nbdkit_filter filter = {
  .name = "leak",
  .longname = "a filter that leaks",
  .config = leak_config,
  .open = leak_open,
  .pread = leak_pread,
};

NBDKIT_REGISTER_FILTER (filter)
