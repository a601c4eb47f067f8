/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Which requests go on where another ended, in and out of order. */

#include <config.h>

#include <stdbool.h>
#include <string.h>

#include "sequence.h"
#include "unit.h"

#define MAX_BLOCKS 5000
#define BLOCK (64 * KiB)

static struct sequence sequence;
static uint64_t random_state;

static int
start (void **state)
{
  (void) state;
  memset (&sequence, 0, sizeof sequence);
  random_state = 1;
  return 0;
}

/* How many requests this one makes sequential. */
static unsigned
add (uint64_t offset, uint32_t count)
{
  struct sequence_found found;

  sequence_add (&sequence, offset, count, &found);

  /* Of one size in each test, where one may find others. */
  assert_int_equal (found.small, count < SEQUENCE_SMALL ? found.requests : 0);
  return found.requests;
}

/* The blocks of a disk in the order in which they are asked for. */
static unsigned order[MAX_BLOCKS];

static void
in_order (unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    order[i] = i;
}

static void
swap (unsigned i, unsigned j)
{
  const unsigned block = order[i];

  order[i] = order[j];
  order[j] = block;
}

/* Shuffle those from begin to end - 1. */
static void
shuffle (unsigned begin, unsigned end)
{
  for (unsigned i = begin; i + 1 < end; i++)
    swap (i, i + (unsigned) random_below (&random_state, end - i));
}

/* Ask for the blocks from base on, and return how many are sequential. */
static unsigned
ask (uint64_t base, unsigned n)
{
  unsigned found = 0;

  for (unsigned i = 0; i < n; i++)
    found += add (base + order[i] * BLOCK, BLOCK);
  return found;
}

/* The same by looking each block up in the list of all that came: without
 * a ring, hashes, or counts of what is in it.
 */
static unsigned
expected (unsigned n)
{
  static unsigned place[MAX_BLOCKS + 1]; /* from 1 on, 0: did not come yet */
  static bool sequential[MAX_BLOCKS + 1];
  unsigned found = 0;

  memset (place, 0, sizeof place);
  memset (sequential, 0, sizeof sequential);
  for (unsigned now = 1; now <= n; now++) {
    unsigned block = order[now - 1];

    place[block] = now;
    if (block == 0 || place[block - 1] == 0
        || place[block - 1] + SEQUENCE_WINDOW < now)
      continue;
    for (; !sequential[block] && place[block]
           && place[block] + SEQUENCE_WINDOW >= now; block++) {
      sequential[block] = true;
      found++;
    }
  }
  return found;
}

/* From the beginning of the disk, from its middle, and to the very end of
 * what 64 bits can tell.
 */
static void
test_in_order (void **state)
{
  static const uint64_t bases[] = {
    0, 1, 512, UINT64_C (1) << 32, UINT64_C (1) << 63,
    -(MAX_BLOCKS * BLOCK) - 1, -(MAX_BLOCKS * BLOCK),
  };

  in_order (MAX_BLOCKS);
  for (size_t i = 0; i < LENGTH (bases); i++) {
    start (state);
    assert_int_equal (ask (bases[i], MAX_BLOCKS), MAX_BLOCKS - 1);
  }
}

static void
test_one (void **state)
{
  (void) state;
  assert_int_equal (add (0, 512), 0);
  assert_int_equal (add (0, 512), 0);
  assert_int_equal (add (512, 512), 1);
  assert_int_equal (add (512, 512), 1);
  assert_int_equal (add (1023, 512), 0);
  assert_int_equal (add (1025, 512), 0);
}

/* Requests of all sizes. */
static void
test_sizes (void **state)
{
  static const uint32_t sizes[] = { 1, 512, 4096, 64 << 20, UINT32_MAX };
  uint64_t offset = 0;
  unsigned found = 0;

  (void) state;
  for (unsigned i = 0; i < 1000; i++) {
    const uint32_t size = sizes[random_below (&random_state, LENGTH (sizes))];

    found += add (offset, size);
    offset += size;
  }
  assert_int_equal (found, 999);
}

/* Those that came too early count by their own sizes. */
static void
test_small (void **state)
{
  static const uint32_t sizes[] = {
    SEQUENCE_SMALL, 1, SEQUENCE_SMALL - 1, 64 << 10, 512,
  };
  struct sequence_found found;
  uint64_t offset = GiB;

  (void) state;
  assert_int_equal (add (0, 512), 0);
  for (size_t i = 0; i < LENGTH (sizes); i++) {
    offset -= sizes[i];
    assert_int_equal (add (offset, sizes[i]), 0);
  }
  sequence_add (&sequence, 512, (uint32_t) (offset - 512), &found);
  assert_int_equal (found.requests, 6);
  assert_int_equal (found.small, 3);
  assert_int_equal (add (GiB, SEQUENCE_SMALL), 1);
  assert_int_equal (add (GiB + SEQUENCE_SMALL, SEQUENCE_SMALL - 1), 1);
}

/* Out of order, as from a server of many threads. */

/* Up to half of the window: then each comes within a window of the one
 * that it follows, however they are mixed.
 */
static void
test_shuffled (void **state)
{
  for (unsigned width = 2; width <= SEQUENCE_WINDOW / 2; width++) {
    start (state);
    in_order (MAX_BLOCKS);
    for (unsigned i = 1; i + width <= MAX_BLOCKS; i += width)
      shuffle (i, i + width);
    assert_int_equal (ask (0, MAX_BLOCKS), MAX_BLOCKS - 1);
    assert_int_equal (expected (MAX_BLOCKS), MAX_BLOCKS - 1);
  }
}

/* Farther apart some are lost, exactly those that are. */
static void
test_shuffled_widely (void **state)
{
  static const unsigned widths[] = { 12, 15, 16, 17, 40, 500 };

  for (size_t w = 0; w < LENGTH (widths); w++) {
    start (state);
    in_order (MAX_BLOCKS);
    for (unsigned i = 1; i + widths[w] <= MAX_BLOCKS; i += widths[w])
      shuffle (i, i + widths[w]);
    assert_int_equal (ask (0, MAX_BLOCKS), expected (MAX_BLOCKS));
  }
}

/* One is overtaken by as many others as the window holds, and by one more:
 * the one after it, which has gone out of sight, is then lost.
 */
static void
test_overtaken (void **state)
{
  for (unsigned by = 1; by <= SEQUENCE_WINDOW + 1; by++) {
    start (state);
    in_order (100);
    for (unsigned i = 50; i < 50 + by; i++)
      swap (i, i + 1);
    if (by <= SEQUENCE_WINDOW - 1)
      assert_int_equal (ask (0, 100), 99);
    else
      assert_true (ask (0, 100) < 99);
    start (state);
    assert_int_equal (ask (0, 100), expected (100));
  }
}

/* The beginning of a stream may be mixed up, too; that costs no more than
 * the part that is.
 */
static void
test_shuffled_head (void **state)
{
  for (unsigned round = 0; round < 100; round++) {
    unsigned found;

    start (state);
    random_state = 1 + round;
    in_order (1000);
    shuffle (0, 8);
    found = ask (0, 1000);
    assert_in_range (found, 1000 - 8, 999);
    assert_int_equal (found, expected (1000));
  }
}

/* What is no stream. */

static void
test_backwards (void **state)
{
  (void) state;
  for (unsigned i = 0; i < 1000; i++)
    order[i] = 999 - i;
  assert_int_equal (ask (0, 1000), 0);
}

static void
test_gaps (void **state)
{
  (void) state;
  for (uint64_t i = 0; i < 1000; i++)
    assert_int_equal (add (i * 5000, 4096), 0);
}

/* Each block once, in an order of chance. */
static void
test_random (void **state)
{
  unsigned found;

  (void) state;
  in_order (MAX_BLOCKS);
  shuffle (0, MAX_BLOCKS);
  found = ask (0, MAX_BLOCKS);
  assert_int_equal (found, expected (MAX_BLOCKS));
  assert_true (found < MAX_BLOCKS / 100);
}

/* Several streams that take turns.  They come back to each within the
 * window.
 */
static void
test_streams (void **state)
{
  for (unsigned streams = 1; streams <= SEQUENCE_WINDOW + 1; streams++) {
    unsigned found = 0;

    start (state);
    for (unsigned i = 0; i < 100 * streams; i++)
      found += add (i % streams * GiB + i / streams * BLOCK, BLOCK);
    assert_int_equal (found, streams <= SEQUENCE_WINDOW ? 99 * streams : 0);
  }
}

/* Two streams whose turns are chance, each with its own sizes. */
static void
test_two_streams_mixed (void **state)
{
  uint64_t offsets[2] = { 0, 8 * GiB };
  unsigned found = 0;

  (void) state;
  for (unsigned i = 0; i < 2; i++) {
    add (offsets[i], 512);
    offsets[i] += 512;
  }
  for (unsigned i = 0; i < 1000; i++) {
    const unsigned stream = (unsigned) random_below (&random_state, 2);
    const uint32_t size = stream ? 4096 : 512;

    found += add (offsets[stream], size);
    offsets[stream] += size;
  }
  assert_int_equal (found, 1000);
}

#define TEST(f) cmocka_unit_test_setup (f, start)

/* One that came too early fails, before or after the one that it follows. */
static void
test_failed (void **state)
{
  (void) state;
  add (0, 512);
  add (1536, 512);
  add (1024, 512);
  assert_false (sequence_fail (&sequence, 2));
  assert_int_equal (add (512, 512), 2);         /* that and the one at 1536 */
  assert_true (sequence_fail (&sequence, 1));

  /* Later its place is that of another, which has not failed. */
  for (unsigned i = 0; i < SEQUENCE_WINDOW - 3; i++)
    add (GiB + i * MiB, 512);
  assert_true (sequence_fail (&sequence, 1));
  add (GiB + 1024, 512);
  assert_false (sequence_fail (&sequence, 1));
  assert_int_equal (add (GiB + 512, 512), 2);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_in_order),
    TEST (test_one),
    TEST (test_sizes),
    TEST (test_small),
    TEST (test_shuffled),
    TEST (test_shuffled_widely),
    TEST (test_overtaken),
    TEST (test_shuffled_head),
    TEST (test_backwards),
    TEST (test_gaps),
    TEST (test_random),
    TEST (test_streams),
    TEST (test_two_streams_mixed),
    TEST (test_failed),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
