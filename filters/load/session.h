/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A connection to the layers below us, as nbdkit opens it for a client. */

#ifndef LOAD_SESSION_H
#define LOAD_SESSION_H

#include <stdint.h>

#include <nbdkit-filter.h>

/* The place in nbdkit's stack above which all sessions are opened: set
 * before the first one.
 */
extern nbdkit_backend *session_backend;

struct session {
  nbdkit_next *next;
  uint64_t size;                /* of the disk that it sees */
};

/* Open it and ask what clients are offered.  With writes it must let us
 * write; it must have at least count bytes.  From any thread.  Returns -1
 * after telling the error.
 */
extern int session_open (struct session *session, int writes,
                         uint32_t count);
extern void session_close (struct session *session);

#endif /* LOAD_SESSION_H */
