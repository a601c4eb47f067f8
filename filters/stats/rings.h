/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The memory of all rings, which is bounded whatever clients do.
 *
 * It is set aside at the start, and taken from the system as it is used.
 * What was used once is used again.  There is no lock, not even that of
 * malloc: on a busy machine a thread that sleeps for a lock sleeps until all
 * others have run, which can be seconds.
 */

#ifndef STATS_RINGS_H
#define STATS_RINGS_H

#include <stddef.h>

#include "ring.h"

/* A ring of 64 records takes 4.3 KiB.  Where there are thousands of
 * threads, new ones get rings of 4 records, which take half a KiB and are
 * settled more often.  In all these are so many bytes, and so many rings:
 */
#define RING_LARGE 64u
#define RING_SMALL 4u
#define RINGS_LARGE_BYTES ((size_t) 20 << 20)
#define RINGS_SMALL_BYTES ((size_t) 8 << 20)
#define RING_BYTES(size) \
  (sizeof (struct ring) + (size) * sizeof (struct record))
#define NR_LARGE_RINGS (RINGS_LARGE_BYTES / RING_BYTES (RING_LARGE))
#define NR_SMALL_RINGS (RINGS_SMALL_BYTES / RING_BYTES (RING_SMALL))
#define MAX_RINGS (NR_LARGE_RINGS + NR_SMALL_RINGS)

/* Rings of one size. */
struct ring_pool {
  char *memory;
  uint32_t size;                /* records in a ring */
  unsigned capacity;
  _Atomic unsigned used;        /* ever, from the front */
  _Atomic uint64_t returned;    /* the last that was, see rings.c */
};

struct rings {
  struct ring_pool large, small;
  _Atomic unsigned nr;          /* in use */
};

/* Returns -1 and sets errno where there is no memory. */
extern int rings_init (struct rings *rings);
extern void rings_free (struct rings *rings);

/* A ring, empty; NULL where all are in use.  Any thread. */
extern struct ring *rings_get (struct rings *rings);

/* Take a ring back that nobody has any more.  Any thread. */
extern void rings_put (struct rings *rings, struct ring *ring);

#endif /* STATS_RINGS_H */
