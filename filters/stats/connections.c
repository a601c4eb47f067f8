/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "connections.h"

void
connections_init (struct connections *connections)
{
  memset (connections, 0, sizeof *connections);
  pthread_mutex_init (&connections->lock, NULL);
}

void
connections_free (struct connections *connections)
{
  for (unsigned i = 0; i < connections->totals.nr_exports; i++)
    free (connections->totals.exports[i].name);
  pthread_mutex_destroy (&connections->lock);
}

static void
count (struct opens *opens, uint64_t ns, bool failed)
{
  if (failed)
    opens->failed++;
  else
    opens->opened++;
  opens->ns += ns;
  if (ns > opens->longest_ns)
    opens->longest_ns = ns;
}

/* NULL where there is no room for one more name. */
static struct opens *
find_export (struct connections_totals *totals, const char *name)
{
  struct export_opens *export = totals->exports;
  struct export_opens *end = export + totals->nr_exports;

  for (; export < end; export++) {
    if (strcmp (export->name, name) == 0)
      return &export->opens;
  }
  if (totals->nr_exports == MAX_EXPORTS
      || (export->name = strdup (name)) == NULL)
    return NULL;
  totals->nr_exports++;
  return &export->opens;
}

void
connections_opened (struct connections *connections, const char *name,
                    uint64_t ns, bool failed)
{
  struct connections_totals *totals = &connections->totals;
  struct opens *opens;

  pthread_mutex_lock (&connections->lock);
  count (&totals->all, ns, failed);
  opens = find_export (totals, name);
  if (opens)
    count (opens, ns, failed);
  if (!failed)
    totals->now++;
  if (totals->now > totals->most)
    totals->most = totals->now;
  if (totals->now > totals->recent_most)
    totals->recent_most = totals->now;
  pthread_mutex_unlock (&connections->lock);
}

void
connections_closed (struct connections *connections)
{
  pthread_mutex_lock (&connections->lock);
  connections->totals.now--;
  pthread_mutex_unlock (&connections->lock);
}

void
connections_read (struct connections *connections,
                  struct connections_totals *totals)
{
  pthread_mutex_lock (&connections->lock);
  *totals = connections->totals;
  connections->totals.recent_most = totals->now;
  pthread_mutex_unlock (&connections->lock);
}
