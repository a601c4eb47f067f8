/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Paths that stand for open descriptors.  They are not to be opened: a file
 * would be truncated or replaced under whoever opened it for us.
 */

#ifndef STATS_DESCRIPTOR_H
#define STATS_DESCRIPTOR_H

#include <stdbool.h>
#include <sys/stat.h>

/* The number of the descriptor that path is a name of, such as /dev/stderr
 * and /dev/fd/7, or leads to by symbolic links; or -1.
 */
extern int descriptor_named (const char *path);

/* Standard error or standard output, if the file at path is behind it: a
 * log, for example, that has a name of its own; or -1.
 */
extern int descriptor_of_same_file (const char *path);

/* Is it the file that is behind fd? */
extern bool descriptor_is (int fd, const struct stat *st);

#endif /* STATS_DESCRIPTOR_H */
