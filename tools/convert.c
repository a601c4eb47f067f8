/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "convert.h"
#include "errors.h"

int
convert_end (const struct report_reader *reader, enum next end,
             unsigned reports, const char *kind)
{
  if (end == NEXT_ERROR)
    return STATUS_BAD;
  if (reports == 0) {
    tell_error_at (reader->stream.file, 0, "there is no %s in it", kind);
    return STATUS_BAD;
  }
  return STATUS_OK;
}

/* Text. */

enum detail { AS_STORED, BRIEF, FULL };

/* The rows of a run stand above its final report. */
static int
write_text (struct report_reader *reader, FILE *fp, enum detail detail)
{
  struct stored_report stored = { .line = 0 };
  unsigned reports = 0, rows = 0;
  enum next next;

  while ((next = report_reader_next (reader, &stored)) == NEXT_OBJECT) {
    struct snapshot now = stored.snapshot;
    const struct report report = {
      .now = &now, .interval = &stored.snapshot, .intervals = rows,
      .headed = stored.headed,
      .full = detail == AS_STORED ? stored.full : detail == FULL,
    };

    now.elapsed_ns = stored.now_ns;
    reports++;
    if (stored.final)
      text_write (fp, &report);
    else
      text_write_row (fp, &report);
    rows = stored.final ? 0 : rows + 1;
  }
  stored_report_free (&stored);
  return convert_end (reader, next, reports, "report");
}

int
convert_text (struct report_reader *reader, FILE *fp)
{
  return write_text (reader, fp, AS_STORED);
}

int
convert_text_brief (struct report_reader *reader, FILE *fp)
{
  return write_text (reader, fp, BRIEF);
}

int
convert_text_full (struct report_reader *reader, FILE *fp)
{
  return write_text (reader, fp, FULL);
}

/* Prometheus. */

/* In place of what is there. */
static int
write_latest (struct buffer *latest, const struct snapshot *snapshot)
{
  const struct report report = { .now = snapshot };
  FILE *fp;

  free (latest->data);
  *latest = (struct buffer) { .data = NULL };
  fp = buffer_open (latest);
  if (fp) {
    prometheus_write (fp, &report);
    if (buffer_close (fp) == 0)
      return 0;
  }
  tell_error ("%s", strerror (ENOMEM));
  return -1;
}

int
convert_prometheus (struct report_reader *reader, FILE *fp)
{
  struct stored_report stored = { .line = 0 };
  struct buffer latest = { .data = NULL };
  unsigned reports = 0;
  enum next next;

  while ((next = report_reader_next (reader, &stored)) == NEXT_OBJECT) {
    if (!stored.final)
      continue;
    reports++;
    if (write_latest (&latest, &stored.snapshot) == -1) {
      next = NEXT_ERROR;
      break;
    }
  }
  if (latest.data)
    fwrite (latest.data, 1, latest.size, fp);
  free (latest.data);
  stored_report_free (&stored);
  return convert_end (reader, next, reports, "final report");
}
