/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench_system.h"
#include "json_copy.h"
#include "json_writer.h"
#include "memory.h"

static char *
read_kernel (void)
{
  struct utsname name;

  if (uname (&name) == -1)
    return NULL;
  return format_string ("%s %s %s", name.sysname, name.release, name.machine);
}

/* What stands behind start in the first line that begins with it, or NULL. */
static char *
read_line (const char *path, const char *start)
{
  FILE *fp = fopen (path, "re");
  char *line = NULL, *found = NULL;
  size_t size = 0;

  while (fp && !found && getline (&line, &size, fp) != -1) {
    if (strncmp (line, start, strlen (start)) == 0) {
      char *s = line + strlen (start);

      s += strspn (s, " \t:");
      found = copy_bytes (s, strcspn (s, "\n"));
    }
  }
  free (line);
  if (fp)
    fclose (fp);
  return found;
}

/* Not all architectures tell a name. */
static char *
read_cpu (void)
{
  char *model = read_line ("/proc/cpuinfo", "model name");
  char *cpu = format_string ("%ld x %s", sysconf (_SC_NPROCESSORS_ONLN),
                             model ? model : "unknown");

  free (model);
  return cpu;
}

static bool
is_below (const char *path, const char *mount_point)
{
  size_t len = strlen (mount_point);

  if (strncmp (path, mount_point, len) != 0)
    return false;
  return mount_point[len - 1] == '/' || path[len] == '/' || path[len] == '\0';
}

/* The mount that is the nearest above the directory, and of several at one
 * place the last.
 */
static char *
read_file_system (const char *directory)
{
  FILE *fp = setmntent ("/proc/self/mounts", "re");
  char *path = realpath (directory, NULL), *found = NULL;
  struct mntent *mount;
  size_t longest = 0;

  while (fp && path && (mount = getmntent (fp)) != NULL) {
    size_t len = strlen (mount->mnt_dir);

    if (len < longest || !is_below (path, mount->mnt_dir))
      continue;
    longest = len;
    free (found);
    found = format_string ("%s on %s (%s)", mount->mnt_type,
                           mount->mnt_fsname, mount->mnt_opts);
  }
  free (path);
  if (fp)
    endmntent (fp);
  return found;
}

void
load_read (struct load *load)
{
  load->time = time (NULL);
  if (getloadavg (load->average, 3) != 3)
    memset (load->average, 0, sizeof load->average);
}

void
system_read (struct system *system, const char *directory)
{
  *system = (struct system) {
    .kernel = read_kernel (),
    .cpu = read_cpu (),
    .governor = read_line
      ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", ""),
    .file_system = read_file_system (directory),
  };
  load_read (&system->before);
}

static void
write_load (struct json *json, const char *key, const struct load *load)
{
  char text[64];
  struct tm tm;

  if (load->time == 0) {
    json_null (json, key);
    return;
  }
  gmtime_r (&load->time, &tm);
  strftime (text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
  JSON_OBJECT (json, key) {
    json_string (json, "time", text);
    JSON_ARRAY (json, "load") {
      for (int i = 0; i < 3; i++)
        json_real (json, NULL, load->average[i]);
    }
  }
}

void
system_write (struct json *json, const struct system *system)
{
  JSON_OBJECT (json, "system") {
    json_string_or_null (json, "kernel", system->kernel);
    json_string_or_null (json, "cpu", system->cpu);
    json_string_or_null (json, "governor", system->governor);
    json_string_or_null (json, "file_system", system->file_system);
    write_load (json, "before", &system->before);
    write_load (json, "after", &system->after);
  }
}

void
system_free (struct system *system)
{
  free (system->kernel);
  free (system->cpu);
  free (system->governor);
  free (system->file_system);
}
