/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buffer.h"
#include "clock.h"
#include "files.h"
#include "memory.h"
#include "process.h"
#include "run.h"

/* How long something that was asked to end may take. */
#define PATIENCE_NS (2 * NS_PER_S)

/* For one that only tells something, on however busy a machine. */
#define COMMAND_NS (60 * NS_PER_S)

/* nbdkit writes its report then, and what it serves may be slow. */
#define NBDKIT_PATIENCE_NS (30 * NS_PER_S)

/* As much of what a command says as anyone reads. */
#define MAX_OUTPUT (1024 * 1024)
#define MAX_WORDS 200

/* What is under way. */
struct attempt {
  const struct cell_plan *plan;
  const struct workspace *workspace;
  const char *client;
  bool measured;                /* with the filter */
  bool last;                    /* nothing interrupts what comes now */
  uint64_t deadline;
  struct process nbdkit;
  struct run *run;
};

static char *
state_path (const struct workspace *workspace, const char *name)
{
  return format_string ("%s/%s", workspace->state, name);
}

static char *
output_of (const struct workspace *workspace, const char *name)
{
  char *path = state_path (workspace, name);
  char *output = file_tail (path, MAX_OUTPUT);

  free (path);
  return output ? output : copy_string ("");
}

/* Behind the last line in which nbdkit tells an error, for which others may
 * follow that say where to read more; 0 where there is none.
 */
static size_t
end_of_error (const char *output)
{
  static const char error[] = ": error: ";
  const char *next = strstr (output, error), *last = NULL;

  for (; next; next = strstr (next + 1, error))
    last = next;
  return last ? (size_t) (last - output) + strcspn (last, "\n") : 0;
}

/* The last line that is not blank, and not too long. */
static char *
last_words (const char *output)
{
  size_t end = end_of_error (output), begin;

  if (end == 0)
    end = strlen (output);
  while (end > 0 && strchr ("\n\r\t ", output[end - 1]))
    end--;
  begin = end;
  while (begin > 0 && output[begin - 1] != '\n' && end - begin < MAX_WORDS)
    begin--;
  return copy_bytes (output + begin, end - begin);
}

/* The first thing that goes wrong is the reason for all others. */
static int
failed (struct attempt *a, const char *what, const char *how)
{
  char *output = output_of (a->workspace, what);
  char *words = last_words (output);

  if (a->run->failure == NULL && !a->run->interrupted)
    a->run->failure = format_string ("%s: %s%s%s", what, how,
                                     *words ? ": " : "", words);
  free (words);
  free (output);
  return -1;
}

/* Start a command whose output becomes the file of that name. */
static int
start (struct attempt *a, struct process *process, const char *what,
       const char *const argv[], const char *const environment[])
{
  char *path = state_path (a->workspace, what);
  struct process_place place = {
    .directory = a->workspace->images,
    .environment = environment,
    .output = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC,
                    0600),
  };
  int r = -1;

  if (place.output != -1) {
    r = process_start (process, argv, &place);
    close (place.output);
  }
  free (path);
  return r == -1 ? failed (a, what, strerror (errno)) : 0;
}

/* Wait for its end, and make it end where that is needed. */
static int
finish (struct attempt *a, struct process *process, const char *what,
        uint64_t deadline)
{
  enum process_news news = a->last ? process_wait_anyway (process, deadline)
    : process_wait (process, deadline);
  char *fate;

  if (news != PROCESS_ENDED)
    process_end (process, PATIENCE_NS);
  if (news == PROCESS_INTERRUPTED)
    a->run->interrupted = true;
  if (news == PROCESS_RUNS)
    return failed (a, what, "ended by the timeout");
  if (news == PROCESS_ENDED && process_succeeded (process))
    return 0;
  fate = process_fate (process);
  failed (a, what, fate);
  free (fate);
  return -1;
}

/* A shell command of the job, if there is one. */
static int
run_shell (struct attempt *a, const char *what, const char *command,
           const char *const environment[])
{
  const char *const argv[] = { "sh", "-e", "-c", command, NULL };
  struct process process;

  if (command == NULL)
    return 0;
  if (start (a, &process, what, argv, environment) == -1)
    return -1;
  return finish (a, &process, what, a->deadline);
}

/* nbdkit serves once it has written the number of its process. */
static int
wait_for_nbdkit (struct attempt *a, const char *pid_file)
{
  struct stat st;

  while (stat (pid_file, &st) == -1 || st.st_size == 0) {
    uint64_t soon = clock_now () + NS_PER_S / 1000;

    if (process_wait (&a->nbdkit, soon) != PROCESS_RUNS
        || soon >= a->deadline)
      return finish (a, &a->nbdkit, "nbdkit", a->deadline) == -1 ? -1
        : failed (a, "nbdkit", "does not serve");
  }
  return 0;
}

/* The last filter is the one nearest the plugin. */
static char *
nbdkit_script (const struct attempt *a)
{
  return format_string ("exec \"$0\" -f -U \"$1\" -P \"$2\" %s%s",
                        a->plan->nbdkit, a->measured
                        ? " --filter=\"$3\" statsformat=json statsfile=\"$4\""
                        : "");
}

static int
start_nbdkit (struct attempt *a, const char *sock)
{
  char *script = nbdkit_script (a);
  char *pid_file = state_path (a->workspace, "pid");
  char *report = state_path (a->workspace, "report");
  const char *const argv[] = {
    "sh", "-e", "-c", script, a->plan->nbdkit_program, sock, pid_file,
    a->plan->filter, report, NULL
  };
  int r = start (a, &a->nbdkit, "nbdkit", argv, NULL);

  if (r == 0)
    r = wait_for_nbdkit (a, pid_file);
  free (script);
  free (pid_file);
  free (report);
  return r;
}

/* A path may have characters that a URI must not have. */
static char *
make_uri (const char *sock)
{
  struct buffer buffer;
  FILE *fp = buffer_open (&buffer);
  char *uri;

  if (fp == NULL)
    return copy_string ("");
  fputs ("nbd+unix:///?socket=", fp);
  for (const char *p = sock; *p; p++) {
    if (isalnum ((unsigned char) *p) || strchr ("/-._~", *p))
      putc (*p, fp);
    else
      fprintf (fp, "%%%02X", (unsigned char) *p);
  }
  buffer_close (fp);
  uri = copy_bytes (buffer.data, buffer.size);
  free (buffer.data);
  return uri;
}

static int
run_client (struct attempt *a, const char *sock)
{
  char *uri = make_uri (sock);
  const char *const environment[] = {
    "uri", uri, "unixsocket", sock, NULL
  };
  uint64_t begin = clock_now ();
  int r = run_shell (a, "client", a->client, environment);

  a->run->wall_s = (double) clock_since (begin, clock_now ()) / NS_PER_S;
  free (uri);
  return r;
}

static int
read_report (struct attempt *a)
{
  char *text = output_of (a->workspace, "report");
  int r = figures_parse (&a->run->figures, text);

  free (text);
  return r == -1 ? failed (a, "nbdkit", "it wrote no report") : 0;
}

/* Then that is the reason, whatever the client said. */
static int
nbdkit_ended (struct attempt *a)
{
  char *fate = process_fate (&a->nbdkit);

  free (a->run->failure);
  a->run->failure = NULL;
  failed (a, "nbdkit", fate);
  free (fate);
  return -1;
}

static int
stop_nbdkit (struct attempt *a)
{
  if (process_wait (&a->nbdkit, 0) == PROCESS_ENDED)
    return nbdkit_ended (a);
  process_end (&a->nbdkit, NBDKIT_PATIENCE_NS);
  return a->measured ? read_report (a) : 0;
}

static int
serve (struct attempt *a)
{
  char *sock = state_path (a->workspace, "socket");
  int r = start_nbdkit (a, sock);

  if (r == 0) {
    r = run_client (a, sock);
    if (stop_nbdkit (a) == -1)
      r = -1;
  }
  free (sock);
  return r;
}

static int
make_empty (const struct workspace *workspace)
{
  directory_remove (workspace->images);
  directory_remove (workspace->state);
  return mkdir (workspace->images, 0700) == -1
    || mkdir (workspace->state, 0700) == -1 ? -1 : 0;
}

/* Also when the rest failed: what prepare made may have to be undone. */
static void
clean_up (struct attempt *a)
{
  a->last = true;
  a->deadline = clock_now () + a->plan->timeout_ns;
  run_shell (a, "cleanup", a->plan->cleanup, NULL);
  if (processes_end_all () == -1)
    failed (a, "run", "a process does not end");
}

static void
try_to_run (struct attempt *a)
{
  *a->run = (struct run) { .client = client_read ("") };
  a->deadline = clock_now () + a->plan->timeout_ns;
  if (make_empty (a->workspace) == -1)
    failed (a, "run", strerror (errno));
  else if (run_shell (a, "prepare", a->plan->prepare, NULL) == 0)
    serve (a);
  clean_up (a);
}

void
run_cell (const struct cell_plan *plan, const struct workspace *workspace,
          struct run *run)
{
  struct attempt a = {
    .plan = plan, .workspace = workspace, .client = plan->client,
    .measured = true, .run = run,
  };
  char *output;

  try_to_run (&a);
  output = output_of (workspace, "client");
  run->client = client_read (output);
  free (output);
}

char *
run_other (const struct cell_plan *plan, const struct workspace *workspace,
           const char *client)
{
  struct run run;
  struct attempt a = {
    .plan = plan, .workspace = workspace, .client = client, .run = &run,
  };
  char *output;

  try_to_run (&a);
  output = run.failure ? NULL : output_of (workspace, "client");
  run_free (&run);
  return output;
}

char *
run_command (const char *command, const struct workspace *workspace)
{
  struct run run = { .failure = NULL };
  struct attempt a = {
    .workspace = workspace, .deadline = clock_now () + COMMAND_NS,
    .run = &run,
  };
  char *output = NULL;

  if (run_shell (&a, "command", command, NULL) == 0)
    output = output_of (workspace, "command");
  processes_end_all ();
  run_free (&run);
  return output;
}

void
run_free (struct run *run)
{
  free (run->failure);
  figures_free (&run->figures);
}

static const char *
temporary_directory (const char *otherwise)
{
  const char *directory = getenv ("TMPDIR");

  return directory && *directory ? directory : otherwise;
}

int
workspace_make (struct workspace *workspace, const char *images)
{
  /* What is in /var/tmp is on a disk, and may be large. */
  *workspace = (struct workspace) {
    .images = directory_make (images ? images
                              : temporary_directory ("/var/tmp")),
  };
  if (workspace->images)
    workspace->state
      = directory_make (directory_for_socket (temporary_directory ("/tmp")));
  if (workspace->state)
    return 0;
  workspace_remove (workspace);
  return -1;
}

void
workspace_remove (struct workspace *workspace)
{
  if (workspace->images)
    directory_remove (workspace->images);
  if (workspace->state)
    directory_remove (workspace->state);
  free (workspace->images);
  free (workspace->state);
  *workspace = (struct workspace) { .images = NULL };
}
