/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Runs commands so that none of them is left behind, whatever they do.
 *
 * Each has a process group of its own.  What they start and leave becomes
 * our child, since we are its subreaper, and ends in processes_end_all.
 * Signals that would end us are not handled but waited for: they end the
 * wait, and interrupted tells of them.
 *
 * For a program with one thread.
 */

#ifndef TOOLS_PROCESS_H
#define TOOLS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
  pid_t pid;                    /* also the number of its group */
  bool ended;
  int status;                   /* as waitpid gives it, once it has ended */
};

/* Before the others, once.  A signal that is ignored then stays so.  Returns
 * -1 and sets errno.
 */
extern int processes_init (void);

/* The number of the signal that asked us to end, or 0. */
extern int interrupted (void);

/* When nothing is left: the signal that asked us to end does it now. */
extern void end_interrupted (void);

/* Where a command runs.  It reads nothing. */
struct process_place {
  const char *directory;        /* or NULL: ours */
  int output;                   /* the descriptor of what it says */

  /* Added to its environment: NAME, VALUE, ..., NULL.  Or NULL. */
  const char *const *environment;
};

/* argv[0] is looked for in PATH.  Returns -1 and sets errno where there can
 * be no process; a program that is not there ends with status 127.
 */
extern int process_start (struct process *process, const char *const argv[],
                          const struct process_place *place);

enum process_news {
  PROCESS_ENDED,
  PROCESS_RUNS,                 /* at the deadline, a time of clock_now */
  PROCESS_INTERRUPTED,          /* by a signal for us */
};

extern enum process_news process_wait (struct process *process,
                                       uint64_t deadline);

/* The same, and no signal for us interrupts it. */
extern enum process_news process_wait_anyway (struct process *process,
                                              uint64_t deadline);

/* Ask the whole group to end, and do not ask again after so long. */
extern void process_end (struct process *process, uint64_t patience_ns);

/* End all that was started, and all that these have started and left.
 * Returns -1 where something would not end.
 */
extern int processes_end_all (void);

/* Whether it ended as it should. */
extern bool process_succeeded (const struct process *process);

/* "exit status 1", "killed by signal 9 (Killed)".  The caller frees it. */
extern char *process_fate (const struct process *process);

#endif /* TOOLS_PROCESS_H */
