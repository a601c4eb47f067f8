/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What is counted of one operation's requests: plain numbers that add up.
 *
 * A new figure is one member here, one line where it is counted and one
 * where it is shown; adding up and subtracting need no change.
 */

#ifndef STATS_TALLY_H
#define STATS_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "histogram.h"
#include "record.h"

/* Sizes are counted in classes: 0, then for class k the sizes from
 * 2^(k-1) to 2^k - 1.  A request has 32 bits of size.
 */
#define SIZE_CLASSES 33

/* Alignments are powers of two, 2^k in place k; an offset or a length of
 * 0 is aligned to everything and has the last place.
 */
#define OFFSET_ALIGNMENTS 65
#define LENGTH_ALIGNMENTS 33

/* Storage mostly works in blocks of at least that size, where it does not
 * say which it prefers.
 */
#define ALIGNED_TO UINT32_C (4096)

/* How many blocks a request touches: 1, 2, 3, or more. */
#define BLOCKS_TOUCHED 4

struct size_class {
  uint64_t requests, bytes, latency_ns;
};

/* What extents requests returned: one of 7 EiB is enough to need 128 bits
 * for the sums.
 */
struct extents_tally {
  unsigned __int128 data, hole, zero; /* bytes */
  uint64_t count;
};

/* Every member but the last is a uint64_t, or an array or a struct of
 * them.
 */
struct tally {
  uint64_t requests;            /* that succeeded */
  uint64_t bytes;               /* of these, as asked */
  uint64_t latency_ns;          /* of these, summed up */

  /* Latencies in nanoseconds, see histogram.h. */
  uint64_t bins[HISTOGRAM_ALL];

  struct size_class sizes[SIZE_CLASSES];
  uint64_t offset_alignment[OFFSET_ALIGNMENTS];
  uint64_t length_alignment[LENGTH_ALIGNMENTS];
  uint64_t misaligned;          /* see tally_alignment */

  struct {                      /* against blocks of statsblock bytes */
    uint64_t aligned;           /* offset and length */
    uint64_t smaller;           /* than a block */
    uint64_t touched;           /* blocks, by all requests */
    uint64_t by_touched[BLOCKS_TOUCHED];
  } blocks;

  uint64_t flags[NR_FLAGS];     /* requests with that flag */
  struct {                      /* a normal answer, and no failure */
    uint64_t requests, ns;
  } fast_zero_refused;
  uint64_t zero_bytes;          /* written data that was all zero */

  struct extents_tally extents;
};

/* The requests that failed with one errno. */
struct failure {
  uint64_t error;               /* the errno, or FAILURE_OTHER */
  uint64_t requests;
  uint64_t ns;                  /* their latencies, summed up */
  uint64_t longest_ns;
};

/* Each errno has a place of its own, which is its number; what is none
 * has the first.
 */
#define MAX_FAILURES NR_ERRNOS
#define FAILURE_OTHER UINT64_C (0xffff)

struct failures {
  struct failure by_errno[MAX_FAILURES];
};

/* The class of a size, below SIZE_CLASSES. */
static inline unsigned
size_class (uint32_t count)
{
  return count ? 32 - (unsigned) __builtin_clz (count) : 0;
}

/* Count what has a latency, and nothing else of it. */
static inline void
tally_latency (struct tally *tally, uint64_t latency_ns)
{
  tally->requests++;
  tally->latency_ns += latency_ns;
  tally->bins[histogram_bin (latency_ns)]++;
}

/* Count a request that succeeded; block is statsblock or 0. */
extern void tally_record (struct tally *tally, const struct record *record,
                          uint64_t latency_ns, uint64_t block);

/* Count whether it is a multiple of a block size, in offset and length: that
 * which the storage prefers, a power of two, or ALIGNED_TO.
 */
static inline void
tally_alignment (struct tally *tally, const struct record *record,
                 uint32_t block)
{
  if (((uint32_t) record->offset | record->count) & (block - 1))
    tally->misaligned++;
}

/* Count a failed request; error is below NR_ERRNOS, 0 for what is none. */
extern void failures_count (struct failures *failures, unsigned error,
                            uint64_t ns);

/* sum += part and sum -= part. */
extern void tally_add (struct tally *sum, const struct tally *part);
extern void tally_subtract (struct tally *sum, const struct tally *part);

/* sum -= part; the longest stays that of sum. */
extern void failures_subtract (struct failures *sum,
                               const struct failures *part);

/* All errnos taken together; its error is 0. */
extern struct failure failures_total (const struct failures *failures);

#endif /* STATS_TALLY_H */
