/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What two files of results hold for "compare": of each run the figures that
 * reports and the results of "bench" have in common.
 */

#ifndef TOOLS_COMPARE_INPUT_H
#define TOOLS_COMPARE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "json_stream.h"
#include "ops.h"

#define MAX_SIDES 10000
#define MAX_RUNS 1000           /* of each */
#define MAX_STATES 32           /* of the account of time */
#define MAX_RUN_FINDINGS 32
#define MAX_WORD 64             /* a name of either, with its end */

/* Figures that a run does not have are NaN. */
struct compare_op {
  double requests, failures, bytes, busy_ns;
  double in_flight;             /* on average */
  double p50_ns, p99_ns, max_ns;
};

struct compare_state {
  char name[MAX_WORD];
  double ns;
};

struct compare_run {
  double elapsed_ns;
  double time_ns;               /* what the run took: the client's own
                                   seconds, or the active time */
  struct compare_op ops[NR_OPS];
  size_t nr_states;             /* 0 where there is no account */
  struct compare_state states[MAX_STATES];
  size_t nr_findings;
  char findings[MAX_RUN_FINDINGS][MAX_WORD];
};

/* The runs of one thing: of a file of reports there is one, without a name;
 * of results of "bench" one for each cell, "JOB CASE ENVIRONMENT".
 */
struct compare_side {
  char *name;
  struct compare_run *runs;
  size_t nr_runs;
};

struct compare_file {
  const char *file;
  bool bench;
  struct compare_side *sides;
  size_t nr_sides;
};

/* Into a file that is all 0 but for its name, or from the start with that
 * name.  layer is the number of the layer that counts, from 1, or 0 for the one
 * nearest the plugin.  Returns -1 after telling what is wrong.  A file with
 * no run is an error.  compare_file_free is called in any case.
 */
extern int compare_file_read (struct compare_file *file, const char *name,
                              unsigned layer);
extern int compare_stream_read (struct compare_file *file,
                                struct json_stream *stream, unsigned layer);
extern void compare_file_free (struct compare_file *file);

#endif /* TOOLS_COMPARE_INPUT_H */
