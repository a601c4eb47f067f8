/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Plain-words findings: what the figures of a snapshot prove about where
 * the time went.  The first is the account of the time, whatever the run; the
 * others come worst first, and there are none where there is nothing to say.
 * Every rule and its thresholds stand in one table in diagnosis.c.
 */

#ifndef STATS_DIAGNOSIS_H
#define STATS_DIAGNOSIS_H

#include <stddef.h>

#include "snapshot.h"

#define FINDING_NUMBERS 6

/* A figure that a finding rests on, such as {"busy_percent", 97.2}. */
struct finding_number {
  const char *name;             /* NULL in an unused entry */
  double value;
};

/* In this order. */
enum finding_kind {
  ACCOUNT,                      /* of all the time */
  FAULT,                        /* something went wrong */
  TIME,                         /* something took time */
};

/* Of the elapsed time, in percent: less is not worth a sentence to people. */
#define FINDING_WEIGHT 1

struct finding {
  const char *code;             /* for programs, such as "flush" */
  unsigned rule;                /* its place in the table of rules */
  size_t layer;                 /* from 0, nearest the client */
  const char *op;               /* the operation it is about, or NULL */
  enum finding_kind kind;
  double weight;                /* of TIME: how much of the elapsed time could
                                   be won at most, in percent */
  char text[400];               /* a sentence or two, one line */
  struct finding_number numbers[FINDING_NUMBERS];
};

#define MAX_FINDINGS 32

/* Fill in the findings and return how many there are. */
extern size_t diagnose (const struct snapshot *snapshot,
                        struct finding findings[MAX_FINDINGS]);

#endif /* STATS_DIAGNOSIS_H */
