/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What a filter costs. */

#ifndef TOOLS_OVERHEAD_H
#define TOOLS_OVERHEAD_H

/* See command.h. */
extern int overhead_command (int argc, char *argv[]);

#endif /* TOOLS_OVERHEAD_H */
