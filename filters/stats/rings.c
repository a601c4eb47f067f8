/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <string.h>
#include <sys/mman.h>

#include "rings.h"

/* The rings that were returned are a stack.  What stands for a ring is its
 * number, from 1 on, in the lower half; the upper half counts up, so that a
 * stack that has changed never looks like the one before.
 */
#define NUMBER(top) ((uint32_t) (top))
#define COUNT_STEP (UINT64_C (1) << 32)

static struct ring *
pool_ring (struct ring_pool *pool, uint32_t number)
{
  return (struct ring *) (pool->memory
                          + (number - 1) * RING_BYTES (pool->size));
}

static uint32_t
pool_number (const struct ring_pool *pool, const struct ring *ring)
{
  return (uint32_t) ((size_t) ((const char *) ring - pool->memory)
                     / RING_BYTES (pool->size)) + 1;
}

static void
pool_put (struct ring_pool *pool, struct ring *ring)
{
  uint64_t top = atomic_load (&pool->returned), new_top;

  do {
    atomic_store_explicit (&ring->next_returned, NUMBER (top),
                           memory_order_relaxed);
    new_top = (top - NUMBER (top) + COUNT_STEP) | pool_number (pool, ring);
  } while (!atomic_compare_exchange_weak (&pool->returned, &top, new_top));
}

static struct ring *
pool_get_returned (struct ring_pool *pool)
{
  uint64_t top = atomic_load (&pool->returned), new_top;
  struct ring *ring;

  do {
    if (NUMBER (top) == 0)
      return NULL;
    ring = pool_ring (pool, NUMBER (top));
    new_top = (top - NUMBER (top) + COUNT_STEP)
      | atomic_load_explicit (&ring->next_returned, memory_order_relaxed);
  } while (!atomic_compare_exchange_weak (&pool->returned, &top, new_top));
  return ring;
}

static struct ring *
pool_get (struct ring_pool *pool)
{
  struct ring *ring = pool_get_returned (pool);
  unsigned used = atomic_load (&pool->used);

  while (ring == NULL && used < pool->capacity) {
    if (atomic_compare_exchange_weak (&pool->used, &used, used + 1))
      ring = pool_ring (pool, used + 1);
  }
  if (ring)
    ring_init (ring, pool->size);
  return ring;
}

/* Pages of 4 KiB, since a huge one would be resident as a whole. */
static int
pool_init (struct ring_pool *pool, uint32_t size, size_t capacity)
{
  void *memory = mmap (NULL, capacity * RING_BYTES (size),
                       PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  if (memory == MAP_FAILED)
    return -1;
  madvise (memory, capacity * RING_BYTES (size), MADV_NOHUGEPAGE);
  pool->memory = memory;
  pool->size = size;
  pool->capacity = (unsigned) capacity;
  return 0;
}

static void
pool_free (struct ring_pool *pool)
{
  if (pool->memory)
    munmap (pool->memory, pool->capacity * RING_BYTES (pool->size));
}

int
rings_init (struct rings *rings)
{
  memset (rings, 0, sizeof *rings);
  if (pool_init (&rings->large, RING_LARGE, NR_LARGE_RINGS) == 0
      && pool_init (&rings->small, RING_SMALL, NR_SMALL_RINGS) == 0)
    return 0;
  rings_free (rings);
  return -1;
}

void
rings_free (struct rings *rings)
{
  pool_free (&rings->large);
  pool_free (&rings->small);
}

struct ring *
rings_get (struct rings *rings)
{
  struct ring *ring = pool_get (&rings->large);

  if (ring == NULL)
    ring = pool_get (&rings->small);
  if (ring)
    atomic_fetch_add (&rings->nr, 1);
  return ring;
}

void
rings_put (struct rings *rings, struct ring *ring)
{
  pool_put (ring->size == RING_LARGE ? &rings->large : &rings->small, ring);
  atomic_fetch_sub (&rings->nr, 1);
}
