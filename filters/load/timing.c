/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <time.h>

#include "clock.h"
#include "crew.h"
#include "measure.h"
#include "own_threads.h"
#include "stopwatch.h"

/* Of each thread beside those that are measured. */
#define OTHERS_REQUESTS 10

/* Static, since threads may still look where a measurement failed. */
enum { MEASURED, OTHERS, NR_CREWS };
static struct crew crews[NR_CREWS];

static void
wait_for (uint64_t ns)
{
  const struct timespec ts = clock_timespec (ns);

  nanosleep (&ts, NULL);
}

/* What all threads together have used up so far. */
struct reading {
  uint64_t time;
  uint64_t cpu;                 /* of all threads */
  struct own_threads own;       /* of the filter's own threads */
  struct progress progress;     /* of the crew */
};

/* To look for the filter's threads takes a while, which shall not be between
 * the two readings.
 */

static void
read_crew (struct crew *crew, struct reading *reading)
{
  reading->progress = crew_progress (crew);
  reading->cpu = clock_read (CLOCK_PROCESS_CPUTIME_ID);
  reading->time = clock_now ();
}

static struct reading
read_begin (struct crew *crew)
{
  struct reading reading = { .own = own_threads (crews, NR_CREWS) };

  read_crew (crew, &reading);
  return reading;
}

static struct reading
read_end (struct crew *crew)
{
  struct reading reading;

  read_crew (crew, &reading);
  reading.own = own_threads (crews, NR_CREWS);
  return reading;
}

/* The time from begin to end for each request. */
static double
each (uint64_t begin, uint64_t end, uint64_t requests)
{
  return (double) (end - begin) / (double) requests;
}

static void
read_result (const struct reading *begin, const struct reading *end,
             const struct crew *crew, struct result *result)
{
  const struct progress *from = &begin->progress, *to = &end->progress;
  const uint64_t n = to->requests - from->requests;

  result->requests = n;
  result->own_threads = end->own.count;
  result->timing = (struct timing) {
    .ns = each (begin->time, end->time, n) * crew->threads,
    .cpu_ns = each (begin->cpu, end->cpu, n),
    .own_cpu_ns = each (begin->own.cpu, end->own.cpu, n),
    .inside_cpu_ns = each (from->inside_cpu, to->inside_cpu, n),
    .inside_ns = each (from->inside_time, to->inside_time, n),
    .inside_median_ns = (double) crew->median,
    .first = crew->first,
    .longest = crew->longest,
    .all_ns = (double) crew->time,
  };
}

/* All requests of the crew. */
static int
run_through (struct crew *crew, struct result *result)
{
  const struct reading begin = read_begin (crew);
  struct reading end;

  if (crew_wait (crew) == -1)
    return -1;
  end = read_end (crew);
  read_result (&begin, &end, crew, result);
  return 0;
}

/* A while of them, after the threads got going. */
static int
run_for (uint64_t duration, struct crew *crew, struct result *result)
{
  struct reading begin, end;

  wait_for (duration / 5);
  begin = read_begin (crew);
  /* On a busy machine a while may pass without any. */
  do {
    wait_for (duration);
    end = read_end (crew);
  } while (end.progress.requests == begin.progress.requests
           && !crews_stopped ());
  crew_stop (crew);
  if (crew_wait (crew) == -1)
    return -1;
  read_result (&begin, &end, crew, result);
  return 0;
}

static int
measure_crew (const struct job *job, struct result *result)
{
  struct crew *crew = &crews[MEASURED];

  *crew = (struct crew) {
    .job = job,
    .threads = (unsigned) job->threads,
    .sharing = (unsigned) job->sharing,
    .limit = job->requests ? job->requests : UINT64_MAX,
  };
  if (crew_start (crew) == -1)
    return -1;
  if ((job->requests ? run_through (crew, result)
       : run_for (job->duration, crew, result)) == -1)
    return -1;
  crew_join (crew);
  return crews_stopped () ? -1 : 0;
}

/* Beside others, if there are any. */
int
measure_timing (const struct job *job, struct result *result)
{
  struct crew *others = &crews[OTHERS];
  int r;

  *others = (struct crew) {
    .job = job,
    .threads = (unsigned) (job->idle + job->gone),
    .sharing = (unsigned) job->sharing,
    .limit = OTHERS_REQUESTS,
  };
  if (others->threads == 0)
    return measure_crew (job, result);
  if (crew_start (others) == -1 || crew_wait (others) == -1)
    return -1;
  if (job->gone)
    crew_join (others);
  r = measure_crew (job, result);
  if (!job->gone)
    crew_join (others);
  return r;
}
