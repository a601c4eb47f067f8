/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Connections: how many, how many at once, and how long the layers below
 * took to open one.  Opening can take seconds, as with VDDK or SSH, which
 * no request's latency shows.
 */

#ifndef STATS_CONNECTIONS_H
#define STATS_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Those that were asked for with one export name, or altogether. */
struct opens {
  uint64_t opened;
  uint64_t failed;
  uint64_t ns;                  /* spent opening, failed ones too */
  uint64_t longest_ns;
};

struct export_opens {
  char *name;
  struct opens opens;
};

/* Clients choose the names, so there is a limit; connections beyond it
 * are in the sum alone.
 */
#define MAX_EXPORTS 64

struct connections_totals {
  struct opens all;
  uint64_t now, most;           /* open at this moment, and at most at once */
  uint64_t recent_most;         /* since the last connections_read */
  unsigned nr_exports;
  struct export_opens exports[MAX_EXPORTS]; /* names live with connections */
};

struct connections {
  pthread_mutex_t lock;         /* protects the rest */
  struct connections_totals totals;
};

extern void connections_init (struct connections *connections);
extern void connections_free (struct connections *connections);

/* A connection was opened, or failed to, for the export of that name, in
 * ns nanoseconds; one that was opened is closed.  Any thread.
 */
extern void connections_opened (struct connections *connections,
                                const char *name, uint64_t ns, bool failed);
extern void connections_closed (struct connections *connections);

/* Copy all figures as they are now, and forget the recent most.  Any
 * thread.
 */
extern void connections_read (struct connections *connections,
                              struct connections_totals *totals);

#endif /* STATS_CONNECTIONS_H */
