/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* UTF-8 for formats that allow nothing else. */

#ifndef STATS_UTF8_H
#define STATS_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What a sequence that is not UTF-8 is replaced by: U+FFFD. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* The length of the character at s, which is no empty string.  Where there
 * is none, *good is false and it is the length of the bad sequence: as much
 * as could have begun a character.
 */
extern size_t utf8_next (const char *s, bool *good);

/* Write s for people to read: what is not UTF-8, or may do something to a
 * terminal, is a question mark.
 */
extern void utf8_write_plain (FILE *fp, const char *s);

#endif /* STATS_UTF8_H */
