/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What is written to standard error meanwhile, for unit tests. */

#ifndef UNIT_CAPTURE_H
#define UNIT_CAPTURE_H

#include <stdio.h>
#include <unistd.h>

#include "unit.h"

static FILE *captured;
static int standard_error;

/* What is told from here on is in what () instead. */
static inline void
capture (void)
{
  captured = tmpfile ();
  assert_non_null (captured);
  standard_error = dup (STDERR_FILENO);
  assert_true (standard_error >= 0);
  assert_true (dup2 (fileno (captured), STDERR_FILENO) >= 0);
}

static inline const char *
what (void)
{
  static char buf[8192];
  size_t n;

  assert_true (dup2 (standard_error, STDERR_FILENO) >= 0);
  close (standard_error);
  rewind (captured);
  n = fread (buf, 1, sizeof buf - 1, captured);
  buf[n] = '\0';
  fclose (captured);
  return buf;
}

#endif /* UNIT_CAPTURE_H */
