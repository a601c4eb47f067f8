/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "memory.h"
#include "process.h"

/* How long what was killed may take to be gone: storage that sleeps holds
 * a process, and nothing can be done about it.
 */
#define PATIENCE_NS (10 * NS_PER_S)

static sigset_t requests;       /* for us to end */
static sigset_t awaited;        /* these, and children that end */
static sigset_t before;         /* what was blocked as we started */
static int signal_for_us;

/* By whoever started us, as nohup does.  Then it is no request to end. */
static bool
is_ignored (int signal)
{
  struct sigaction action;

  return sigaction (signal, NULL, &action) == 0
    && action.sa_handler == SIG_IGN;
}

int
processes_init (void)
{
  static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
  sigset_t blocked;

  sigemptyset (&requests);
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    if (!is_ignored (signals[i]))
      sigaddset (&requests, signals[i]);
  }
  awaited = requests;
  sigaddset (&awaited, SIGCHLD);
  /* Whoever reads our output may be gone: then writing fails, and we end
   * in order.
   */
  blocked = awaited;
  sigaddset (&blocked, SIGPIPE);
  if (sigprocmask (SIG_BLOCK, &blocked, &before) == -1)
    return -1;
  /* Where it is ignored no process is left to be waited for. */
  signal (SIGCHLD, SIG_DFL);
  return prctl (PR_SET_CHILD_SUBREAPER, 1);
}

/* Wait for a signal, at most until the deadline. */
static void
wait_for_signal (uint64_t deadline)
{
  struct timespec timeout
    = clock_timespec (clock_since (clock_now (), deadline));
  int signal = sigtimedwait (&awaited, NULL, &timeout);

  if (signal > 0 && signal != SIGCHLD)
    signal_for_us = signal;
}

int
interrupted (void)
{
  static const struct timespec now;

  if (signal_for_us == 0) {
    int signal = sigtimedwait (&requests, NULL, &now);

    if (signal > 0)
      signal_for_us = signal;
  }
  return signal_for_us;
}

void
end_interrupted (void)
{
  sigset_t set;

  fflush (stdout);
  sigemptyset (&set);
  sigaddset (&set, signal_for_us);
  raise (signal_for_us);
  sigprocmask (SIG_UNBLOCK, &set, NULL);
}

/* In the child: become the command. */
static void __attribute__ ((noreturn))
become (const char *const argv[], const struct process_place *place)
{
  setpgid (0, 0);
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  sigprocmask (SIG_SETMASK, &before, NULL);
  close (STDIN_FILENO);
  if (open ("/dev/null", O_RDONLY) != STDIN_FILENO
      || dup2 (place->output, STDOUT_FILENO) == -1
      || dup2 (place->output, STDERR_FILENO) == -1
      || (place->directory && chdir (place->directory) == -1)) {
    dprintf (place->output, "%s: %m\n", argv[0]);
    _exit (126);
  }
  for (const char *const *e = place->environment; e && *e; e += 2)
    setenv (e[0], e[1], 1);
  execvp (argv[0], (char *const *) argv);
  dprintf (STDERR_FILENO, "%s: %m\n", argv[0]);
  _exit (127);
}

int
process_start (struct process *process, const char *const argv[],
               const struct process_place *place)
{
  *process = (struct process) { .pid = fork () };
  if (process->pid == 0)
    become (argv, place);
  if (process->pid == -1)
    return -1;
  /* Whoever is first: nobody may find it in our group. */
  setpgid (process->pid, process->pid);
  return 0;
}

/* Whether it has ended by now. */
static bool
look_at (struct process *process)
{
  if (!process->ended) {
    pid_t pid = waitpid (process->pid, &process->status, WNOHANG);

    process->ended = pid == process->pid || (pid == -1 && errno == ECHILD);
  }
  return process->ended;
}

enum process_news
process_wait (struct process *process, uint64_t deadline)
{
  while (!look_at (process)) {
    if (interrupted ())
      return PROCESS_INTERRUPTED;
    if (clock_now () >= deadline)
      return PROCESS_RUNS;
    /* One that ended just now is told to us by a signal that waits. */
    wait_for_signal (deadline);
  }
  return PROCESS_ENDED;
}

enum process_news
process_wait_anyway (struct process *process, uint64_t deadline)
{
  while (!look_at (process)) {
    if (clock_now () >= deadline)
      return PROCESS_RUNS;
    wait_for_signal (deadline);
  }
  return PROCESS_ENDED;
}

void
process_end (struct process *process, uint64_t patience_ns)
{
  if (look_at (process))
    return;
  kill (-process->pid, SIGTERM);
  if (process_wait_anyway (process, clock_now () + patience_ns)
      == PROCESS_ENDED)
    return;
  kill (-process->pid, SIGKILL);
  process_wait_anyway (process, clock_now () + PATIENCE_NS);
}

/* Kill each of our children.  Theirs become ours then. */
static void
kill_children (void)
{
  char path[64];
  FILE *fp;
  int pid;

  snprintf (path, sizeof path, "/proc/self/task/%d/children", getpid ());
  fp = fopen (path, "re");
  if (fp == NULL)
    return;
  while (fscanf (fp, "%d", &pid) == 1)
    kill (pid, SIGKILL);
  fclose (fp);
}

int
processes_end_all (void)
{
  uint64_t deadline = clock_now () + PATIENCE_NS;
  pid_t pid;

  while ((pid = waitpid (-1, NULL, WNOHANG)) != -1) {
    if (pid > 0)
      continue;
    if (clock_now () >= deadline)
      return -1;
    kill_children ();
    wait_for_signal (clock_now () + NS_PER_S / 10);
  }
  return 0;
}

bool
process_succeeded (const struct process *process)
{
  return process->ended && WIFEXITED (process->status)
    && WEXITSTATUS (process->status) == 0;
}

char *
process_fate (const struct process *process)
{
  int status = process->status;

  if (WIFSIGNALED (status))
    return format_string ("killed by signal %d (%s)", WTERMSIG (status),
                          strsignal (WTERMSIG (status)));
  return format_string ("exit status %d", WEXITSTATUS (status));
}
