/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beside.h"
#include "inside.h"
#include "memory.h"
#include "opening.h"
#include "plan.h"
#include "speed.h"
#include "table.h"
#include "worker.h"

static void
usage (void)
{
  printf ("\
Usage: overhead [OPTION...] [[NAME:]FILTER.so [KEY=VALUE...]]...\n\
\n\
Measures what nbdkit filters cost: the same requests, half reads and half\n\
writes, past each filter and through it, in turn.  NAME is for the table,\n\
and KEY=VALUE are parameters of the filter before them.\n\
\n\
  -b, --backend=NAME,...    what is behind the filter (default: all that\n\
                            do not sleep)\n\
  -t, --threads=N,...       threads that send requests (default: 1,2,4,16)\n\
  -C, --per-connection=N    so many of them share a connection (default: 1)\n\
      --pin                 bind the threads to the CPUs in turn\n\
  -r, --repeat=N            rounds (default: 7)\n\
  -s, --seconds=N           length of each measurement (default: 0.1)\n\
  -n, --requests=N          each thread sends N requests instead\n\
  -v, --verbose             show the filters' debug messages\n\
  -h, --help                show this\n\
\n\
Instead of how long a request takes:\n\
  -w, --watch               what each one spends in the filter alone: wants\n\
                            a backend that sleeps\n\
  -i, --idle=N,...          the same beside N threads that wait, with the\n\
                            first number of threads\n\
  -g, --gone=N,...          and beside N threads that have ended\n\
  -o, --at-once             how long it takes until all connections are\n\
                            open and each thread has sent 10 requests\n\
  -c, --connections=N       memory, while N connections come and go, with\n\
                            the first number of threads each (default: 16)\n\
  -p, --profile             for profilers: only through the last filter, in\n\
                            this process, with the first backend and\n\
                            number of threads\n\
\n\
Backends:");
  for (const struct workload *w = workloads; w->name; w++)
    printf (" %s", w->name);
  printf ("\n");
}

__attribute__ ((noreturn))
static void
wrong (const char *what, const char *value)
{
  fprintf (stderr, "overhead: %s: %s (see --help)\n", value, what);
  exit (EXIT_FAILURE);
}

static unsigned
parse_number (const char *str, unsigned max)
{
  unsigned value;

  if (nbdkit_parse_unsigned ("number", str, &value) == -1)
    exit (EXIT_FAILURE);
  if (value < 1 || value > max)
    wrong ("too small or too large", str);
  return value;
}

static double
parse_seconds (const char *str)
{
  char *end;
  double value = strtod (str, &end);

  if (end == str || *end || !(value > 0 && value < 3600))
    wrong ("not a number of seconds", str);
  return value;
}

static void
parse_threads (struct plan *plan, char *list)
{
  plan->nr_threads = 0;
  for (char *s = strtok (list, ","); s; s = strtok (NULL, ",")) {
    if (plan->nr_threads == MAX_THREAD_COUNTS)
      wrong ("too many", s);
    plan->threads[plan->nr_threads++] = parse_number (s, MAX_THREADS);
  }
  if (plan->nr_threads == 0)
    wrong ("is empty", "--threads");
}

static void
parse_others (struct plan *plan, char *list, bool gone)
{
  for (char *s = strtok (list, ","); s; s = strtok (NULL, ",")) {
    if (plan->nr_others == MAX_OTHERS)
      wrong ("too many", s);
    plan->others[plan->nr_others++] = (struct others) {
      .count = parse_number (s, MAX_THREADS), .gone = gone,
    };
  }
  plan->table = beside_table;
}

static void
add_workload (struct plan *plan, const struct workload *workload)
{
  if (plan->nr_workloads == MAX_WORKLOADS)
    wrong ("too many", workload->name);
  plan->workloads[plan->nr_workloads++] = workload;
}

static void
parse_workloads (struct plan *plan, char *list)
{
  for (char *s = strtok (list, ","); s; s = strtok (NULL, ",")) {
    const struct workload *workload = workload_find (s);

    if (workload == NULL)
      wrong ("no such backend", s);
    add_workload (plan, workload);
  }
}

/* What nbdkit takes for a parameter. */
static bool
is_param (const char *arg)
{
  const char *s = arg;

  if (!isalpha ((unsigned char) *s))
    return false;
  while (isalnum ((unsigned char) *s) || (*s && strchr ("._-", *s)))
    s++;
  return *s == '=';
}

/* The NAME of .../nbdkit-NAME-filter.so, or of .../NAME. */
static const char *
name_of (const char *path)
{
  static const char prefix[] = "nbdkit-", suffix[] = "-filter.so";
  const char *base = strrchr (path, '/') + 1;
  const char *end = strstr (base, suffix);

  if (strncmp (base, prefix, strlen (prefix)) == 0)
    base += strlen (prefix);
  return nbdkit_strndup_intern (base, end ? (size_t) (end - base)
                                : strlen (base));
}

/* [NAME:]FILTER.so; a NAME has no slash. */
static struct side
parse_filter (char *arg)
{
  char *colon = strchr (arg, ':'), *slash = strchr (arg, '/');
  const bool named = colon && (slash == NULL || colon < slash);
  struct side side = { .path = named ? colon + 1 : arg };

  if (strchr (side.path, '/') == NULL)
    wrong ("the filter's path must have a slash", side.path);
  if (named)
    *colon = '\0';
  side.name = named ? arg : name_of (arg);
  return side;
}

static void
parse_sides (struct plan *plan, char *args[])
{
  plan->sides[0] = (struct side) { .name = "bypassed" };
  plan->nr_sides = 1;
  for (; *args; args++) {
    struct side *last = &plan->sides[plan->nr_sides - 1];

    if (is_param (*args)) {
      if (last->path == NULL)
        wrong ("there is no filter before this parameter", *args);
      if (last->nr_params++ == 0)
        last->params = args;
    }
    else if (strcmp (*args, "none") != 0) {
      if (plan->nr_sides == MAX_SIDES)
        wrong ("too many filters", *args);
      plan->sides[plan->nr_sides++] = parse_filter (*args);
    }
  }
}

static void
parse_option (struct plan *plan, int option)
{
  switch (option) {
  case 'b': parse_workloads (plan, optarg); break;
  case 't': parse_threads (plan, optarg); break;
  case 'C': plan->per_connection = parse_number (optarg, MAX_THREADS); break;
  case 'P': plan->pin = true; break;
  case 'r': plan->rounds = parse_number (optarg, MAX_ROUNDS); break;
  case 's': plan->seconds = parse_seconds (optarg); break;
  case 'n': plan->requests = parse_number (optarg, UINT32_MAX); break;
  case 'w': plan->table = inside_table; break;
  case 'i': parse_others (plan, optarg, false); break;
  case 'g': parse_others (plan, optarg, true); break;
  case 'o': plan->table = opening_table; break;
  case 'c':
    plan->connections = parse_number (optarg, 1000000);
    plan->table = memory_table;
    break;
  case 'p': plan->profile = true; break;
  case 'v': server_verbose = true; break;
  case 'h': usage (); exit (EXIT_SUCCESS);
  default: wrong ("cannot be read", "command line");
  }
}

static void
set_defaults (struct plan *plan)
{
  static const unsigned threads[] = { 1, 2, 4, 16 };

  if (plan->nr_workloads == 0) {
    for (const struct workload *w = workloads; w->name; w++) {
      if (!w->sleeps)
        add_workload (plan, w);
    }
  }
  if (plan->nr_threads == 0 && plan->table == memory_table) {
    plan->threads[0] = 16;
    plan->nr_threads = 1;
  }
  if (plan->nr_threads == 0) {
    memcpy (plan->threads, threads, sizeof threads);
    plan->nr_threads = sizeof threads / sizeof threads[0];
  }
}

void
plan_parse (struct plan *plan, int argc, char *argv[])
{
  static const struct option options[] = {
    { "backend", required_argument, NULL, 'b' },
    { "threads", required_argument, NULL, 't' },
    { "per-connection", required_argument, NULL, 'C' },
    { "pin", no_argument, NULL, 'P' },
    { "repeat", required_argument, NULL, 'r' },
    { "seconds", required_argument, NULL, 's' },
    { "requests", required_argument, NULL, 'n' },
    { "watch", no_argument, NULL, 'w' },
    { "idle", required_argument, NULL, 'i' },
    { "gone", required_argument, NULL, 'g' },
    { "at-once", no_argument, NULL, 'o' },
    { "connections", required_argument, NULL, 'c' },
    { "profile", no_argument, NULL, 'p' },
    { "verbose", no_argument, NULL, 'v' },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
  };
  int option;

  *plan = (struct plan) {
    .per_connection = 1, .nr_others = 1, .rounds = 7, .seconds = 0.1,
    .table = speed_table,
  };
  while ((option = getopt_long (argc, argv, "b:t:C:r:s:n:wi:g:oc:pvh",
                                options, NULL)) != -1)
    parse_option (plan, option);
  parse_sides (plan, &argv[optind]);
  set_defaults (plan);
}

struct load
plan_load (const struct plan *plan, unsigned side)
{
  return (struct load) {
    .side = &plan->sides[side],
    .workload = plan->workloads[0],
    .directory = plan->directory,
    .threads = plan->threads[0],
    .per_connection = plan->per_connection,
    .pin = plan->pin,
    .seconds = plan->seconds,
    .requests = plan->requests,
  };
}

unsigned
plan_columns (const struct plan *plan, struct column *columns,
              unsigned count)
{
  static char title[TABLE_CELL];

  if (plan->nr_sides <= 2)
    return count - 1;
  snprintf (title, sizeof title, "/ %s", plan->sides[1].name);
  columns[count - 1].title = title;
  return count;
}

int
plan_cells (const struct plan *plan,
            int (*fn) (const struct plan *plan,
                       const struct workload *workload, unsigned threads))
{
  for (unsigned i = 0; i < plan->nr_workloads; i++) {
    for (unsigned j = 0; j < plan->nr_threads; j++) {
      if (fn (plan, plan->workloads[i], plan->threads[j]) == -1)
        return -1;
    }
  }
  return 0;
}

int
plan_in_turn (const struct plan *plan, unsigned count,
              int (*fn) (void *arg, unsigned i), void *arg)
{
  for (unsigned round = 0; round < plan->rounds; round++) {
    for (unsigned i = 0; i < count; i++) {
      if (fn (arg, (i + round) % count) == -1)
        return -1;
    }
  }
  return 0;
}
