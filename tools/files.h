/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Small things about files. */

#ifndef TOOLS_FILES_H
#define TOOLS_FILES_H

#include <stddef.h>

/* The path for who is in another directory, or path itself where there is
 * no such file.  The caller frees it.
 */
extern char *absolute_path (const char *path);

/* Where a directory with a socket in it can be made: parent, or /tmp where the
 * name of the socket would be too long.
 */
extern const char *directory_for_socket (const char *parent);

/* Make a directory of our own in parent, which must be there, and give its
 * name, or NULL after telling why not.  The caller frees it.
 */
extern char *directory_make (const char *parent);

/* Remove a directory with all that is in it. */
extern void directory_remove (const char *path);

/* The end of a file, of at most so many bytes, as a string, or NULL with
 * errno set.  The caller frees it.
 */
extern char *file_tail (const char *path, size_t max);

/* Replace a regular file, so that it is there as a whole or as it was.
 * Returns -1 after telling why not.
 */
extern int file_replace (const char *path, const char *data, size_t size);

/* Whether it could do so now.  Leaves the file alone. */
extern int file_check_replace (const char *path);

#endif /* TOOLS_FILES_H */
