/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* nbdkit's lists of extents and of exports. */

#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

/* Extents. */

struct nbdkit_extents {
  uint64_t start, end;          /* extents outside are left out */
  struct nbdkit_extent *list;
  size_t count, room;
};

struct nbdkit_extents *
nbdkit_extents_new (uint64_t start, uint64_t end)
{
  struct nbdkit_extents *extents = calloc (1, sizeof *extents);

  if (extents) {
    extents->start = start;
    extents->end = end;
  }
  return extents;
}

void
nbdkit_extents_free (struct nbdkit_extents *extents)
{
  if (extents == NULL)
    return;
  free (extents->list);
  free (extents);
}

size_t
nbdkit_extents_count (const struct nbdkit_extents *extents)
{
  return extents->count;
}

struct nbdkit_extent
nbdkit_get_extent (const struct nbdkit_extents *extents, size_t i)
{
  return extents->list[i];
}

static int
extents_append (struct nbdkit_extents *extents, struct nbdkit_extent extent)
{
  struct nbdkit_extent *list = extents->list;

  if (extents->count == extents->room) {
    extents->room = extents->room ? 2 * extents->room : 8;
    list = realloc (list, extents->room * sizeof *list);
    if (list == NULL)
      return -1;
    extents->list = list;
  }
  list[extents->count++] = extent;
  return 0;
}

int
nbdkit_add_extent (struct nbdkit_extents *extents,
                   uint64_t offset, uint64_t length, uint32_t type)
{
  uint64_t end = offset + length;

  if (offset < extents->start)
    offset = extents->start;
  if (end > extents->end)
    end = extents->end;
  if (offset >= end)
    return 0;
  return extents_append (extents, (struct nbdkit_extent) {
      .offset = offset, .length = end - offset, .type = type,
    });
}

struct nbdkit_extents *
nbdkit_extents_full (nbdkit_next *next, uint32_t count, uint64_t offset,
                     uint32_t flags, int *err)
{
  struct nbdkit_extents *extents = nbdkit_extents_new (offset, offset + count);

  if (extents
      && next->extents (next, count, offset, flags, extents, err) == 0)
    return extents;
  nbdkit_extents_free (extents);
  return NULL;
}

/* A count of nbdkit_extents_aligned: how wide it is depends on the version
 * of nbdkit.
 */
typedef __typeof__ (_Generic (&nbdkit_extents_aligned,
    int (*) (nbdkit_next *, uint32_t, uint64_t, uint32_t, uint32_t,
             struct nbdkit_extents *, int *): (uint32_t) 0,
    default: (uint64_t) 0)) aligned_count;

/* Our backends' extents suit any alignment. */
int
nbdkit_extents_aligned (nbdkit_next *next, aligned_count count, uint64_t offset,
                        uint32_t flags, uint32_t align,
                        struct nbdkit_extents *extents, int *err)
{
  (void) align;
  return next->extents (next, count, offset, flags, extents, err);
}

/* Exports.  A list holds one at most: there is one here, without a name. */

struct nbdkit_exports {
  struct nbdkit_export export;
  size_t count;
};

struct nbdkit_exports *
nbdkit_exports_new (void)
{
  return calloc (1, sizeof (struct nbdkit_exports));
}

void
nbdkit_exports_free (struct nbdkit_exports *exports)
{
  if (exports == NULL)
    return;
  free (exports->export.name);
  free (exports->export.description);
  free (exports);
}

size_t
nbdkit_exports_count (const struct nbdkit_exports *exports)
{
  return exports->count;
}

/* nbdkit declares it so. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"
const struct nbdkit_export
nbdkit_get_export (const struct nbdkit_exports *exports, size_t i)
{
  (void) i;
  return exports->export;
}
#pragma GCC diagnostic pop

int
nbdkit_add_export (struct nbdkit_exports *exports,
                   const char *name, const char *description)
{
  if (exports->count > 0)
    return 0;
  exports->export.name = strdup (name);
  exports->export.description = description ? strdup (description) : NULL;
  exports->count = 1;
  return exports->export.name ? 0 : -1;
}

int
nbdkit_use_default_export (struct nbdkit_exports *exports)
{
  return nbdkit_add_export (exports, "", NULL);
}
