/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* On what a benchmark ran, as far as it can be found out. */

#ifndef TOOLS_BENCH_SYSTEM_H
#define TOOLS_BENCH_SYSTEM_H

#include <time.h>

struct json;

struct load {
  time_t time;                  /* 0: not read yet */
  double average[3];            /* over 1, 5 and 15 minutes */
};

struct system {
  char *kernel;                 /* each may be NULL */
  char *cpu;
  char *governor;
  char *file_system;            /* of where the images are */
  struct load before, after;
};

/* directory: where the images are.  The load after is left out. */
extern void system_read (struct system *system, const char *directory);
extern void load_read (struct load *load);
extern void system_write (struct json *json, const struct system *system);
extern void system_free (struct system *system);

#endif /* TOOLS_BENCH_SYSTEM_H */
