/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_measured.h"
#include "statistics.h"

/* Rounds. */

void
measured_init (struct measured *measured, const struct plan *plan,
               const struct workload *backend)
{
  measured->once = false;
  measured->m = (struct measurement) {
    .plan = plan, .backend = backend, .job = plan_job (plan),
  };
  for (unsigned i = 0; i < NR_FIGURES; i++) {
    for (unsigned j = 0; j < MAX_SIDES; j++)
      measured->figures[i][j].count = 0;
  }
}

unsigned
measured_sides (const struct measured *measured)
{
  return measured->m.job.clocks ? 1 : measured->m.plan->nr_sides;
}

void
measured_add (struct measured *measured, unsigned side, enum figure figure,
              double value)
{
  struct samples *samples = &measured->figures[figure][side];

  samples->values[samples->count++] = value;
}

int
measured_round (struct measured *measured, unsigned side)
{
  struct measurement *m = &measured->m;
  struct result result;
  const struct timing *t = &result.timing;

  m->side = &m->plan->sides[side];
  if (serve (m, &result) == -1)
    return -1;

  const double figures[NR_FIGURES] = {
    [NS] = t->ns,
    [PER_SECOND] = 1e9 / t->ns * (double) m->job.threads,
    [CPU_NS] = t->cpu_ns,
    [OWN_CPU_NS] = t->own_cpu_ns,
    [IN_FILTER_CPU_NS] = t->inside_cpu_ns + t->own_cpu_ns,
    [IN_FILTER_NS] = t->inside_ns,
    [MEDIAN_NS] = t->inside_median_ns,
    [LONGEST_CPU_US] = (double) t->longest.cpu / 1000,
    [LONGEST_US] = (double) t->longest.time / 1000,
    [FIRST_CPU_US] = (double) t->first.cpu / 1000,
    [FIRST_US] = (double) t->first.time / 1000,
    [ALL_MS] = t->all_ns / 1e6,
    [REQUESTS] = (double) result.requests,
    [THREADS] = (double) m->job.threads,
    [WALKED] = (double) m->job.cold,
    [IDLE] = (double) m->job.idle,
    [GONE] = (double) m->job.gone,
  };

  for (unsigned i = 0; i < NR_FIGURES; i++)
    measured_add (measured, side, i, figures[i]);
  return 0;
}

static int
round_of (void *measured, unsigned side)
{
  return measured_round (measured, side);
}

int
measured_rounds (struct measured *measured)
{
  return plan_in_turn (measured->m.plan, measured_sides (measured), round_of,
                       measured);
}

/* Cells. */

static struct cell
cell_text (const char *text)
{
  return (struct cell) { .kind = CELL_TEXT, .text = text };
}

static struct cell
cell_number (double number)
{
  return (struct cell) { .kind = CELL_NUMBER, .number = number };
}

struct cell
measured_through (const struct measured *measured, unsigned side,
                  enum figure figure)
{
  (void) figure;
  return cell_text (measured->m.job.clocks ? "two clocks"
                    : measured->m.plan->sides[side].name);
}

struct cell
measured_backend (const struct measured *measured, unsigned side,
                  enum figure figure)
{
  (void) side;
  (void) figure;
  return cell_text (measured->m.backend->name);
}

static struct cell
cell_of (const struct measured *measured, struct samples samples)
{
  const unsigned n = samples.count;
  double *values = samples.values;

  sort_sample (values, n);
  return (struct cell) {
    .kind = measured->once ? CELL_NUMBER : CELL_MEDIAN,
    .number = sample_quantile (values, n, 0.5),
    .min = values[0], .max = values[n - 1], .rounds = n,
  };
}

struct cell
measured_figure (const struct measured *measured, unsigned side,
                 enum figure figure)
{
  return cell_of (measured, measured->figures[figure][side]);
}

struct cell
measured_max (const struct measured *measured, unsigned side,
              enum figure figure)
{
  return cell_number (measured_figure (measured, side, figure).max);
}

struct cell
measured_sum (const struct measured *measured, unsigned side,
              enum figure figure)
{
  const struct samples *samples = &measured->figures[figure][side];
  double sum = 0;

  for (unsigned i = 0; i < samples->count; i++)
    sum += samples->values[i];
  return cell_number (sum);
}

/* Differences and ratios are made in each round: what disturbs it disturbs
 * both.
 */
static struct samples
difference (struct samples samples, const struct samples *base)
{
  for (unsigned i = 0; i < samples.count; i++)
    samples.values[i] -= base->values[i];
  return samples;
}

static struct samples
ratio (struct samples samples, const struct samples *base)
{
  for (unsigned i = 0; i < samples.count; i++)
    samples.values[i] /= base->values[i];
  return samples;
}

static struct samples
added (const struct measured *measured, unsigned side, enum figure figure)
{
  const struct samples *figures = measured->figures[figure];

  return difference (figures[side], &figures[0]);
}

struct cell
measured_added (const struct measured *measured, unsigned side,
                enum figure figure)
{
  if (side == 0)
    return (struct cell) { 0 };
  return cell_of (measured, added (measured, side, figure));
}

struct cell
measured_ratio (const struct measured *measured, unsigned side,
                const struct measured *base, unsigned base_side,
                enum figure figure)
{
  return cell_of (measured, ratio (measured->figures[figure][side],
                                   &base->figures[figure][base_side]));
}

struct cell
measured_to_bypassed (const struct measured *measured, unsigned side,
                      enum figure figure)
{
  if (measured->m.job.clocks)
    return (struct cell) { 0 };
  return measured_ratio (measured, side, measured, 0, figure);
}

struct cell
measured_to_other (const struct measured *measured, unsigned side,
                   enum figure figure)
{
  if (side == 0)
    return (struct cell) { 0 };
  return measured_ratio (measured, side, measured,
                         plan_other (measured->m.plan), figure);
}

struct cell
measured_added_to_other (const struct measured *measured, unsigned side,
                         enum figure figure)
{
  const unsigned other = plan_other (measured->m.plan);
  const struct samples base = added (measured, other, figure);

  if (side == 0)
    return (struct cell) { 0 };
  return cell_of (measured, ratio (added (measured, side, figure), &base));
}
