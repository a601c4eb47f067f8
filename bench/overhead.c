/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What an nbdkit filter costs: the same requests past it and through it.
 *
 * This program is server, client and plugin in one: it loads the filter as
 * nbdkit does, offers it the functions that nbdkit offers (server*.c), puts
 * a backend behind it that does next to nothing, or sleeps (connection.c,
 * workload.c), and calls it in a loop (worker.c).  Whatever takes time
 * beyond that is the filter.  The loop allocates nothing, and files that
 * are open at the end and were not at the start are an error: a benchmark
 * can measure its own leak.
 */

#include <config.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "child.h"
#include "measure.h"
#include "plan.h"
#include "worker.h"

/* An interrupted measurement fails, and then we end in the usual way. */
static void
interrupted (int sig)
{
  (void) sig;
}

static void
survive_interrupts (void)
{
  const struct sigaction action = { .sa_handler = interrupted };

  sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
}

static int
make_directory (struct plan *plan)
{
  const char *tmpdir = getenv ("TMPDIR");

  snprintf (plan->directory, sizeof plan->directory, "%s/overhead.XXXXXX",
            tmpdir ? tmpdir : "/tmp");
  if (mkdtemp (plan->directory))
    return 0;
  nbdkit_error ("%s: %m", plan->directory);
  return -1;
}

/* A measurement that failed may have left a file a connection. */
static void
remove_directory (const struct plan *plan)
{
  char path[sizeof plan->directory + 16];

  for (unsigned i = 0; i < MAX_THREADS; i++) {
    snprintf (path, sizeof path, "%s/%u", plan->directory, i);
    unlink (path);
  }
  rmdir (plan->directory);
}

static int
profile (const struct plan *plan)
{
  const struct load load = plan_load (plan, plan->nr_sides - 1);
  struct timing timing;

  child_here = true;
  if (measure (&load, &timing) == -1)
    return -1;
  printf ("%s: %.1f ns a request\n", load.side->name, timing.ns);
  return 0;
}

int
main (int argc, char *argv[])
{
  static struct plan plan;
  int r;

  plan_parse (&plan, argc, argv);
  if (make_directory (&plan) == -1)
    return EXIT_FAILURE;
  survive_interrupts ();
  r = plan.profile ? profile (&plan) : plan.table (&plan);
  remove_directory (&plan);
  return r == 0 && fflush (stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
