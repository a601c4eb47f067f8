/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What reports for programs call the error of a struct failure. */

#ifndef STATS_ERRNO_NAME_H
#define STATS_ERRNO_NAME_H

#include <stdint.h>

#define ERRNO_NAME_LEN 24

/* Return the name of its errno ("EIO"), "other" for FAILURE_OTHER and, for
 * an errno without a name, the number, which is written to buf.  Letters
 * and digits only.
 */
extern const char *errno_name (char buf[ERRNO_NAME_LEN], uint64_t error);

#endif /* STATS_ERRNO_NAME_H */
