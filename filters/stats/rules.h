/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The rules of the diagnosis.  Which there are, their thresholds and what
 * they are said of stands in one table, in diagnosis.c; here is what they have
 * in common.
 *
 * A sentence divides like by like.  Times of an operation (busy, latency)
 * have its failed requests in them, and busy also those in flight; counts,
 * bytes, sizes and percentiles are of the requests that succeeded alone.
 */

#ifndef STATS_RULES_H
#define STATS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diagnosis.h"
#include "snapshot.h"

/* What a rule is said of. */
enum scope {
  ONCE,                         /* the layer nearest the client */
  EACH_LAYER,
  READS_AND_WRITES,             /* each of them, of the layer nearest it */
  ONE_OP,                       /* that of the rule, in the same layer */
};

struct context;

struct rule {
  const char *code;
  enum finding_kind kind;
  enum scope scope;
  bool (*check) (struct context *c);
  double threshold;
  const char *unit;             /* of the threshold, for the reader */
  enum op op;                   /* of ONE_OP */

  /* What proves too little without: */
  uint64_t requests;            /* at least so many to judge by */
  uint64_t elapsed_ns;          /* a run as long as that */
  uint64_t least_ns;            /* what is said took so long, */
  double anyway;                /* or at least so many percent */
  double overlapped;            /* percent of requests not alone, at most */
  double growth;                /* of a latency, at least, and */
  double growth_each;           /* that for each request in flight; */
  double flat;                  /* or at most, */
  double medians;               /* and the mean before at most so many */
  uint64_t stall_ns;            /* so long is a stall */

  /* The same time is not told twice: */
  const char *unless;           /* that was said (of this operation) */
  bool of_busy;                 /* it tells what the busy time was, of an
                                   operation or of several */
};

/* What a rule looks at. */
struct context {
  const struct rule *rule;
  const struct snapshot *snapshot;
  const struct recorder_totals *layer;
  size_t layer_index;
  enum op op;                   /* of a rule about one operation */
  bool busy_told;               /* another of_busy was said before */
  bool saturated;               /* and that of reads or of writes */
  struct finding *finding;      /* to fill in */
};

/* What rules are made of. */

/* The sentence of a finding, and its weight. */
extern void say (struct finding *finding, double weight, const char *fmt, ...)
  __attribute__ ((format (printf, 3, 4)));

/* One of the figures that it rests on, in place i. */
extern void set_number (struct finding *finding, unsigned i, const char *name,
                        double value);

/* "s", but not for one. */
extern const char *plural (uint64_t n);

extern uint64_t at_most (uint64_t ns, uint64_t limit);

/* "read" and "reads", "zero request" and "zero requests", and so on. */
extern const char *op_noun (enum op op, uint64_t n);

/* The finding is about this operation alone. */
extern void set_op (struct context *c, enum op op);

extern const struct tally *tally_of (const struct context *c, enum op op);
extern uint64_t failed_of (const struct context *c, enum op op);

/* Shares of requests are of those that succeeded: said where there are
 * others.
 */
extern const char *that_succeeded (const struct context *c, enum op op);

/* Shares of the elapsed time, which are the weights of findings. */
extern double elapsed_percent (const struct context *c, uint64_t ns);
extern double busy_percent (const struct context *c);
extern double op_busy_percent (const struct context *c, enum op op);

/* With a client, or with an opening, which there may be before it. */
extern uint64_t connected_ns (const struct context *c);

/* How much of an operation's time a finding may tell, so that no time is told
 * twice: the first of those with of_busy tells all, also what others were in
 * flight meanwhile, and any other what the operation had alone.
 */
extern uint64_t untold_ns (const struct context *c, enum op op);

/* What took so long is worth a sentence: it is a share of the elapsed time, and
 * has the least length that the rule wants.
 */
extern bool is_long (const struct context *c, uint64_t ns);

/* The same for that many of its requests: none took longer than max. */
extern double requests_percent (const struct context *c, enum op op,
                                uint64_t requests);

/* The rules.  Each returns whether it has something to say, and says it. */

/* rules_account.c */
extern bool check_account (struct context *c);
extern bool check_no_client (struct context *c);
extern bool check_slow_open (struct context *c);
extern bool check_several_kinds (struct context *c);

/* rules_waiting.c */
extern bool check_client_bound (struct context *c);
extern bool check_stalls (struct context *c);

/* rules_ops.c */
extern bool check_op_time (struct context *c);

/* rules_depth.c */
extern bool check_one_at_a_time (struct context *c);
extern bool check_saturated (struct context *c);
extern bool check_storage_bound (struct context *c);

/* rules_requests.c */
extern bool check_small (struct context *c);
extern bool check_misaligned (struct context *c);
extern bool check_block (struct context *c);
extern bool check_extents_count (struct context *c);
extern bool check_zeros (struct context *c);
extern bool check_fua (struct context *c);
extern bool check_tail (struct context *c);

/* rules_layers.c */
extern bool check_between (struct context *c);
extern bool check_amplified (struct context *c);

/* rules_faults.c */
extern bool check_failures (struct context *c);
extern bool check_cut_short (struct context *c);
extern bool check_open_failures (struct context *c);
extern bool check_unrecorded (struct context *c);
extern bool check_unfinished (struct context *c);

#endif /* STATS_RULES_H */
