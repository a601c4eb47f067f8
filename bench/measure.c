/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <dirent.h>
#include <math.h>
#include <time.h>

#include "child.h"
#include "clock.h"
#include "measure.h"
#include "own-threads.h"
#include "worker.h"

/* Of each thread beside those that are measured. */
#define OTHERS_REQUESTS 10

static unsigned
count_open_files (void)
{
  DIR *dir = opendir ("/proc/self/fd");
  unsigned count = 0;

  if (dir == NULL)
    return 0;
  while (readdir (dir))
    count++;
  closedir (dir);
  return count;
}

static void
wait_seconds (double seconds)
{
  const double whole = floor (seconds);
  const struct timespec ts = {
    .tv_sec = (time_t) whole,
    .tv_nsec = (long) ((seconds - whole) * 1e9),
  };

  nanosleep (&ts, NULL);
}

/* What all threads together have used up so far. */
struct reading {
  uint64_t time, requests;
  uint64_t cpu;                 /* of all threads */
  uint64_t filter_cpu;          /* of the crew, in the filter */
  uint64_t own_cpu;             /* of the filter's own threads */
};

static struct reading
read_crew (struct crew *crew)
{
  const struct progress progress = crew_progress (crew);

  return (struct reading) {
    .time = clock_now (),
    .requests = progress.requests,
    .filter_cpu = progress.filter_cpu,
    .cpu = clock_read (CLOCK_PROCESS_CPUTIME_ID),
    .own_cpu = crew->watch ? own_threads_cpu (crew) : 0,
  };
}

static double
each (uint64_t begin, uint64_t end, double requests)
{
  return (double) (end - begin) / requests;
}

static struct timing
timing_between (const struct reading *begin, const struct reading *end,
                const struct crew *crew)
{
  const double requests = (double) (end->requests - begin->requests);

  return (struct timing) {
    .ns = each (begin->time, end->time, requests) * crew->threads,
    .cpu_ns = each (begin->cpu, end->cpu, requests),
    .filter_cpu_ns = each (begin->filter_cpu, end->filter_cpu, requests)
      + each (begin->own_cpu, end->own_cpu, requests),
    .own_cpu_ns = each (begin->own_cpu, end->own_cpu, requests),
    .first = crew->first,
    .longest = crew->longest,
    .all_ns = (double) crew->time,
  };
}

/* All requests of the crew. */
static int
run_through (struct crew *crew, struct timing *timing)
{
  const struct reading begin = read_crew (crew);
  struct reading end;

  if (crew_wait (crew) == -1)
    return -1;
  end = read_crew (crew);
  *timing = timing_between (&begin, &end, crew);
  return 0;
}

/* A while of them, after the threads got going. */
static int
run_for (double seconds, struct crew *crew, struct timing *timing)
{
  struct reading begin, end;

  wait_seconds (seconds / 5);
  begin = read_crew (crew);
  /* On a busy machine a while may pass without any. */
  do {
    wait_seconds (seconds);
    end = read_crew (crew);
  } while (end.requests == begin.requests);
  crew_stop (crew);
  if (crew_wait (crew) == -1)
    return -1;
  *timing = timing_between (&begin, &end, crew);
  return 0;
}

static int
measure_crew (const struct load *load, struct layer *layer,
              struct timing *timing)
{
  struct crew crew = {
    .layer = layer,
    .threads = load->threads,
    .per_connection = load->per_connection,
    .limit = load->requests ? load->requests : UINT64_MAX,
    .pin = load->pin,
    .watch = load->watch,
    .at_once = load->at_once,
  };

  if (crew_start (&crew) == -1)
    return -1;
  if ((load->requests ? run_through (&crew, timing)
       : run_for (load->seconds, &crew, timing)) == -1)
    return -1;
  crew_join (&crew);
  return 0;
}

/* Beside others, if there are any. */
static int
measure_beside (const struct load *load, struct layer *layer,
                struct timing *timing)
{
  struct crew others = {
    .layer = layer,
    .threads = load->others.count,
    .per_connection = load->per_connection,
    .limit = OTHERS_REQUESTS,
  };
  int r;

  if (load->others.count == 0)
    return measure_crew (load, layer, timing);
  if (crew_start (&others) == -1 || crew_wait (&others) == -1)
    return -1;
  if (load->others.gone)
    crew_join (&others);
  r = measure_crew (load, layer, timing);
  if (!load->others.gone)
    crew_join (&others);
  return r;
}

static int
measure_side (const struct load *load, struct timing *timing)
{
  const struct nbdkit_backend backend = {
    .workload = load->workload,
    .directory = load->directory,
    .watch = load->watch,
  };
  struct layer layer;
  int r;

  if (layer_start (&layer, load->side, &backend) == -1)
    return -1;
  if (layer.filter->thread_model && load->threads > 1) {
    nbdkit_error ("this filter may limit requests at a time, which only "
                  "nbdkit could do: measure it with --threads=1");
    return -1;
  }
  r = measure_beside (load, &layer, timing);
  layer_stop (&layer);
  return r;
}

/* In the child. */
static int
measure_here (const void *arg, void *result)
{
  const struct load *load = arg;
  const unsigned files = count_open_files ();
  unsigned left;

  if (load->side == NULL)
    return measure_crew (load, NULL, result);
  if (measure_side (load, result) == -1)
    return -1;
  left = count_open_files ();
  if (left != files) {
    nbdkit_error ("%s: %u files were open before and %u after",
                  load->side->name, files, left);
    return -1;
  }
  return 0;
}

int
measure (const struct load *load, struct timing *timing)
{
  return in_child (measure_here, load, timing, sizeof *timing);
}
