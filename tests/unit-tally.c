/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What is counted of requests that succeed and that fail: classes of size
 * and alignment, how they fit blocks, flags, and errnos.
 */

#include <config.h>

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "histogram.h"
#include "tally.h"
#include "unit.h"

static struct tally tally;
static struct failures failures;
static uint64_t random_state;

static int
start (void **state)
{
  (void) state;
  memset (&tally, 0, sizeof tally);
  memset (&failures, 0, sizeof failures);
  random_state = 1;
  return 0;
}

static void
count (uint64_t offset, uint32_t length, uint64_t block)
{
  const struct record request = {
    .kind = OP_WRITE, .offset = offset, .count = length,
  };

  tally_record (&tally, &request, 1000, block);
  tally_alignment (&tally, &request, ALIGNED_TO);
}

static uint64_t
sum (const uint64_t *numbers, size_t n)
{
  uint64_t all = 0;

  for (size_t i = 0; i < n; i++)
    all += numbers[i];
  return all;
}

/* Sizes. */

static void
test_size_classes (void **state)
{
  (void) state;
  count (0, 0, 0);
  assert_int_equal (tally.sizes[0].requests, 1);
  for (unsigned k = 1; k < SIZE_CLASSES; k++) {
    const uint32_t low = UINT32_C (1) << (k - 1);
    const uint32_t high = low + (low - 1);

    count (0, low, 0);
    count (0, high, 0);
    assert_int_equal (tally.sizes[k].requests, 2);
    assert_int_equal (tally.sizes[k].bytes, (uint64_t) low + high);
    assert_int_equal (tally.sizes[k].latency_ns, 2000);
  }
  assert_int_equal (tally.requests, 1 + 2 * (SIZE_CLASSES - 1));
}

/* Alignment. */

static void
test_offset_alignment (void **state)
{
  (void) state;
  for (unsigned k = 0; k < 64; k++) {
    count (UINT64_C (1) << k, 512, 0);
    count (UINT64_C (0xb) << k, 512, 0);        /* 1011 */
    assert_int_equal (tally.offset_alignment[k], 2);
  }
  /* 0 is aligned to everything, and to nothing else. */
  count (0, 512, 0);
  assert_int_equal (tally.offset_alignment[OFFSET_ALIGNMENTS - 1], 1);
  assert_int_equal (sum (tally.offset_alignment, OFFSET_ALIGNMENTS), 129);
}

static void
test_length_alignment (void **state)
{
  (void) state;
  for (unsigned k = 0; k < 32; k++) {
    count (512, UINT32_C (1) << k, 0);
    count (512, UINT32_C (0xb) << k, 0);
    assert_int_equal (tally.length_alignment[k], 2);
  }
  count (512, 0, 0);
  assert_int_equal (tally.length_alignment[LENGTH_ALIGNMENTS - 1], 1);
  assert_int_equal (sum (tally.length_alignment, LENGTH_ALIGNMENTS), 65);
}

/* Off in offset or length or both is once. */
static void
test_misaligned (void **state)
{
  static const struct {
    uint64_t offset;
    uint32_t count;
    bool misaligned;
  } table[] = {
    { 0, 0, false },            /* a flush */
    { 0, 4096, false },
    { 4096, 12288, false },
    { UINT64_C (1) << 62, UINT32_C (1) << 31, false },
    { 0, 1, true },
    { 0, 4095, true },
    { 0, 4097, true },
    { 512, 4096, true },
    { 4095, 1, true },
    { 1, 4095, true },          /* and its end is aligned */
    { 4095, 4097, true },
    { (UINT64_C (1) << 62) + 2048, 2048, true },
  };

  for (size_t i = 0; i < LENGTH (table); i++) {
    start (state);
    count (table[i].offset, table[i].count, 0);
    assert_int_equal (tally.misaligned, table[i].misaligned);
  }
}

/* What the storage prefers counts, be it more or less than 4 KiB. */
static void
test_preferred (void **state)
{
  static const struct record record = { .offset = 16384, .count = 512 };

  (void) state;
  tally_alignment (&tally, &record, 512);
  assert_int_equal (tally.misaligned, 0);
  tally_alignment (&tally, &record, ALIGNED_TO);
  assert_int_equal (tally.misaligned, 1);
  tally_alignment (&tally, &(struct record) { .offset = 16384,
                                              .count = 32768 }, 32768);
  assert_int_equal (tally.misaligned, 2);
  tally_alignment (&tally, &(struct record) { .offset = 32768,
                                              .count = 16384 }, 32768);
  assert_int_equal (tally.misaligned, 3);
  tally_alignment (&tally, &(struct record) { .offset = UINT64_C (1) << 62,
                                              .count = UINT32_C (1) << 31 },
                   UINT32_C (1) << 25);
  assert_int_equal (tally.misaligned, 3);
}

/* Blocks. */

static void
test_block_fit (void **state)
{
  static const struct {
    uint64_t offset;
    uint32_t count;
    uint64_t block;
    bool aligned, smaller;
    uint64_t touched;
  } table[] = {
    { 0, 4096, 4096, true, false, 1 },
    { 4096, 8192, 4096, true, false, 2 },
    { 0, 12288, 4096, true, false, 3 },
    { 0, 16384, 4096, true, false, 4 },
    { 0, 1 << 30, 512, true, false, 1 << 21 },
    { 1, 4096, 4096, false, false, 2 },
    { 0, 4095, 4096, false, true, 1 },
    { 1, 4095, 4096, false, true, 1 },
    { 1, 4094, 4096, false, true, 1 },
    { 2, 4095, 4096, false, true, 2 },
    { 4095, 2, 4096, false, true, 2 },
    { 4095, 1, 4096, false, true, 1 },
    { 4096, 1, 4096, false, true, 1 },
    { 4095, 4098, 4096, false, false, 3 },
    { 5, 1, 1, true, false, 1 },
    { 5, 10, 1, true, false, 10 },
    { 300, 100, 100, true, false, 1 },          /* no power of two */
    { 300, 101, 100, false, false, 2 },
    { 250, 100, 100, false, false, 2 },
    { UINT64_C (1) << 62, 4096, UINT64_C (1) << 62, false, true, 1 },
    { (UINT64_C (1) << 62) - 1, 2, UINT64_C (1) << 62, false, true, 2 },
    { 0, UINT32_MAX, UINT64_MAX, false, true, 1 },
  };

  for (size_t i = 0; i < LENGTH (table); i++) {
    const uint64_t touched = table[i].touched;

    start (state);
    count (table[i].offset, table[i].count, table[i].block);
    assert_int_equal (tally.blocks.aligned, table[i].aligned);
    assert_int_equal (tally.blocks.smaller, table[i].smaller);
    assert_int_equal (tally.blocks.touched, touched);
    for (unsigned j = 0; j < BLOCKS_TOUCHED; j++) {
      const bool last = j == BLOCKS_TOUCHED - 1;

      assert_int_equal (tally.blocks.by_touched[j],
                        last ? touched > j : touched == j + 1);
    }
  }
}

/* 128 KiB at odd multiples of 4 KiB: each needs two clusters. */
static void
test_unaligned_clusters (void **state)
{
  (void) state;
  for (uint64_t i = 0; i < 1000; i++)
    count ((2 * i + 1) * 4 * KiB, 128 * KiB, 128 * KiB);
  assert_int_equal (tally.blocks.aligned, 0);
  assert_int_equal (tally.blocks.smaller, 0);
  assert_int_equal (tally.blocks.touched, 2000);
  assert_int_equal (tally.blocks.by_touched[1], 1000);
  assert_int_equal (sum (tally.blocks.by_touched, BLOCKS_TOUCHED), 1000);
}

/* No block size, or no bytes as of a flush: nothing to fit. */
static void
test_no_blocks (void **state)
{
  (void) state;
  count (123, 456, 0);
  count (0, 0, 4096);
  assert_int_equal (tally.requests, 2);
  assert_int_equal (tally.blocks.aligned + tally.blocks.smaller
                    + tally.blocks.touched, 0);
  assert_int_equal (sum (tally.blocks.by_touched, BLOCKS_TOUCHED), 0);
}

/* Flags, and data that is zero. */
static void
test_flags (void **state)
{
  uint64_t expected[NR_FLAGS] = { 0 };

  (void) state;
  for (uint32_t flags = 0; flags < 1 << NR_FLAGS; flags++) {
    const struct record request = { .kind = OP_ZERO, .flags = flags };

    for (unsigned flag = 0; flag < NR_FLAGS; flag++)
      expected[flag] += flags & 1 << flag ? 1 : 0;
    tally_record (&tally, &request, 1, 0);
    assert_memory_equal (tally.flags, expected, sizeof expected);
  }
}

static void
test_zero_bytes (void **state)
{
  struct record request = { .kind = OP_WRITE, .count = UINT32_MAX };

  (void) state;
  for (unsigned i = 0; i < 3; i++) {
    request.zero_bytes = UINT32_MAX - i;
    tally_record (&tally, &request, 1, 0);
  }
  assert_int_equal (tally.zero_bytes, 3 * (uint64_t) UINT32_MAX - 3);
  assert_int_equal (tally.bytes, 3 * (uint64_t) UINT32_MAX);
}

/* What one extents request returns may be all that 64 bits can tell. */
static void
test_extents (void **state)
{
  const unsigned __int128 all = UINT64_MAX;
  const struct record request = {
    .kind = OP_EXTENTS, .nr_extents = 5,
    .data = UINT64_MAX, .hole = UINT64_MAX - 1, .zero = 7,
  };
  const struct record other = { .kind = OP_READ, .nr_extents = 1, .data = 1 };

  (void) state;
  for (unsigned i = 0; i < 3; i++)
    tally_record (&tally, &request, 1, 0);
  tally_record (&tally, &other, 1, 0);
  assert_int_equal (tally.extents.count, 15);
  assert_true (tally.extents.data == 3 * all);
  assert_true (tally.extents.hole == 3 * all - 3);
  assert_true (tally.extents.zero == 21);
  tally_add (&tally, &tally);
  assert_true (tally.extents.data == 6 * all);
}

/* All together. */

static struct record
random_request (void)
{
  const uint32_t length = (uint32_t) random_64 (&random_state)
    >> random_below (&random_state, 32);

  return (struct record) {
    .kind = random_below (&random_state, NR_OPS),
    .count = random_below (&random_state, 2) ? length : length & ~0xfffu,
    .offset = random_64 (&random_state) >> random_below (&random_state, 64)
      << random_below (&random_state, 20) >> 1,
    .flags = (uint32_t) random_below (&random_state, 1 << NR_FLAGS),
    .zero_bytes = (uint32_t) random_below (&random_state, length + 1u),
  };
}

/* However requests are divided into classes, all of them are there, with
 * all of their bytes and times.
 */
static void
check_sums (const struct tally *t, uint64_t with_bytes)
{
  struct size_class all = { 0 };

  for (unsigned k = 0; k < SIZE_CLASSES; k++) {
    all.requests += t->sizes[k].requests;
    all.bytes += t->sizes[k].bytes;
    all.latency_ns += t->sizes[k].latency_ns;
    if (k > 0 && t->sizes[k].requests)
      assert_in_range (t->sizes[k].bytes / t->sizes[k].requests,
                       UINT64_C (1) << (k - 1), (UINT64_C (1) << k) - 1);
  }
  assert_int_equal (all.requests, t->requests);
  assert_int_equal (all.bytes, t->bytes);
  assert_int_equal (all.latency_ns, t->latency_ns);
  assert_int_equal (histogram_count (t->bins), t->requests);
  assert_int_equal (sum (t->offset_alignment, OFFSET_ALIGNMENTS),
                    t->requests);
  assert_int_equal (sum (t->length_alignment, LENGTH_ALIGNMENTS),
                    t->requests);
  assert_int_equal (sum (t->blocks.by_touched, BLOCKS_TOUCHED), with_bytes);
}

static void
test_random (void **state)
{
  uint64_t bytes = 0, latency_ns = 0, zeros = 0, touched = 0;
  uint64_t with_bytes = 0, smaller = 0, aligned = 0, misaligned = 0;

  (void) state;
  for (unsigned i = 0; i < 20000; i++) {
    const struct record request = random_request ();
    const uint64_t end = request.offset + request.count;
    const uint64_t ns = random_64 (&random_state) >> 25;

    tally_record (&tally, &request, ns, 4096);
    tally_alignment (&tally, &request, 4096);
    bytes += request.count;
    latency_ns += ns;
    zeros += request.zero_bytes;
    if (request.count == 0) {
      misaligned += request.offset % 4096 != 0;
      continue;
    }
    with_bytes++;
    touched += (end + 4095) / 4096 - request.offset / 4096;
    smaller += request.count < 4096;
    aligned += request.offset % 4096 == 0 && end % 4096 == 0;
    misaligned += request.offset % 4096 != 0 || request.count % 4096 != 0;
  }
  assert_int_equal (tally.requests, 20000);
  assert_int_equal (tally.bytes, bytes);
  assert_int_equal (tally.latency_ns, latency_ns);
  assert_int_equal (tally.zero_bytes, zeros);
  assert_int_equal (tally.blocks.touched, touched);
  assert_int_equal (tally.blocks.smaller, smaller);
  assert_int_equal (tally.blocks.aligned, aligned);
  assert_int_equal (tally.misaligned, misaligned);
  assert_in_range (aligned, 1, with_bytes - 1);
  check_sums (&tally, with_bytes);
}

/* Every number of the one is added to that of the other, and taken off
 * again.  The last word is there for the alignment only.
 */
static void
test_add_subtract (void **state)
{
  enum { WORDS = sizeof (struct tally) / sizeof (uint64_t) - 1 };
  static union {
    struct tally tally;
    uint64_t words[WORDS + 1];
  } a, b, both;

  (void) state;
  for (size_t i = 0; i < WORDS; i++) {
    a.words[i] = random_64 (&random_state) >> 1;
    b.words[i] = random_64 (&random_state) >> 1;
  }
  both = a;
  tally_add (&both.tally, &b.tally);
  for (size_t i = 0; i < WORDS; i++)
    assert_int_equal (both.words[i], a.words[i] + b.words[i]);
  tally_subtract (&both.tally, &b.tally);
  assert_memory_equal (&both, &a, sizeof a);
}

/* Failures. */

static struct failure
failed_with (const struct failures *f, uint64_t error)
{
  struct failure found = { 0 };

  for (unsigned i = 0; i < MAX_FAILURES; i++) {
    if (f->by_errno[i].error != error)
      continue;
    assert_int_equal (found.error, 0); /* it has one entry */
    found = f->by_errno[i];
  }
  return found;
}

static void
check_failure (struct failure f, uint64_t requests, uint64_t ns,
               uint64_t longest_ns)
{
  assert_int_equal (f.requests, requests);
  assert_int_equal (f.ns, ns);
  assert_int_equal (f.longest_ns, longest_ns);
}

static void
test_failures (void **state)
{
  (void) state;
  check_failure (failures_total (&failures), 0, 0, 0);
  failures_count (&failures, EIO, 100);
  failures_count (&failures, ENOSPC, 0);
  failures_count (&failures, EIO, 30);
  failures_count (&failures, EPERM, 500);
  check_failure (failed_with (&failures, EIO), 2, 130, 100);
  check_failure (failed_with (&failures, ENOSPC), 1, 0, 0);
  check_failure (failed_with (&failures, EPERM), 1, 500, 500);
  check_failure (failed_with (&failures, EINVAL), 0, 0, 0);
  check_failure (failures_total (&failures), 4, 630, 500);
  assert_int_equal (failures_total (&failures).error, 0);
}

/* Every errno there can be has a place of its own, whatever its order, and
 * what is none has one, too.
 */
static void
test_failure_each (void **state)
{
  (void) state;
  for (unsigned round = 1; round <= 2; round++) {
    for (unsigned i = 0; i < NR_ERRNOS; i++) {
      const unsigned error = i * 7 % NR_ERRNOS;

      failures_count (&failures, error, round * (1 + error));
    }
  }
  check_failure (failed_with (&failures, FAILURE_OTHER), 2, 3, 2);
  for (uint64_t error = 1; error < NR_ERRNOS; error++)
    check_failure (failed_with (&failures, error), 2, 3 * (1 + error),
                   2 * (1 + error));
  check_failure (failures_total (&failures), 2 * NR_ERRNOS,
                 3 * (NR_ERRNOS + NR_ERRNOS * (NR_ERRNOS - 1) / 2),
                 2 * NR_ERRNOS);
}

/* What is counted less what was there before is what came since, but for the
 * longest.
 */
static void
test_failures_subtract (void **state)
{
  enum { ERRNOS = 200 };
  struct failures before, interval;
  struct failure all[ERRNOS] = { 0 }, since[ERRNOS] = { 0 };

  (void) state;
  for (unsigned i = 0; i < 2000; i++) {
    const unsigned error = (unsigned) random_below (&random_state, ERRNOS);
    const uint64_t ns = random_below (&random_state, 1000000);

    if (i == 1000)
      before = failures;
    failures_count (&failures, error, ns);
    all[error].requests++;
    all[error].ns += ns;
    if (ns > all[error].longest_ns)
      all[error].longest_ns = ns;
    since[error].requests += i >= 1000;
    since[error].ns += i >= 1000 ? ns : 0;
  }
  interval = failures;
  failures_subtract (&interval, &before);
  for (unsigned error = 0; error < ERRNOS; error++) {
    check_failure (failures.by_errno[error], all[error].requests,
                   all[error].ns, all[error].longest_ns);
    check_failure (interval.by_errno[error], since[error].requests,
                   since[error].ns, all[error].longest_ns);
  }
  assert_int_equal (failures_total (&interval).requests, 1000);
}

#define TEST(f) cmocka_unit_test_setup (f, start)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_size_classes),
    TEST (test_offset_alignment),
    TEST (test_length_alignment),
    TEST (test_misaligned),
    TEST (test_preferred),
    TEST (test_block_fit),
    TEST (test_unaligned_clusters),
    TEST (test_no_blocks),
    TEST (test_flags),
    TEST (test_zero_bytes),
    TEST (test_extents),
    TEST (test_random),
    TEST (test_add_subtract),
    TEST (test_failures),
    TEST (test_failure_each),
    TEST (test_failures_subtract),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
