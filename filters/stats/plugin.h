/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Which plugin it is.  nbdkit tells a filter nothing of it, but its file is
 * loaded in this process.
 */

#ifndef STATS_PLUGIN_H
#define STATS_PLUGIN_H

/* The short name of the plugin, to be freed; NULL where its file is not named
 * as nbdkit names them, or there is no memory.  Any thread.
 */
extern char *plugin_name (void);

#endif /* STATS_PLUGIN_H */
