/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* A comparison as people and programs read it. */

#ifndef TOOLS_COMPARE_WRITE_H
#define TOOLS_COMPARE_WRITE_H

#include <stdio.h>

#include "comparison.h"

/* What is written: the names of both files, and the comparison of each pair
 * of sides that both have.
 */
struct compared {
  const struct compare_file *a, *b;
  struct comparison *comparisons;
  size_t nr;
};

/* Errors of the stream are left to ferror. */
typedef void (*compare_write_fn) (FILE *fp, const struct compared *compared);

/* A sentence first, then tables: plain text of 80 columns, or Markdown. */
extern void compare_write_text (FILE *fp, const struct compared *compared);
extern void compare_write_markdown (FILE *fp,
                                    const struct compared *compared);

/* One object on one line. */
extern void compare_write_json (FILE *fp, const struct compared *compared);

/* The sentence, without newline: how the times are to one another, whether
 * that is proven, whether the work was the same, and where the difference
 * lies.
 */
#define VERDICT_LEN 512
extern void compare_verdict (char verdict[VERDICT_LEN],
                             const struct comparison *comparison);

#endif /* TOOLS_COMPARE_WRITE_H */
