/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Sub-commands.  Each is a function and a row in the table in main.c, and
 * lives in a file of its own.
 */

#ifndef TOOLS_COMMAND_H
#define TOOLS_COMMAND_H

#include <getopt.h>

struct command {
  const char *name;
  const char *summary;          /* one line */

  /* argv[0] is the command's name.  Returns an enum exit_status. */
  int (*run) (int argc, char *argv[]);
};

extern int bench_command (int argc, char *argv[]);
extern int compare_command (int argc, char *argv[]);
extern int overhead_command (int argc, char *argv[]);
extern int report_command (int argc, char *argv[]);

/* For --help, which every command has: the last entry of its options, so
 * that each also ends the list.  Its short name is h.
 */
#define HELP_OPTION                                       \
  { "help", no_argument, NULL, 'h' },                     \
  { .name = NULL }

/* The next of a command's options, as getopt_long gives it: its val, with
 * optarg, or -1 after the last, when optind is the first argument.  Only
 * long ones are known, and arguments may stand before them.  --help writes
 * help, which ends in a newline and names each option at the start of a
 * line, for the completion too; then the program ends here, as it does
 * after telling what is wrong with an option.
 */
extern int next_option (int argc, char *argv[], const struct option *options,
                        const char *help);

/* The same where the order counts: arguments come in their places, too,
 * with 1 and optarg.
 */
extern int next_word (int argc, char *argv[], const struct option *options,
                      const char *help);

/* What was said is not what the command takes: tells the message with the
 * command's name, argv[0], and that --help helps.  Returns STATUS_BAD.
 */
extern int bad_usage (char *argv[], const char *fmt, ...)
  __attribute__ ((format (printf, 2, 3)));

/* Give out what was written to standard output so far.  That it could not
 * be written is told at the end.
 */
extern void flush_output (void);

/* Give out the rest.  Returns status, or STATUS_BAD after telling that not
 * all could be written.
 */
extern int finish_output (int status);

#endif /* TOOLS_COMMAND_H */
