/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What the runs of one side have that those of another have not: A is what
 * was before, B what is looked at.
 *
 * Of several runs a figure is the median.  Numbers in, numbers out.
 */

#ifndef TOOLS_COMPARISON_H
#define TOOLS_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>

#include "compare_input.h"
#include "statistics.h"

/* How a figure is told. */
enum figure_unit {
  UNIT_COUNT, UNIT_NUMBER, UNIT_BYTES, UNIT_BYTES_PER_S, UNIT_NS,
};

/* The figures of an operation, in the order of the table. */
#define FOR_EACH_FIGURE(X)                                              \
  X (REQUESTS,  "requests",         "requests",         UNIT_COUNT)     \
  X (BYTES,     "bytes",            "bytes",            UNIT_BYTES)     \
  X (FAILURES,  "failures",         "failures",         UNIT_COUNT)     \
  X (BUSY,      "busy_ns",          "busy",             UNIT_NS)        \
  X (BUSY_RATE, "busy_bw_bytes",    "op throughput",    UNIT_BYTES_PER_S) \
  X (RATE,      "bw_bytes",         "total throughput", UNIT_BYTES_PER_S) \
  X (IN_FLIGHT, "in_flight_mean",   "in flight, mean",  UNIT_NUMBER)    \
  X (P50,       "lat_ns_p50",       "latency p50",      UNIT_NS)        \
  X (P99,       "lat_ns_p99",       "latency p99",      UNIT_NS)        \
  X (MAX,       "lat_ns_max",       "latency max",      UNIT_NS)

enum figure {
#define FIGURE_ENUM(id, name, label, unit) FIGURE_##id,
  FOR_EACH_FIGURE (FIGURE_ENUM)
#undef FIGURE_ENUM
  NR_FIGURES
};

struct figure_kind {
  const char *name;             /* in JSON */
  const char *label;            /* in the table */
  enum figure_unit unit;
};

extern const struct figure_kind figure_kinds[NR_FIGURES];

/* One figure on both sides. */
struct difference {
  double a, b;                  /* NaN where there is none */
  double p;                     /* NaN where nothing could be tested */
};

/* How much more b is than a, in percent: NaN where there is no a, or 0. */
extern double difference_percent (const struct difference *difference);
extern bool is_significant (const struct difference *difference);

/* A state of the account. */
struct state_difference {
  const char *name;             /* of a run of either side */
  struct difference ns;
};

struct comparison {
  const struct compare_side *a, *b;
  struct difference time;       /* what the runs took, in ns; p is corrected
                                   for all comparisons */
  struct ratio_interval ratio;  /* of times, B to A */
  double superiority;           /* how likely a run of B takes longer */
  struct difference ops[NR_OPS][NR_FIGURES]; /* p is of each by itself */
  size_t nr_states;             /* 0 where not both have an account */
  struct state_difference states[2 * MAX_STATES]; /* what changed most first */
};

/* Returns -1 where there is no memory. */
extern int comparison_make (struct comparison *comparison,
                            const struct compare_side *a,
                            const struct compare_side *b);

/* Correct the p-values of the times of several comparisons. */
extern void comparisons_adjust (struct comparison *comparisons, size_t n);

/* Whether so many runs can prove a difference. */
extern bool can_prove (const struct comparison *comparison);

/* Whether both did the same: requests, bytes and failures of each
 * operation, exactly; or nearly, within SIMILAR percent.
 */
#define SIMILAR 1.0
enum work { WORK_SAME, WORK_SIMILAR, WORK_OTHER };
extern enum work work_of (const struct difference *amount);
extern enum work compare_work (const struct comparison *comparison);

/* Findings of at least half of the runs of the one side, and of fewer of
 * the other.  Fills in at most MAX_RUN_FINDINGS and returns how many.
 */
extern size_t findings_only_in (const struct compare_side *side,
                                const struct compare_side *other,
                                const char *findings[MAX_RUN_FINDINGS]);

#endif /* TOOLS_COMPARISON_H */
