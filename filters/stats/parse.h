/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Values of parameters.  nbdkit's own parsers tell an error by themselves
 * and do not say which parameter it is in (sizes are theirs all the same,
 * since newer ones take more); strtod follows the locale, which a plugin may
 * have changed.
 */

#ifndef STATS_PARSE_H
#define STATS_PARSE_H

#include <stdbool.h>
#include <stdint.h>

/* Each returns 0, or -1 where value is not what it should be. */

/* true, yes, on, 1 ... or false, no, off, 0 ..., in any case. */
extern int parse_bool (const char *value, bool *result);

/* A number with or without decimals, as a multiple of 1 / scale, where
 * scale is a power of ten: "0.25" with a scale of 1000 is 250.  More
 * decimals than the scale has are cut off.
 */
extern int parse_decimal (const char *value, uint64_t scale,
                          uint64_t *result);

/* A time in nanoseconds: a number with or without decimals, in seconds or
 * in the unit behind it, which is ns, us, ms, s or m (minutes).
 */
extern int parse_duration (const char *value, uint64_t *ns);

#endif /* STATS_PARSE_H */
