/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What a thread writes down of one request, and all that it does: a cache
 * line.  Whoever settles it counts.
 */

#ifndef STATS_RECORD_H
#define STATS_RECORD_H

#include <stdint.h>

#include "ops.h"

/* What a client may ask for with a request. */
enum request_flag { FLAG_MAY_TRIM, FLAG_FUA, FLAG_REQ_ONE, FLAG_FAST_ZERO,
                    NR_FLAGS };

/* Beside the operations, what nbdkit asks of the layers below until a
 * connection is open is work of theirs, too.
 */
enum { KIND_OPENING = NR_OPS, NR_KINDS };

/* What an opening may mean, in place of these. */
enum opening_flag {
  OPENING_CONNECTS = 1,         /* if it succeeds, a client is connected */
  OPENING_CLOSES = 2,           /* it is none: a client is no more, from its
                                   begin on */
};

/* The errnos that are told one by one; any other is 0. */
#define NR_ERRNOS 256u

struct record {
  uint64_t begin, end;          /* nanoseconds of clock_now */
  uint64_t offset;
  uint32_t count;               /* bytes */
  uint32_t zero_bytes;          /* of written data that was looked through */
  uint8_t kind;                 /* enum op, or KIND_OPENING */
  uint8_t flags;                /* bit 1 << enum request_flag, or
                                   enum opening_flag */
  uint8_t failed;
  uint8_t error;                /* its errno, where it failed */
  uint32_t nr_extents;          /* of extents: what came back, in extents */
  uint64_t data, hole, zero;    /* and bytes */
};

_Static_assert (sizeof (struct record) == 64, "a record is a cache line");

#endif /* STATS_RECORD_H */
