/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Plain-words findings: what the figures of a snapshot prove about where
 * the time went, worst first.  Every rule and its thresholds stand in one
 * table in diagnosis.c.  There are none where there is nothing to say.
 */

#ifndef STATS_DIAGNOSIS_H
#define STATS_DIAGNOSIS_H

#include <stdbool.h>
#include <stddef.h>

#include "snapshot.h"

#define FINDING_NUMBERS 4

/* A figure that a finding rests on, such as {"busy_percent", 97.2}. */
struct finding_number {
  const char *name;             /* NULL in an unused entry */
  double value;
};

struct finding {
  const char *code;             /* for programs, such as "flush-dominates" */
  unsigned rule;                /* its place in the table of rules */
  size_t layer;                 /* from 0, nearest the client */
  const char *op;               /* the operation it is about, or NULL */
  bool fault;                   /* what went wrong comes first */
  double weight;                /* how much of the elapsed time could be won */
                                /* at most, in percent; 0 of a fault */
  char text[320];               /* a sentence or two, one line */
  struct finding_number numbers[FINDING_NUMBERS];
};

#define MAX_FINDINGS 32

/* Fill in the findings and return how many there are. */
extern size_t diagnose (const struct snapshot *snapshot,
                        struct finding findings[MAX_FINDINGS]);

#endif /* STATS_DIAGNOSIS_H */
