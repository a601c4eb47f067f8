/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"

const struct figure_kind figure_kinds[NR_FIGURES] = {
#define FIGURE_KIND(id, name, label, unit) { name, label, unit },
  FOR_EACH_FIGURE (FIGURE_KIND)
#undef FIGURE_KIND
};

/* Figures of a run. */

static double
rate (double n, double ns)
{
  return ns > 0 ? n * 1e9 / ns : NAN;
}

static double
figure_of (const struct compare_run *run, enum op i, enum figure figure)
{
  const struct compare_op *op = &run->ops[i];

  switch (figure) {
  case FIGURE_REQUESTS:  return op->requests;
  case FIGURE_BYTES:     return op->bytes;
  case FIGURE_FAILURES:  return op->failures;
  case FIGURE_BUSY:      return op->busy_ns;
  case FIGURE_BUSY_RATE: return rate (op->bytes, op->busy_ns);
  case FIGURE_RATE:      return rate (op->bytes, run->elapsed_ns);
  case FIGURE_IN_FLIGHT: return op->in_flight;
  case FIGURE_P50:       return op->p50_ns;
  case FIGURE_P99:       return op->p99_ns;
  case FIGURE_MAX:       return op->max_ns;
  default:               return NAN;
  }
}

static double
state_of (const struct compare_run *run, const char *name)
{
  for (size_t i = 0; i < run->nr_states; i++) {
    if (strcmp (run->states[i].name, name) == 0)
      return run->states[i].ns;
  }
  return 0;
}

/* Samples. */

/* Which figure of a run is meant. */
struct question {
  enum { OF_TIME, OF_OP, OF_STATE } of;
  enum op op;
  enum figure figure;
  const char *state;
};

static double
answer (const struct compare_run *run, const struct question *question)
{
  switch (question->of) {
  case OF_TIME: return run->time_ns;
  case OF_OP:   return figure_of (run, question->op, question->figure);
  default:      return state_of (run, question->state);
  }
}

/* Those of the runs that have one, sorted.  Returns how many. */
static size_t
take_sample (const struct compare_side *side,
             const struct question *question, double *x)
{
  size_t n = 0;

  for (size_t i = 0; i < side->nr_runs; i++) {
    const double value = answer (&side->runs[i], question);

    if (!isnan (value))
      x[n++] = value;
  }
  sort_sample (x, n);
  return n;
}

/* Room for the samples of both sides. */
struct samples {
  double *a, *b;
  size_t na, nb;
};

static void
take_samples (const struct comparison *c, const struct question *question,
              struct samples *samples)
{
  samples->na = take_sample (c->a, question, samples->a);
  samples->nb = take_sample (c->b, question, samples->b);
}

static struct difference
compare_samples (const struct samples *s)
{
  return (struct difference) {
    .a = sample_quantile (s->a, s->na, 0.5),
    .b = sample_quantile (s->b, s->nb, 0.5),
    .p = smallest_p (s->na, s->nb) <= SIGNIFICANT_P
      ? mann_whitney (s->a, s->na, s->b, s->nb).p : NAN,
  };
}

double
difference_percent (const struct difference *difference)
{
  return difference->a > 0
    ? 100 * (difference->b - difference->a) / difference->a : NAN;
}

bool
is_significant (const struct difference *difference)
{
  return difference->p <= SIGNIFICANT_P;
}

/* The parts of a comparison. */

static void
compare_times (struct comparison *c, struct samples *samples)
{
  const struct question time = { .of = OF_TIME };

  take_samples (c, &time, samples);
  c->time = compare_samples (samples);
  c->ratio = ratio_interval (samples->b, samples->nb,
                             samples->a, samples->na, CONFIDENCE);
  c->superiority = mann_whitney (samples->b, samples->nb,
                                 samples->a, samples->na).superiority;
}

static void
compare_ops (struct comparison *c, struct samples *samples)
{
  for (unsigned i = 0; i < NR_OPS * NR_FIGURES; i++) {
    const struct question figure = {
      .of = OF_OP, .op = i / NR_FIGURES, .figure = i % NR_FIGURES,
    };
    struct difference *d = &c->ops[i / NR_FIGURES][i % NR_FIGURES];

    take_samples (c, &figure, samples);
    *d = compare_samples (samples);
  }
}

/* The larger change first; that of equal ones which is named first. */
static int
compare_changes (const void *a, const void *b)
{
  const struct state_difference *x = a, *y = b;
  const double dx = fabs (x->ns.b - x->ns.a), dy = fabs (y->ns.b - y->ns.a);

  return dx != dy ? (dx < dy) - (dx > dy) : strcmp (x->name, y->name);
}

static bool
has_state (const struct comparison *c, const char *name)
{
  for (size_t i = 0; i < c->nr_states; i++) {
    if (strcmp (c->states[i].name, name) == 0)
      return true;
  }
  return false;
}

/* The states that the first run of a side names: those of all. */
static void
add_states (struct comparison *c, const struct compare_run *run,
            struct samples *samples)
{
  for (size_t i = 0; i < run->nr_states; i++) {
    const struct question state = {
      .of = OF_STATE, .state = run->states[i].name,
    };

    if (has_state (c, state.state))
      continue;
    take_samples (c, &state, samples);
    c->states[c->nr_states++] = (struct state_difference) {
      .name = state.state, .ns = compare_samples (samples),
    };
  }
}

static void
compare_accounts (struct comparison *c, struct samples *samples)
{
  if (c->a->runs[0].nr_states == 0 || c->b->runs[0].nr_states == 0)
    return;
  add_states (c, &c->a->runs[0], samples);
  add_states (c, &c->b->runs[0], samples);
  qsort (c->states, c->nr_states, sizeof c->states[0], compare_changes);
}

int
comparison_make (struct comparison *c, const struct compare_side *a,
                 const struct compare_side *b)
{
  struct samples samples = {
    .a = calloc (a->nr_runs, sizeof (double)),
    .b = calloc (b->nr_runs, sizeof (double)),
  };
  int r = -1;

  *c = (struct comparison) { .a = a, .b = b };
  if (samples.a && samples.b) {
    compare_times (c, &samples);
    compare_ops (c, &samples);
    compare_accounts (c, &samples);
    r = 0;
  }
  free (samples.a);
  free (samples.b);
  return r;
}

void
comparisons_adjust (struct comparison *comparisons, size_t n)
{
  double *p = calloc (n + 1, sizeof *p);

  for (size_t i = 0; p && i < n; i++)
    p[i] = comparisons[i].time.p;
  if (p)
    holm_adjust (p, n);
  for (size_t i = 0; i < n; i++)
    comparisons[i].time.p = p ? p[i]
      : fmin (1, comparisons[i].time.p * (double) n);
  free (p);
}

bool
can_prove (const struct comparison *comparison)
{
  return smallest_p (comparison->a->nr_runs, comparison->b->nr_runs)
         <= SIGNIFICANT_P;
}

/* Work. */

enum work
work_of (const struct difference *d)
{
  if (d->a == d->b)
    return WORK_SAME;
  return fabs (difference_percent (d)) <= SIMILAR ? WORK_SIMILAR
    : WORK_OTHER;
}

enum work
compare_work (const struct comparison *comparison)
{
  static const enum figure figures[] = {
    FIGURE_REQUESTS, FIGURE_BYTES, FIGURE_FAILURES,
  };
  enum work worst = WORK_SAME;

  for (unsigned op = 0; op < NR_OPS; op++) {
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
      const enum work work = work_of (&comparison->ops[op][figures[i]]);

      if (work > worst)
        worst = work;
    }
  }
  return worst;
}

/* Findings. */

static size_t
runs_with (const struct compare_side *side, const char *finding)
{
  size_t n = 0;

  for (size_t i = 0; i < side->nr_runs; i++) {
    const struct compare_run *run = &side->runs[i];

    for (size_t j = 0; j < run->nr_findings; j++) {
      if (strcmp (run->findings[j], finding) == 0) {
        n++;
        break;
      }
    }
  }
  return n;
}

static bool
mostly_has (const struct compare_side *side, const char *finding)
{
  return 2 * runs_with (side, finding) >= side->nr_runs;
}

static bool
is_listed (const char *const *findings, size_t n, const char *finding)
{
  for (size_t i = 0; i < n; i++) {
    if (strcmp (findings[i], finding) == 0)
      return true;
  }
  return false;
}

size_t
findings_only_in (const struct compare_side *side,
                  const struct compare_side *other,
                  const char *findings[MAX_RUN_FINDINGS])
{
  size_t n = 0;

  for (size_t i = 0; i < side->nr_runs; i++) {
    const struct compare_run *run = &side->runs[i];

    for (size_t j = 0; j < run->nr_findings && n < MAX_RUN_FINDINGS; j++) {
      const char *finding = run->findings[j];

      if (!is_listed (findings, n, finding) && mostly_has (side, finding)
          && !mostly_has (other, finding))
        findings[n++] = finding;
    }
  }
  return n;
}
