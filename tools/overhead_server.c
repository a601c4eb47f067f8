/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "errors.h"
#include "files.h"
#include "installed.h"
#include "memory.h"
#include "overhead_server.h"
#include "process.h"

/* How much is told of what nbdkit said. */
#define SAID_LEN 2048
#define SAID_LINES 5

/* Until it has to have ended that was asked to. */
#define PATIENCE_NS (2 * NS_PER_S)

/* In the directory; nbdkit leaves its socket there. */
#define SOCKET_FILE "socket"
#define LOG_FILE "log"

/* The command line. */

struct words {
  char **words;                 /* each to be freed */
  size_t count;
};

static void
add_word (struct words *words, char *word)
{
  words->words = grow (words->words, words->count, sizeof *words->words);
  words->words[words->count++] = word;
}

static void
free_words (struct words *words)
{
  for (size_t i = 0; i < words->count; i++)
    free (words->words[i]);
  free (words->words);
}

static char *
path_of (const struct measurement *m, const char *name)
{
  return format_string ("%s/%s", m->plan->directory, name);
}

static void
add_nbdkit (struct words *words, const struct measurement *m)
{
  char *load = installed_load ();       /* the filter, and the plugin */

  add_word (words, copy_string (m->plan->nbdkit));
  add_word (words, copy_string ("--foreground"));
  add_word (words, copy_string ("--unix"));
  add_word (words, path_of (m, SOCKET_FILE));
  add_word (words, format_string ("--filter=%s", load));
  if (m->side->filter)
    add_word (words, format_string ("--filter=%s", m->side->filter));
  add_word (words, load);
}

/* What a thread has freed glibc keeps for it, a few pieces of each size, and
 * counts as allocated: where memory is measured, not.
 */
static void
add_environment (struct words *words, const struct measurement *m)
{
  if (m->job.connections == 0)
    return;
  add_word (words, copy_string ("env"));
  add_word (words,
            copy_string ("GLIBC_TUNABLES=glibc.malloc.tcache_count=0"));
}

static void
add_params (struct words *words, const struct measurement *m)
{
  add_word (words, format_string (JOB_BACKEND "=%s", m->backend->name));
  add_word (words, format_string (JOB_DIRECTORY "=%s", m->plan->directory));
#define X(name)                                                           \
  if (m->job.name)                                                        \
    add_word (words, format_string (JOB_PREFIX #name "=%" PRIu64,         \
                                    m->job.name));
  JOB_NUMBERS (X)
#undef X
  for (unsigned i = 0; i < m->side->nr_params; i++)
    add_word (words, copy_string (m->side->params[i]));
}

/* What nbdkit says goes to a file. */

static int
open_log (const struct measurement *m)
{
  char *path = path_of (m, LOG_FILE);
  const int fd = open (path,
                       O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC,
                       0600);

  if (fd == -1)
    tell_error_at (path, 0, "%m");
  free (path);
  return fd;
}

/* The last words: what it says of us comes after what filters say.  Returns
 * whether there were any.
 */
static bool
tell_said (const struct measurement *m)
{
  char *path = path_of (m, LOG_FILE), *said = file_tail (path, SAID_LEN);
  char *lines[SAID_LINES], *rest = said, *line;
  unsigned nr = 0;

  while (rest && (line = strsep (&rest, "\n"))) {
    if (*line)
      lines[nr++ % SAID_LINES] = line;
  }
  for (unsigned i = nr > SAID_LINES ? nr - SAID_LINES : 0; i < nr; i++)
    tell_error ("%s: %s", m->side->name, lines[i % SAID_LINES]);
  free (said);
  free (path);
  return nr > 0;
}

/* What it brought. */

static int
read_file (const struct measurement *m, const char *name, void *buf,
           size_t size)
{
  char *path = path_of (m, name);
  const int fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t n = -1;

  if (fd != -1) {
    n = read (fd, buf, size);
    close (fd);
  }
  free (path);
  return n == (ssize_t) size ? 0 : -1;
}

static int
read_result (const struct measurement *m, struct result *result)
{
  if (read_file (m, RESULT_FILE, result, sizeof *result) == -1)
    return -1;
  if (result->size == sizeof *result)
    return 0;
  tell_error ("the load filter is of another version than this program");
  return -1;
}

/* What the next nbdkit shall not find. */
static void
remove_files (const struct measurement *m)
{
  static const char *const names[] = { RESULT_FILE, SOCKET_FILE };

  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char *path = path_of (m, names[i]);

    unlink (path);
    free (path);
  }
}

/* Run it. */

/* Until it has ended, whatever comes. */
static int
run (const struct measurement *m, const struct words *words, int log,
     struct process *process)
{
  const uint64_t deadline = clock_now () + m->job.duration + m->plan->timeout;
  const struct process_place place = { .output = log };
  enum process_news news;

  if (process_start (process, (const char *const *) words->words,
                     &place) == -1) {
    tell_error ("%s: %m", words->words[0]);
    return -1;
  }
  news = process_wait (process, deadline);
  process_end (process, PATIENCE_NS);
  if (news == PROCESS_ENDED)
    return 0;
  if (news == PROCESS_RUNS)
    tell_error ("%s: no end of a measurement was in sight; see --timeout",
                m->side->name);
  return -1;
}

/* It ended without a result. */
static void
tell_failure (const struct measurement *m, const struct process *process)
{
  const bool said = tell_said (m);
  char *fate;

  if (said && !WIFSIGNALED (process->status))
    return;
  fate = process_fate (process);
  tell_error ("%s: nbdkit left no result: %s", m->side->name, fate);
  free (fate);
}

/* Run the words and have the result read. */
static int
run_words (const struct measurement *m, struct words *words,
           struct result *result)
{
  const int log = open_log (m);
  struct process process;
  int r = -1;

  add_word (words, NULL);
  if (log != -1 && run (m, words, log, &process) == 0) {
    r = read_result (m, result);
    if (r == -1)
      tell_failure (m, &process);
  }
  if (log != -1)
    close (log);
  remove_files (m);
  free_words (words);
  return r;
}

int
serve (const struct measurement *m, struct result *result)
{
  struct words words = { 0 };

  add_environment (&words, m);
  add_nbdkit (&words, m);
  add_params (&words, m);
  return run_words (m, &words, result);
}

/* Under callgrind. */

#define COUNTS_FILE "callgrind"

/* The line "totals: N" of what it writes. */
static int
read_counts (const struct measurement *m, uint64_t *instructions)
{
  char *path = path_of (m, COUNTS_FILE);
  FILE *fp = fopen (path, "re");
  char line[256];
  int r = -1;

  while (fp && r == -1 && fgets (line, sizeof line, fp)) {
    if (sscanf (line, "totals: %" SCNu64, instructions) == 1)
      r = 0;
  }
  if (r == -1)
    tell_error ("%s: valgrind did not count", m->side->name);
  if (fp)
    fclose (fp);
  unlink (path);
  free (path);
  return r;
}

int
serve_counted (const struct measurement *m, uint64_t *instructions)
{
  struct words words = { 0 };
  struct result result;

  add_word (&words, copy_string ("valgrind"));
  add_word (&words, copy_string ("--tool=callgrind"));
  add_word (&words, copy_string ("--quiet"));
  /* NBDKIT may be a script that becomes nbdkit. */
  add_word (&words, copy_string ("--trace-children=yes"));
  add_word (&words, format_string ("--callgrind-out-file=%s/" COUNTS_FILE,
                                   m->plan->directory));
  add_nbdkit (&words, m);
  add_params (&words, m);
  if (run_words (m, &words, &result) == -1)
    return -1;
  return read_counts (m, instructions);
}
