/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "connections.h"
#include "tally.h"

void
connections_init (struct connections *connections)
{
  memset (connections, 0, sizeof *connections);
  pthread_mutex_init (&connections->lock, NULL);
  atomic_init (&connections->first_used, NO_PLACE);
}

void
connections_free (struct connections *connections)
{
  for (unsigned i = 0; i < connections->totals.nr_exports; i++)
    free (connections->totals.exports[i].name);
  pthread_mutex_destroy (&connections->lock);
}

void
connections_client (struct connections *connections)
{
  pthread_mutex_lock (&connections->lock);
  connections->totals.clients++;
  pthread_mutex_unlock (&connections->lock);
}

/* Which exports were opened. */

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

static unsigned
find_export (const struct connections_totals *totals,
             const struct connection *connection)
{
  const struct export_opens *exports = totals->exports;

  for (unsigned i = 0; i < totals->nr_exports; i++) {
    if (exports[i].cut == connection->cut
        && strcmp (exports[i].name, connection->name) == 0)
      return i;
  }
  return PLACE_OF_OTHERS;
}

/* The name is the list's from now on. */
static unsigned
add_export (struct connections_totals *totals, struct connection *connection)
{
  const unsigned place = totals->nr_exports;

  if (place == MAX_EXPORTS)
    return PLACE_OF_OTHERS;
  totals->nr_exports++;
  totals->exports[place] = (struct export_opens) {
    .name = connection->name, .cut = connection->cut,
  };
  connection->name = NULL;
  return place;
}

/* From here on its place stays.  A name that is not listed is from now on, if
 * listed.  The caller has the lock.
 */
static void
give_place (struct connection *connection, bool listed)
{
  struct connections_totals *totals = &connection->connections->totals;
  unsigned place;

  if (atomic_load (&connection->place) != NO_PLACE)
    return;
  place = find_export (totals, connection);
  if (place == PLACE_OF_OTHERS && listed)
    place = add_export (totals, connection);
  atomic_store (&connection->place, place);
  free (connection->name);
  connection->name = NULL;
}

static struct opens *
opens_of_place (struct connections_totals *totals, unsigned place)
{
  return place == PLACE_OF_OTHERS ? &totals->other_exports
    : &totals->exports[place].opens;
}

/* Once, where it was opened, and its block sizes were told or never will be: a
 * report may come between the two.  The caller has the lock.
 */
static void
note_block_sizes (struct connection *connection, bool closed)
{
  const struct block_sizes *sizes = &connection->block_sizes;
  struct connections *connections = connection->connections;
  struct block_sizes *noted = &connections->totals.block_sizes;

  if (!connection->was_opened || connection->noted
      || (!connection->told && !closed))
    return;
  connection->noted = true;
  if (connections->any_noted && memcmp (noted, sizes, sizeof *noted) != 0)
    connections->totals.block_sizes_differ = true;
  connections->any_noted = true;
  if (noted->preferred == 0)
    *noted = *sizes;
}

/* It was opened, or it failed: count it.  The caller has the lock. */
static void
decide (struct connection *connection, bool failed)
{
  struct connections_totals *totals = &connection->connections->totals;

  if (connection->decided)
    return;
  connection->decided = true;
  *connection->link = connection->next;
  if (connection->next)
    connection->next->link = connection->link;
  connection->was_opened = !failed;
  note_block_sizes (connection, false);
  give_place (connection, !failed);
  count (opens_of_place (totals, atomic_load (&connection->place)),
         connection->opening_ns, failed);
  count (&totals->all, connection->opening_ns, failed);
}

/* Whether it was opened is known when nothing more is asked.  Nobody says
 * so, but who reads need not wait for it, unless just then something is asked:
 * that may still fail, or take long.
 */
static void
decide_all (struct connections *connections)
{
  struct connection *connection, *next;

  for (connection = connections->undecided; connection; connection = next) {
    next = connection->next;
    if (connection->answered && connection->asking == 0)
      decide (connection, false);
  }
}

/* One connection. */

/* Its length where it is cut, between two characters if it is UTF-8. */
static size_t
name_length (const char *name)
{
  const size_t length = strnlen (name, MAX_EXPORT_NAME);
  size_t whole = length;

  while (whole > 0 && length - whole < 4 && (name[whole] & 0xc0) == 0x80)
    whole--;
  return length - whole < 4 ? whole : length;
}

struct connection *
connection_new (struct connections *connections, const char *name)
{
  struct connection *connection = calloc (1, sizeof *connection);

  if (connection == NULL)
    return NULL;
  connection->name = strndup (name, name_length (name));
  if (connection->name == NULL) {
    free (connection);
    return NULL;
  }
  connection->cut = strlen (name) > strlen (connection->name);
  connection->connections = connections;
  atomic_init (&connection->references, 1);
  atomic_init (&connection->preferred, ALIGNED_TO);
  atomic_init (&connection->place, NO_PLACE);

  pthread_mutex_lock (&connections->lock);
  connection->next = connections->undecided;
  connection->link = &connections->undecided;
  if (connection->next)
    connection->next->link = &connection->next;
  connections->undecided = connection;
  pthread_mutex_unlock (&connections->lock);
  return connection;
}

void
connection_ask (struct connection *connection)
{
  struct connections *connections = connection->connections;

  pthread_mutex_lock (&connections->lock);
  connection->asking++;
  pthread_mutex_unlock (&connections->lock);
}

void
connection_asked (struct connection *connection, uint64_t ns, bool failed)
{
  struct connections *connections = connection->connections;

  pthread_mutex_lock (&connections->lock);
  connection->asking--;
  if (!connection->decided) {
    connection->opening_ns += ns;
    if (failed)
      decide (connection, true);
  }
  pthread_mutex_unlock (&connections->lock);
}

void
connection_answered (struct connection *connection)
{
  struct connections *connections = connection->connections;

  pthread_mutex_lock (&connections->lock);
  connection->answered = true;
  pthread_mutex_unlock (&connections->lock);
}

void
connection_block_sizes (struct connection *connection,
                        const struct block_sizes *sizes)
{
  struct connections *connections = connection->connections;

  if (sizes->preferred)
    atomic_store_explicit (&connection->preferred, sizes->preferred,
                           memory_order_relaxed);
  pthread_mutex_lock (&connections->lock);
  connection->block_sizes = *sizes;
  connection->told = true;
  note_block_sizes (connection, false);
  pthread_mutex_unlock (&connections->lock);
}

void
connection_use (struct connection *connection)
{
  struct connections *connections = connection->connections;
  unsigned first;

  if (atomic_load (&connection->used))
    return;
  pthread_mutex_lock (&connections->lock);
  give_place (connection, true);
  first = atomic_load (&connections->first_used);
  if (first == NO_PLACE)
    atomic_store (&connections->first_used, connection->place);
  else if (first != connection->place)
    atomic_store (&connections->used_several, true);
  atomic_store (&connection->used, true);
  pthread_mutex_unlock (&connections->lock);
}

void
connection_opened (struct connection *connection)
{
  struct connections_totals *totals = &connection->connections->totals;

  pthread_mutex_lock (&connection->connections->lock);
  totals->now++;
  if (totals->now > totals->most)
    totals->most = totals->now;
  if (totals->now > totals->recent_most)
    totals->recent_most = totals->now;
  pthread_mutex_unlock (&connection->connections->lock);
}

void
connection_closed (struct connection *connection)
{
  struct connections *connections = connection->connections;

  pthread_mutex_lock (&connections->lock);
  decide (connection, false);
  note_block_sizes (connection, true);
  connections->totals.now--;
  pthread_mutex_unlock (&connections->lock);
  connection_release (connection);
}

void
connection_keep (struct connection *connection)
{
  atomic_fetch_add (&connection->references, 1);
}

void
connection_release (struct connection *connection)
{
  if (atomic_fetch_sub (&connection->references, 1) > 1)
    return;
  for (unsigned op = 0; op < NR_OPS; op++) {
    if (connection->streams[op])
      atomic_fetch_sub (&connection->connections->stream_bytes,
                        sizeof *connection->streams[op]);
    free (connection->streams[op]);
  }
  free (connection->name);
  free (connection);
}

struct sequence *
connection_stream (struct connection *connection, enum op op)
{
  _Atomic size_t *bytes = &connection->connections->stream_bytes;
  struct sequence **stream = &connection->streams[op];

  if (*stream || atomic_load (bytes) + sizeof **stream > MAX_STREAM_BYTES)
    return *stream;
  *stream = calloc (1, sizeof **stream);
  if (*stream)
    atomic_fetch_add (bytes, sizeof **stream);
  return *stream;
}

void
connections_read (struct connections *connections,
                  struct connections_totals *totals)
{
  pthread_mutex_lock (&connections->lock);
  decide_all (connections);
  *totals = connections->totals;
  connections->totals.recent_most = totals->now;
  pthread_mutex_unlock (&connections->lock);
}
