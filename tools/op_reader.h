/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The part of a JSON report that tells of one operation, read back: what
 * filters/stats/json_op.c writes, a function for each object in it.
 */

#ifndef TOOLS_OP_READER_H
#define TOOLS_OP_READER_H

#include "json_input.h"
#include "snapshot.h"

/* Fill in all of the operation in a layer that was zeroed.  What is wrong
 * is told, see json_input.h.
 */
extern void read_op (const struct input *object,
                     struct recorder_totals *layer, enum op op,
                     const struct snapshot *snapshot);

/* The gaps of a layer, which are kept as an operation is. */
extern void read_gaps (const struct input *layer, struct op_totals *gaps,
                       uint64_t start);

#endif /* TOOLS_OP_READER_H */
