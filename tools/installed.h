/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Where our own files are: in the build tree, if we run there, or where
 * they were installed.
 */

#ifndef TOOLS_INSTALLED_H
#define TOOLS_INSTALLED_H

/* The path of the filter, whether there is one or not.  NBDKIT_STATS_FILTER
 * in the environment names another.  The caller frees it.
 */
extern char *installed_filter (void);

/* The directory of the jobs, or what NBDKIT_STATS_JOBS names. */
extern char *installed_jobs (void);

/* The path of the module that makes load, or what NBDKIT_STATS_LOAD says. */
extern char *installed_load (void);

#endif /* TOOLS_INSTALLED_H */
