/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Threads that send requests, as nbdkit's workers do. */

#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "layer.h"
#include "measure.h"

struct worker {
  /* Away from the other threads' cache lines. */
  alignas (128) _Atomic uint64_t done; /* requests */
  struct crew *crew;
  struct client *client;
  pthread_t thread;
  uint64_t random;              /* where the requests go */
  uint64_t failed;
  int error;                    /* errno of the last one that failed */
};

/* All threads of one measurement. */
struct crew {
  struct layer *layer;          /* NULL: read the clock twice a request */
  unsigned threads;
  uint64_t limit;               /* requests of each thread */
  bool pin;                     /* spread the threads over the CPUs */

  pthread_barrier_t barrier;
  _Atomic bool stop;
  uint64_t failed;              /* after crew_wait, of all workers */
  int error;
  struct worker workers[MAX_THREADS];
};

/* The caller sets layer, threads, limit, pin, and each worker's client; all
 * else is 0.  Then it calls crew_start, crew_wait and crew_join in this
 * order.  crew_start returns when all threads stand ready and go, or -1
 * after telling the error.
 */
extern int crew_start (struct crew *crew);

/* Wait until each thread has done its requests, and stays. */
extern void crew_wait (struct crew *crew);

/* Let the threads end. */
extern void crew_join (struct crew *crew);

/* Between start and wait: the requests done so far, and to do no more. */
extern uint64_t crew_done (struct crew *crew);
extern void crew_stop (struct crew *crew);

#endif /* BENCH_WORKER_H */
