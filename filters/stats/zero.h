/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#ifndef STATS_ZERO_H
#define STATS_ZERO_H

#include <stdint.h>

/* How many of the count bytes at buf, which are written to offset, lie in
 * pieces that are all zero.  The pieces are blocks of 4096 bytes of the
 * disk, as far as the buffer covers them: what a client could have left
 * out or zeroed without data.
 */
extern uint32_t zero_bytes (const void *buf, uint32_t count, uint64_t offset);

#endif /* STATS_ZERO_H */
