/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#ifndef STATS_REQUEST_H
#define STATS_REQUEST_H

#include <stdint.h>

#include "ops.h"

/* What a client may ask for with a request. */
enum request_flag { FLAG_MAY_TRIM, FLAG_FUA, FLAG_REQ_ONE, FLAG_FAST_ZERO,
                    NR_FLAGS };

struct recorder;
struct sequence;
struct shard;

/* A request between its begin and its end, on its thread's stack. */
struct request {
  enum op op;
  uint32_t count;               /* bytes */
  uint64_t offset;
  uint32_t flags;               /* bit 1 << enum request_flag */
  uint32_t zero_bytes;          /* of written data that was looked through */
  struct sequence *streams;     /* NR_OPS of its connection's, or NULL */

  /* Set by recorder_begin: */
  struct recorder *recorder;
  struct shard *shard;          /* NULL: no memory, it is not recorded */
  uint64_t begin;               /* clock_now */
};

#endif /* STATS_REQUEST_H */
