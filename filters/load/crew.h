/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Threads that send requests, as nbdkit's workers do. */

#ifndef LOAD_CREW_H
#define LOAD_CREW_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "load.h"
#include "session.h"

struct worker {
  /* Away from the other threads' cache lines. */
  alignas (128) _Atomic uint64_t done; /* requests */
  _Atomic uint64_t inside_time; /* of those that are done; if watched */
  _Atomic uint64_t inside_cpu;
  struct crew *crew;
  struct place *place;
  void *buf;
  pthread_t thread;
  pid_t tid;
  uint64_t random;              /* where the requests go */
  uint64_t failed;
  int error;                    /* errno of the last one that failed */
  uint64_t begin, end;          /* when it sent its requests */
  struct spent first, longest, all; /* in the filter; if watched */
  uint64_t *bins;               /* histogram of these times */
};

/* A session that threads share. */
struct place {
  struct session session;
  pthread_mutex_t lock;         /* opening: whoever comes first does it */
  bool open;
};

/* All threads of one measurement, and their sessions. */
struct crew {
  const struct job *job;        /* how requests are sent */
  unsigned threads;
  unsigned sharing;             /* so many of them share a session */
  uint64_t limit;               /* requests of each thread */

  pthread_barrier_t barrier;
  _Atomic bool stop;
  struct worker *workers;
  struct place *places;
  char *buffers;
  uint64_t *bins;               /* all of each worker, in turn */

  /* After crew_wait, of all workers. */
  uint64_t failed;
  int error;
  uint64_t time;                /* from the first begin to the last end */
  struct spent first, longest;
  uint64_t median;              /* of the times in the filter */
};

/* The caller sets the first members of struct crew; all else is 0.  Then it
 * calls crew_start, crew_wait and crew_join in this order.  All tell their
 * errors, and then return -1; what the crew had is left as it is, since
 * nbdkit ends then.
 *
 * crew_start opens the sessions, and returns when all threads stand ready
 * and go.
 */
extern int crew_start (struct crew *crew);

/* Wait until each thread has done its requests, and stays.  Fails if a
 * request did.
 */
extern int crew_wait (struct crew *crew);

/* Let the threads end, and close the sessions. */
extern void crew_join (struct crew *crew);

struct progress {
  uint64_t requests;
  uint64_t inside_time, inside_cpu; /* of them, in the filter; if watched */
};

/* Between start and wait: what is done so far, and to do no more. */
extern struct progress crew_progress (struct crew *crew);
extern void crew_stop (struct crew *crew);

/* From any thread: all crews stop, those that come, too; and whether they
 * were told so.
 */
extern void crews_stop (void);
extern bool crews_stopped (void);

#endif /* LOAD_CREW_H */
