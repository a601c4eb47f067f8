/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The command line of "overhead". */

#ifndef TOOLS_OVERHEAD_OPTIONS_H
#define TOOLS_OVERHEAD_OPTIONS_H

#include "overhead_plan.h"

/* Fill in the plan.  It points into argv.  Returns an enum exit_status: not
 * STATUS_OK after telling what is wrong.
 */
extern int overhead_options (int argc, char *argv[], struct plan *plan);

#endif /* TOOLS_OVERHEAD_OPTIONS_H */
