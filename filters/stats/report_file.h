/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A regular file that reports are written to.
 *
 * Only a regular file is ever written: what has taken its place since it
 * was opened, a link or a FIFO for example, is neither followed nor
 * replaced.  A file of the same name that was put there, or none, is fine.
 */

#ifndef STATS_REPORT_FILE_H
#define STATS_REPORT_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct report_file {
  char *path;                   /* without symbolic links */
  int fd;                       /* what was there when we last looked */
};

/* Open path for writing, and create it where it is not there; nothing
 * waits for a FIFO or a device.  Returns a descriptor, or -1.
 */
extern int report_file_open (const char *path);

/* Both return NULL, or what went wrong: "cannot write".  errno tells why,
 * unless it is 0.  What the file holds is then as it was.
 *
 * Replace what it holds, in one step where that is possible.
 */
extern const char *report_file_replace (struct report_file *file,
                                        const char *report, size_t size);

/* Add to it, in one write.  first: begin a new line after what others have
 * left.
 */
extern const char *report_file_append (struct report_file *file,
                                       const char *report, size_t size,
                                       bool first);

/* Is the file that was last written to still at its path, and something in
 * it, so that the next report will be added to that?
 */
extern bool report_file_goes_on (const struct report_file *file);

#endif /* STATS_REPORT_FILE_H */
