/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The seven data operations: the only place that lists them.
 *
 * X (ID, callback, name, kind)
 *
 *   ID        the enum is OP_<ID>
 *   callback  the member of struct nbdkit_next_ops
 *   name      what reports call the operation
 *   kind      MOVED: bytes travel between client and storage
 *             RANGE: the request names a range of the disk, no data travels
 *             QUERY: a range is asked about, see the extents that came back
 *             NONE:  the request has no bytes
 *
 * The order is the order of every report.
 */

#ifndef STATS_OPS_H
#define STATS_OPS_H

#define FOR_EACH_OP(X)                      \
  X (READ,    pread,   "read",    MOVED)    \
  X (WRITE,   pwrite,  "write",   MOVED)    \
  X (TRIM,    trim,    "trim",    RANGE)    \
  X (ZERO,    zero,    "zero",    RANGE)    \
  X (EXTENTS, extents, "extents", QUERY)    \
  X (CACHE,   cache,   "cache",   RANGE)    \
  X (FLUSH,   flush,   "flush",   NONE)

enum op {
#define OP_ENUM(id, callback, name, kind) OP_##id,
  FOR_EACH_OP (OP_ENUM)
#undef OP_ENUM
  NR_OPS
};

enum op_kind { KIND_MOVED, KIND_RANGE, KIND_QUERY, KIND_NONE };

/* The operation's name in reports. */
static inline const char *
op_name (enum op op)
{
#define OP_NAME(id, callback, name, kind) name,
  static const char *const names[] = { FOR_EACH_OP (OP_NAME) };
#undef OP_NAME

  return names[op];
}

/* What the bytes of the operation are. */
static inline enum op_kind
op_kind (enum op op)
{
#define OP_KIND(id, callback, name, kind) KIND_##kind,
  static const enum op_kind kinds[] = { FOR_EACH_OP (OP_KIND) };
#undef OP_KIND

  return kinds[op];
}

#endif /* STATS_OPS_H */
