/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What nbdkit-stats tells the load filter to do, and what that answers.
 * Both are built together.
 */

#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

#include <stdint.h>

#define MAX_THREADS 4096

/* A job is given as parameters of nbdkit, load-NAME=VALUE.  These are
 * numbers; one that is 0 can be left out.
 *
 *   threads         that send requests, 1 to MAX_THREADS
 *   sharing         so many of them share a connection, 1 to MAX_THREADS
 *   pin             1: bind the threads to the CPUs in turn
 *   writes          of two requests, how many are writes: 0, 1, 2
 *   clocks          1: read the clock twice and send nothing
 *   watch           1: note what each request spends in the filter
 *   clocked         1: note only how long each request is in the filter
 *   cold            with that, walk so many bytes below the filter and between
 *                   requests
 *   at_once         1: the threads open the connections
 *   idle            threads beside, which sent ten requests and wait
 *   gone            threads before, which sent ten requests and ended
 *   duration        measure for so many nanoseconds
 *   requests        each thread sends so many instead
 *   connections     measure memory instead, while so many come and go
 */
#define JOB_NUMBERS(X)                                                    \
  X (threads) X (sharing) X (pin) X (writes) X (clocks) X (watch)         \
  X (clocked) X (cold) X (at_once) X (idle) X (gone) X (duration)         \
  X (requests) X (connections)

#define JOB_PREFIX "load-"

/* And the name of a workload, a directory for its files, in which
 * the file RESULT_FILE will hold a struct result.
 */
#define JOB_BACKEND "load-backend"
#define JOB_DIRECTORY "load-directory"
#define RESULT_FILE "result"

struct job {
#define X(name) uint64_t name;
  JOB_NUMBERS (X)
#undef X
};

/* In nanoseconds. */
struct spent {
  uint64_t time;
  uint64_t cpu;                 /* processor time of the thread */
};

/* Of one request, in nanoseconds. */
struct timing {
  double ns;                    /* as its thread sees it */
  double cpu_ns;                /* processor time of all threads */
  double own_cpu_ns;            /* of these, of the filter's own threads */

  /* If watched, in the filter, without the backend and whoever sends:
   * the processor time of those who send, and the time, which alone is
   * known of a cold one.
   */
  double inside_cpu_ns;
  double inside_ns;
  double inside_median_ns;      /* of all requests from the start on */
  struct spent first, longest;  /* of a thread's first one; of any */

  double all_ns;                /* until all requests were done */
};

/* In bytes. */
struct memory {
  int64_t heap;                 /* allocated */
  int64_t resident;             /* of the process, but for mapped files */
};

/* Each as a difference to the time before the first connection. */
struct memory_use {
  struct memory working;        /* all threads have read and written */
  struct memory first;          /* the first connection has gone */
  struct memory half, last;     /* half of the others, all have gone */
  struct memory asked, more;    /* after MEMORY_MORE requests on one
                                   connection, after as many again */
};

/* Requests of each thread of a connection that comes and goes, and of all
 * threads of the one that asks and asks again.
 */
#define MEMORY_REQUESTS 256
#define MEMORY_MORE 65536

struct result {
  uint64_t size;                /* of this struct: the same build? */
  char version[16];             /* of nbdkit */
  int64_t thread_model;         /* NBDKIT_THREAD_MODEL_... */
  uint64_t requests;            /* sent while it was measured */
  uint64_t own_threads;         /* that the filter has */
  int64_t files;                /* left open at the end */
  struct timing timing;
  struct memory_use memory;
};

#endif /* LOAD_LOAD_H */
