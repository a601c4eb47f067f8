/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* How much of what is written is zero, in blocks of the disk. */

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "zero.h"

#define PIECE 4096u

/* The slow way: byte by byte, each piece by itself. */
static uint32_t
expected (const unsigned char *buf, uint32_t count, uint64_t offset)
{
  uint32_t zeros = 0, run = 0;
  int nonzero = 0;

  for (uint32_t i = 0; i < count; i++) {
    run++;
    nonzero |= buf[i];
    if (i + 1 == count || (offset + i + 1) % PIECE == 0) {
      zeros += nonzero ? 0 : run;
      run = 0;
      nonzero = 0;
    }
  }
  return zeros;
}

static void
test_all_zero (void **state)
{
  static const uint64_t offsets[] = {
    0, 1, 512, 4095, 4096, 4097, UINT64_C (1) << 32, UINT64_MAX / 2 - 9,
  };
  static const uint32_t counts[] = {
    0, 1, 2, 511, 512, 4095, 4096, 4097, 8191, 8192, 12288, 65536,
  };
  char *buf = calloc (1, 65536);

  (void) state;
  for (size_t i = 0; i < LENGTH (offsets); i++) {
    for (size_t j = 0; j < LENGTH (counts); j++)
      assert_int_equal (zero_bytes (buf, counts[j], offsets[i]), counts[j]);
  }
  free (buf);
}

static void
test_none_zero (void **state)
{
  unsigned char *buf = malloc (65536);

  (void) state;
  for (int c = 1; c < 256; c++) {
    memset (buf, c, 65536);
    assert_int_equal (zero_bytes (buf, 65536, 0), 0);
    assert_int_equal (zero_bytes (buf, 1, 4095), 0);
  }
  free (buf);
}

/* One byte at each place costs the piece that it lies in, to the borders
 * of the buffer.  The buffer ends where its memory does.
 */
static void
test_one_byte (void **state)
{
  const uint32_t count = 3 * PIECE;
  const uint64_t offset = 10 * PIECE + 1000;

  (void) state;
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t piece = (offset + i) / PIECE;
    const uint64_t first = piece == offset / PIECE ? offset : piece * PIECE;
    const uint64_t last = (piece + 1) * PIECE < offset + count
      ? (piece + 1) * PIECE : offset + count;
    unsigned char *buf = calloc (1, count);

    buf[i] = i % 2 ? 1 : 0x80;
    assert_int_equal (zero_bytes (buf, count, offset),
                      count - (last - first));
    free (buf);
  }
}

/* Small buffers at every place of a piece, with bytes set or not. */
static void
test_random (void **state)
{
  uint64_t random = 1;

  (void) state;
  for (unsigned i = 0; i < 3000; i++) {
    const uint32_t count = (uint32_t) random_below (&random, 20000);
    const uint64_t offset = random_64 (&random) >> 1;
    const unsigned set = (unsigned) random_below (&random, 4);
    unsigned char *buf = calloc (1, count + 1u);

    for (unsigned j = 0; j < set && count; j++)
      buf[random_below (&random, count)] = (unsigned char) j;
    assert_int_equal (zero_bytes (buf, count, offset),
                      expected (buf, count, offset));
    free (buf);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_all_zero),
    cmocka_unit_test (test_none_zero),
    cmocka_unit_test (test_one_byte),
    cmocka_unit_test (test_random),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
