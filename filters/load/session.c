/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "session.h"

nbdkit_backend *session_backend;

#ifdef HAVE_STRUCT_NBDKIT_FILTER_BLOCK_SIZE
static int
ask_block_size (nbdkit_next *next)
{
  uint32_t minimum, preferred, maximum;

  return next->block_size (next, &minimum, &preferred, &maximum);
}
#else
static int
ask_block_size (nbdkit_next *next)
{
  (void) next;
  return 0;
}
#endif

/* What nbdkit asks before the first request, in its order. */
static int
negotiate (struct session *session, int writes, uint32_t count)
{
  nbdkit_next *next = session->next;
  const int64_t size = next->get_size (next);
  const int writable = size == -1 ? -1 : next->can_write (next);

  if (writable == -1 || next->can_zero (next) == -1
      || next->can_fast_zero (next) == -1 || next->can_trim (next) == -1
      || next->can_fua (next) == -1 || next->can_flush (next) == -1
      || next->is_rotational (next) == -1
      || next->can_multi_conn (next) == -1 || next->can_cache (next) == -1
      || next->can_extents (next) == -1 || ask_block_size (next) == -1) {
    nbdkit_error ("the filter could not tell what clients are offered");
    return -1;
  }
  if (size < count) {
    nbdkit_error ("the filter makes the disk too small for a request");
    return -1;
  }
  if (writes && !writable) {
    nbdkit_error ("the filter lets nobody write: measure reads only");
    return -1;
  }
  session->size = (uint64_t) size;
  return 0;
}

int
session_open (struct session *session, int writes, uint32_t count)
{
  nbdkit_next *next = nbdkit_next_context_open (session_backend, !writes,
                                                "", 1);

  session->next = next;
  if (next == NULL) {
    nbdkit_error ("the filter refused the connection");
    return -1;
  }
  if (next->prepare (next) == 0
      && negotiate (session, writes, count) == 0)
    return 0;
  session_close (session);
  return -1;
}

void
session_close (struct session *session)
{
  session->next->finalize (session->next);
  nbdkit_next_context_close (session->next);
  session->next = NULL;
}
