/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* UTF-8 for formats that allow nothing else. */

#ifndef STATS_UTF8_H
#define STATS_UTF8_H

/* A copy of s in which each sequence that is not UTF-8 is replaced by
 * U+FFFD, to be freed.  Returns NULL when there is no memory.
 */
extern char *utf8_clean (const char *s);

#endif /* STATS_UTF8_H */
