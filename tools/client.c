/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "figures.h"
#include "json_values.h"

/* "Run completed in 1.234 seconds." */
static void
read_qemu_img (const char *output, struct client_figures *figures)
{
  static const char words[] = "Run completed in ";
  const char *line = strstr (output, words);
  char *end;
  double seconds;

  if (line == NULL)
    return;
  line += strlen (words);
  seconds = strtod (line, &end);
  if (end > line && strncmp (end, " seconds", 8) == 0 && seconds >= 0)
    figures->seconds = seconds;
}

/* The direction of a job in which most was done. */
static json_object *
main_direction (json_object *job)
{
  json_object *reads = json_get (job, "read"), *writes = json_get (job, "write");

  return json_number (reads, "total_ios") > json_number (writes, "total_ios")
    ? reads : writes;
}

/* fio may have said something before its JSON.  Where a file has several
 * jobs, the first one counts.
 */
static void
read_fio (const char *output, struct client_figures *figures)
{
  const char *start = output[0] == '{' ? output : strstr (output, "\n{");
  json_object *fio = start ? json_tokener_parse (start) : NULL;
  json_object *direction;

  if (json_get (fio, "fio version")) {
    direction = main_direction (json_element (json_get (fio, "jobs"), 0));
    figures->seconds = json_number (direction, "runtime") / 1000;
    figures->latencies = latencies_read (json_get (direction, "clat_ns"));
  }
  json_object_put (fio);
}

struct client_figures
client_read (const char *output)
{
  struct client_figures figures = { NAN, { NAN, NAN, NAN } };

  read_qemu_img (output, &figures);
  read_fio (output, &figures);
  return figures;
}
