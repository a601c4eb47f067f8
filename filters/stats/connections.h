/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Connections, and how they are opened.
 *
 * A client that connects may open several exports one after the other,
 * since asking about one opens it, too.  Opening is all that nbdkit asks of
 * the layers below before the first request: to open, to prepare, the size
 * and what they can do.  It can take seconds, as with VDDK or SSH, which no
 * request's latency shows, and it fails where any of that fails.
 */

#ifndef STATS_CONNECTIONS_H
#define STATS_CONNECTIONS_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ops.h"
#include "sequence.h"

/* Openings for one export name, or altogether. */
struct opens {
  uint64_t opened;
  uint64_t failed;
  uint64_t ns;                  /* spent opening, failed ones too */
  uint64_t longest_ns;
};

struct export_opens {
  char *name;
  bool cut;                     /* it was longer */
  struct opens opens;
};

/* Clients choose the names, so there are limits.  A name has a place of
 * its own from its first opening that went well, or its first request, while
 * there are any.
 */
#define MAX_EXPORTS 64
#define PLACE_OF_OTHERS MAX_EXPORTS
#define EXPORT_PLACES (MAX_EXPORTS + 1)
#define MAX_EXPORT_NAME 255     /* bytes */

/* What the storage says of itself, in bytes; all 0 where it does not, or was
 * not asked.
 */
struct block_sizes {
  uint32_t minimum, preferred, maximum;
};

struct connections_totals {
  uint64_t clients;             /* that connected */
  struct opens all;
  uint64_t now, most;           /* open at this moment, and at most at once */
  uint64_t recent_most;         /* since the last connections_read */
  unsigned nr_exports;
  struct export_opens exports[MAX_EXPORTS]; /* names live with connections */
  struct opens other_exports;   /* the rest of all */
  struct block_sizes block_sizes; /* of those that were opened: the first */
  bool block_sizes_differ;      /* that has any; others have not the same */
};

/* What the streams of all connections may take.  Requests for which there is
 * no more room are not looked at: thousands of connections at once.
 */
#define MAX_STREAM_BYTES ((size_t) 3 << 20)

/* A name has none yet. */
#define NO_PLACE UINT_MAX

/* What nbdkit calls a handle: an export that a client has opened. */
struct connection {
  struct connections *connections;
  _Atomic unsigned references;  /* its handle's, and one of each ring */
  _Atomic unsigned place;       /* of its name, PLACE_OF_OTHERS or NO_PLACE */
  _Atomic bool used;            /* it has a request, and a place */
  struct sequence *streams[NR_OPS]; /* for whoever settles; NULL: none yet */
  _Atomic uint32_t preferred;   /* block size, as the storage says it, or
                                   ALIGNED_TO */

  /* Under the lock: */
  struct block_sizes block_sizes; /* if told */
  bool told, noted;
  bool was_opened;              /* it is decided, and did not fail */

  /* Until that is decided, as well: */
  struct connection *next, **link;
  bool decided;
  bool answered;                /* it was asked for its size */
  unsigned asking;              /* what is being asked right now */
  uint64_t opening_ns;
  char *name;
  bool cut;
};

struct connections {
  pthread_mutex_t lock;         /* protects the rest */
  struct connections_totals totals;
  struct connection *undecided;
  bool any_noted;               /* block sizes of any connection are */
  _Atomic unsigned first_used;  /* place of the first request, or NO_PLACE; */
  _Atomic bool used_several;    /* written with the lock */
  _Atomic size_t stream_bytes;  /* of all streams; without the lock */
};

extern void connections_init (struct connections *connections);
extern void connections_free (struct connections *connections);

/* The rest may be called by any thread. */

/* A client connects. */
extern void connections_client (struct connections *connections);

/* An export of that name will be opened.  Returns NULL and sets errno where
 * there is no memory.
 */
extern struct connection *connection_new (struct connections *connections,
                                          const char *name);

/* Something that belongs to opening begins, and was done in ns nanoseconds; if
 * it failed, so did opening.  opened: the export is open from now on.
 */
extern void connection_ask (struct connection *connection);
extern void connection_asked (struct connection *connection, uint64_t ns,
                              bool failed);
extern void connection_opened (struct connection *connection);

/* It was asked for its size, so it is open if nothing else fails. */
extern void connection_answered (struct connection *connection);

/* The storage told its block sizes, before the first request.  nbdkit sees
 * to it that they are powers of two, but for the maximum.
 */
extern void connection_block_sizes (struct connection *connection,
                                    const struct block_sizes *sizes);

/* A request of it is about to begin: from now on it has a place, and is
 * used.
 */
extern void connection_use (struct connection *connection);

/* It is closed. */
extern void connection_closed (struct connection *connection);

/* Keep it, also after it is closed; or no longer: the last one frees it. */
extern void connection_keep (struct connection *connection);
extern void connection_release (struct connection *connection);

/* The place of what was used first, or NO_PLACE, and whether another was used
 * since.  Who sees a request of another sees that it was.
 */
static inline unsigned
connections_first_used (const struct connections *connections)
{
  return atomic_load_explicit (&connections->first_used,
                               memory_order_relaxed);
}

static inline bool
connections_used_several (const struct connections *connections)
{
  return atomic_load_explicit (&connections->used_several,
                               memory_order_relaxed);
}

/* For whoever settles: the stream of the connection's requests of this
 * operation, or NULL where there is no room for it.
 */
extern struct sequence *connection_stream (struct connection *connection,
                                           enum op op);

/* Copy all figures as they are now, and forget the recent most. */
extern void connections_read (struct connections *connections,
                              struct connections_totals *totals);

#endif /* STATS_CONNECTIONS_H */
