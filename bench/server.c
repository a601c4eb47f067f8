/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The functions that nbdkit offers to filters, as far as a filter needs
 * them here: messages, strings, files, and who the client is.
 */

#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "connection.h"
#include "server.h"

bool server_verbose;

/* Messages. */

__attribute__ ((format (printf, 2, 0)))
static void
message (const char *kind, const char *msg, va_list args)
{
  const int saved_errno = errno;

  fprintf (stderr, "overhead: %s: ", kind);
  errno = saved_errno;          /* for %m */
  vfprintf (stderr, msg, args);
  fputc ('\n', stderr);
  errno = saved_errno;
}

void
nbdkit_verror (const char *msg, va_list args)
{
  message ("error", msg, args);
}

void
nbdkit_error (const char *msg, ...)
{
  va_list args;

  va_start (args, msg);
  message ("error", msg, args);
  va_end (args);
}

void
nbdkit_vdebug (const char *msg, va_list args)
{
  if (server_verbose)
    message ("debug", msg, args);
}

void
nbdkit_debug (const char *msg, ...)
{
  va_list args;

  va_start (args, msg);
  nbdkit_vdebug (msg, args);
  va_end (args);
}

/* Strings that live as long as the server: until this process ends. */

const char *
nbdkit_strdup_intern (const char *str)
{
  return strdup (str);
}

const char *
nbdkit_strndup_intern (const char *str, size_t n)
{
  return strndup (str, n);
}

const char *
nbdkit_vprintf_intern (const char *msg, va_list args)
{
  char *str;

  return vasprintf (&str, msg, args) == -1 ? NULL : str;
}

const char *
nbdkit_printf_intern (const char *msg, ...)
{
  const char *str;
  va_list args;

  va_start (args, msg);
  str = nbdkit_vprintf_intern (msg, args);
  va_end (args);
  return str;
}

/* Files. */

char *
nbdkit_absolute_path (const char *path)
{
  char dir[PATH_MAX], *absolute;

  if (path[0] == '/')
    return strdup (path);
  if (getcwd (dir, sizeof dir) == NULL
      || asprintf (&absolute, "%s/%s", dir, path) == -1) {
    nbdkit_error ("%s: %m", path);
    return NULL;
  }
  return absolute;
}

char *
nbdkit_realpath (const char *path)
{
  char *absolute = realpath (path, NULL);

  if (absolute == NULL)
    nbdkit_error ("%s: %m", path);
  return absolute;
}

/* As without -s. */
int
nbdkit_stdio_safe (void)
{
  return 1;
}

int
nbdkit_read_password (const char *value, char **password)
{
  *password = strdup (value);
  return *password ? 0 : -1;
}

int
nbdkit_nanosleep (unsigned sec, unsigned nsec)
{
  const struct timespec ts = {
    .tv_sec = sec + nsec / 1000000000, .tv_nsec = nsec % 1000000000,
  };

  return nanosleep (&ts, NULL);
}

/* The end comes soon anyway. */
void
nbdkit_shutdown (void)
{
  nbdkit_debug ("the filter asked the server to end");
}

/* The client is like one on a Unix socket of which nothing is known. */

int
nbdkit_peer_name (struct sockaddr *addr, socklen_t *addrlen)
{
  addr->sa_family = AF_UNIX;
  *addrlen = sizeof addr->sa_family;
  return 0;
}

int64_t
nbdkit_peer_pid (void)
{
  return -1;
}

int64_t
nbdkit_peer_uid (void)
{
  return -1;
}

int64_t
nbdkit_peer_gid (void)
{
  return -1;
}

/* Backends, contexts and connections. */

nbdkit_backend *
nbdkit_context_get_backend (nbdkit_context *context)
{
  return context->backend;
}

nbdkit_next *
nbdkit_context_set_next (nbdkit_context *context, nbdkit_next *next)
{
  nbdkit_next *old = context->next;

  context->next = next;
  return old;
}

nbdkit_next *
nbdkit_next_context_open (nbdkit_backend *backend, int readonly,
                          const char *exportname, int shared)
{
  (void) readonly;
  (void) exportname;
  (void) shared;
  return connection_open (backend);
}

void
nbdkit_next_context_close (nbdkit_next *next)
{
  connection_close (next);
}
