/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* nbdkit-stats: what is done with the filter's reports.  Finds the
 * sub-command and runs it.
 */

#include <config.h>

#include <stdio.h>
#include <string.h>

#include "command.h"
#include "errors.h"

/* In the order of the manual. */
static const struct command commands[] = {
  { "bench", "benchmarks, and whether environments differ", bench_command },
  { "compare", "what one result has that another has not", compare_command },
  { "overhead", "what a filter of nbdkit costs", overhead_command },
  { "report", "a stored report in another form", report_command },
  { .name = NULL }
};

static void
write_help (void)
{
  printf ("Usage: nbdkit-stats COMMAND [OPTION]... [ARGUMENT]...\n"
          "\n"
          "Commands:\n");
  for (const struct command *c = commands; c->name; c++)
    printf ("  %-12s%s\n", c->name, c->summary);
  printf ("\n"
          "Options:\n"
          "  --help      this text; after a command: what it takes\n"
          "  --version   the version of the program\n"
          "\n"
          "The manual is nbdkit-stats(1).\n");
}

/* What stands where a command would. */
static int
run_option (const char *option)
{
  if (strcmp (option, "--help") == 0)
    write_help ();
  else if (strcmp (option, "--version") == 0)
    printf ("nbdkit-stats %s\n", PACKAGE_VERSION);
  else {
    tell_error ("unknown %s %s; see nbdkit-stats --help",
                option[0] == '-' ? "option" : "command", option);
    return STATUS_BAD;
  }
  return STATUS_OK;
}

static int
run (int argc, char *argv[])
{
  for (const struct command *c = commands; c->name; c++) {
    if (strcmp (c->name, argv[0]) == 0)
      return c->run (argc, argv);
  }
  return run_option (argv[0]);
}

int
main (int argc, char *argv[])
{
  if (argc < 2) {
    tell_error ("a command is missing; see nbdkit-stats --help");
    return STATUS_BAD;
  }
  return finish_output (run (argc - 1, argv + 1));
}
