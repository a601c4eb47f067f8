/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "child.h"
#include "clock.h"
#include "measure.h"
#include "worker.h"

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
  uint64_t time, cpu, requests;
};

static struct reading
read_crew (struct crew *crew)
{
  struct timespec cpu;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &cpu);
  return (struct reading) {
    .time = clock_now (),
    .cpu = (uint64_t) cpu.tv_sec * NS_PER_S + (uint64_t) cpu.tv_nsec,
    .requests = crew_done (crew),
  };
}

static struct timing
timing_between (const struct reading *begin, const struct reading *end,
                unsigned threads)
{
  const double requests = (double) (end->requests - begin->requests);

  return (struct timing) {
    .ns = (double) (end->time - begin->time) * threads / requests,
    .cpu_ns = (double) (end->cpu - begin->cpu) / requests,
  };
}

/* Either all requests, or a while of them after the threads got going. */
static int
run_crew (const struct load *load, struct crew *crew, struct timing *timing)
{
  struct reading begin, end;

  crew->limit = load->requests ? load->requests : UINT64_MAX;
  crew->pin = load->pin;
  if (crew_start (crew) == -1)
    return -1;
  if (load->requests == 0)
    wait_seconds (load->seconds / 5);
  begin = read_crew (crew);
  if (load->requests == 0) {
    /* On a busy machine a while may pass without any. */
    do {
      wait_seconds (load->seconds);
      end = read_crew (crew);
    } while (end.requests == begin.requests);
    crew_stop (crew);
    crew_wait (crew);
  }
  else {
    crew_wait (crew);
    end = read_crew (crew);
  }
  crew_join (crew);
  *timing = timing_between (&begin, &end, load->threads);
  return 0;
}

static int
measure_crew (const struct load *load, struct crew *crew,
              struct timing *timing)
{
  if (run_crew (load, crew, timing) == -1)
    return -1;
  if (crew->failed > 0) {
    nbdkit_error ("%" PRIu64 " requests failed, the last one with: %s",
                  crew->failed, strerror (crew->error));
    return -1;
  }
  return 0;
}

/* With the filter started. */
static int
measure_layer (const struct load *load, struct layer *layer,
               struct timing *timing)
{
  static struct client clients[MAX_THREADS];
  const unsigned nr_clients = load->one_connection ? 1 : load->threads;
  struct crew crew = { .layer = layer, .threads = load->threads };
  int r;

  for (unsigned i = 0; i < nr_clients; i++) {
    if (layer_connect (layer, &clients[i]) == -1)
      return -1;
  }
  for (unsigned i = 0; i < load->threads; i++)
    crew.workers[i].client = &clients[load->one_connection ? 0 : i];
  r = measure_crew (load, &crew, timing);
  for (unsigned i = 0; i < nr_clients; i++)
    layer_disconnect (layer, &clients[i]);
  return r;
}

static int
measure_side (const struct load *load, struct timing *timing)
{
  struct layer layer;
  int r;

  if (layer_start (&layer, load->side, load->workload,
                   load->directory) == -1)
    return -1;
  if (layer.filter->thread_model && load->threads > 1) {
    nbdkit_error ("this filter may limit requests at a time, which only "
                  "nbdkit could do: measure it with --threads=1");
    return -1;
  }
  r = measure_layer (load, &layer, timing);
  layer_stop (&layer);
  return r;
}

static int
measure_clock (const struct load *load, struct timing *timing)
{
  struct crew crew = { .threads = load->threads };

  return measure_crew (load, &crew, timing);
}

/* In the child. */
static int
measure_here (const void *arg, void *result)
{
  const struct load *load = arg;
  const unsigned files = count_open_files ();
  unsigned left;

  if (load->side == NULL)
    return measure_clock (load, result);
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
