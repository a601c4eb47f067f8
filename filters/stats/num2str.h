/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#ifndef STATS_NUM2STR_H
#define STATS_NUM2STR_H

#include <stdint.h>

enum num_unit {
  NUM_BYTES,                    /* value in bytes: B, KiB ... QiB */
  NUM_BYTES_PER_S,              /* value in bytes a second */
  NUM_TIME,                     /* value in nanoseconds: ns, us, ms, s, d, y */
  NUM_SHORT_BYTES,              /* bytes where space is scarce: B, K, M ... */
  NUM_SHORT_TIME,               /* the same without a blank, six characters */
  NUM_COUNT,                    /* a plain number: k, M, G ... Q by 1000 */
};

#define NUM2STR_LEN 32

/* Write value with a unit into buf and return buf.
 *
 * The number has the look of fio's num2str, four characters, with these
 * rules: the unit is the largest in which the value is at least 1, as
 * many decimals as four characters hold, and the unit is chosen after
 * rounding, so 1048575 bytes are "1.00 MiB" and never "1024 KiB".  A
 * whole number in the smallest unit has no decimals ("512 B"); a value
 * below 1 there keeps two significant digits ("0.0015 B/s"), but not a time.
 * One of 100000 seconds or more is told in days, and of 100000 days or more
 * in years.
 *
 * value must be finite and not negative.  Any thread.
 */
extern const char *num2str (char buf[NUM2STR_LEN], double value,
                            enum num_unit unit);

/* Write nanoseconds as "SECONDS s", with milliseconds or, for a short
 * time, two significant digits ("1.021 s", "0.000017 s"), and return buf.
 */
extern const char *seconds2str (char buf[NUM2STR_LEN], double ns);

/* For a column of a table, so many characters wide with a blank in front, at
 * least 5: all digits of a count where there is room, or else with a unit.
 */
extern const char *count2str (char buf[NUM2STR_LEN], uint64_t value,
                              int width);

/* The same for a number with at most so many decimals. */
extern const char *decimal2str (char buf[NUM2STR_LEN], double value,
                                int digits, int width);

/* Five characters at most: a number of NUM_COUNT or NUM_SHORT_BYTES, and
 * one that is small but not 0 is "<0.1".
 */
extern const char *rate2str (char buf[NUM2STR_LEN], double value,
                             enum num_unit unit);

#endif /* STATS_NUM2STR_H */
