/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_measured.h"

void
measured_init (struct measured *measured, const struct plan *plan,
               const struct workload *backend)
{
  measured->m = (struct measurement) {
    .plan = plan, .backend = backend, .job = plan_job (plan),
  };
  for (unsigned i = 0; i < NR_FIGURES; i++) {
    for (unsigned j = 0; j < MAX_SIDES; j++)
      measured->figures[i][j].count = 0;
  }
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
  };

  for (unsigned i = 0; i < NR_FIGURES; i++)
    samples_add (&measured->figures[i][side], figures[i]);
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
  const struct plan *plan = measured->m.plan;

  return plan_in_turn (plan, plan->nr_sides, round_of, measured);
}

/* How much more a figure is than of the filter bypassed. */
static struct samples
added (const struct measured *measured, enum figure figure, unsigned side)
{
  const struct samples *figures = measured->figures[figure];

  return samples_less (&figures[side], &figures[0]);
}

struct cell
measured_cell (const struct measured *measured, enum figure figure,
               unsigned side)
{
  return cell_samples (&measured->figures[figure][side]);
}

struct cell
measured_added (const struct measured *measured, enum figure figure,
                unsigned side)
{
  const struct samples more = added (measured, figure, side);

  return cell_samples (&more);
}

struct cell
measured_ratio (const struct measured *measured, enum figure figure,
                unsigned side, unsigned other)
{
  const struct samples *figures = measured->figures[figure];
  const struct samples ratio = samples_ratio (&figures[side],
                                              &figures[other]);

  return cell_samples (&ratio);
}

struct cell
measured_added_ratio (const struct measured *measured, enum figure figure,
                      unsigned side)
{
  const unsigned other = plan_other (measured->m.plan);
  const struct samples more = added (measured, figure, side);
  const struct samples base = added (measured, figure, other);
  const struct samples ratio = samples_ratio (&more, &base);

  return cell_samples (&ratio);
}

struct cell
measured_max (const struct measured *measured, enum figure figure,
              unsigned side)
{
  return cell_number (samples_max (&measured->figures[figure][side]));
}

struct cell
measured_sum (const struct measured *measured, enum figure figure,
              unsigned side)
{
  const struct samples *samples = &measured->figures[figure][side];
  double sum = 0;

  for (unsigned i = 0; i < samples->count; i++)
    sum += samples->values[i];
  return cell_number (sum);
}
