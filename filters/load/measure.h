/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* One measurement, in this nbdkit. */

#ifndef LOAD_MEASURE_H
#define LOAD_MEASURE_H

#include "load.h"

/* How long requests take.  From one thread.  Returns -1 after telling the
 * error.
 */
extern int measure_timing (const struct job *job, struct result *result);

/* What memory is used. */
extern int measure_memory (const struct job *job, struct result *result);

#endif /* LOAD_MEASURE_H */
