/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* report-again FILE: read reports and write the final ones as JSON again, by
 * the filter's own code.  What comes out is what went in, if nothing that
 * stands in a report was lost.
 */

#include <config.h>

#include <stdio.h>

#include "report_reader.h"

int
main (int argc, char *argv[])
{
  struct stored_report stored = { .line = 0 };
  struct report_reader reader;
  enum next next;

  if (argc != 2 || report_reader_open (&reader, argv[1]) == -1)
    return 2;
  while ((next = report_reader_next (&reader, &stored)) == NEXT_OBJECT) {
    if (stored.final)
      json_write (stdout, &(struct report) {
        .now = &stored.snapshot, .headed = stored.headed,
        .full = stored.full,
      });
  }
  stored_report_free (&stored);
  report_reader_close (&reader);
  return next == NEXT_END ? 0 : 2;
}
