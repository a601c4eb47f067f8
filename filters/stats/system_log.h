/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The system log, spoken to without ever waiting long: syslog (3) waits
 * for as long as the log does not read.
 */

#ifndef STATS_SYSTEM_LOG_H
#define STATS_SYSTEM_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "stream.h"

/* Can a line be sent to it now?  Sets errno where it cannot. */
extern bool system_log_ready (void);

/* Send each line of text as a message of facility daemon and the severity
 * (LOG_INFO, ...).  Returns -1 and sets errno.
 */
extern int system_log_write (int severity, const char *text, size_t size,
                             struct patience *patience);

#endif /* STATS_SYSTEM_LOG_H */
