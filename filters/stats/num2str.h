/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#ifndef STATS_NUM2STR_H
#define STATS_NUM2STR_H

enum num_unit {
  NUM_BYTES,                    /* value in bytes: B, KiB ... EiB */
  NUM_BYTES_PER_S,              /* value in bytes a second */
  NUM_TIME,                     /* value in nanoseconds: ns, us, ms, s */
  NUM_SHORT_BYTES,              /* bytes where space is scarce: B, K, M ... */
  NUM_COUNT,                    /* a plain number: k, M, G, T by 1000 */
};

#define NUM2STR_LEN 32

/* Write value with a unit into buf and return buf.
 *
 * The number has the look of fio's num2str, four characters, with these
 * rules: the unit is the largest in which the value is at least 1, as
 * many decimals as four characters hold, and the unit is chosen after
 * rounding, so 1048575 bytes are "1.00 MiB" and never "1024 KiB".  A
 * whole number in the smallest unit has no decimals ("512 B"); a value
 * below 1 there keeps two significant digits ("0.0015 B/s").
 *
 * value must be finite and not negative.  Any thread.
 */
extern const char *num2str (char buf[NUM2STR_LEN], double value,
                            enum num_unit unit);

/* Write nanoseconds as "SECONDS s", with milliseconds or, for a short
 * time, two significant digits ("1.021 s", "0.000017 s"), and return buf.
 */
extern const char *seconds2str (char buf[NUM2STR_LEN], double ns);

#endif /* STATS_NUM2STR_H */
