/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "overhead_tables.h"

/* What was measured with one backend and number of threads. */
struct measured {
  struct measurement m;         /* but for the side */
  struct samples ns[MAX_SIDES + 1]; /* a request */
  struct samples cpu_ns[MAX_SIDES + 1];
  struct samples own_ns[MAX_SIDES + 1];
  struct samples per_second[MAX_SIDES + 1];
};

/* After the sides of the plan: two clock reads and nothing else. */
static bool
is_clock (const struct measured *measured, unsigned side)
{
  return side == measured->m.plan->nr_sides;
}

/* They go with the first backend. */
static bool
has_clock (const struct measured *measured)
{
  const struct plan *plan = measured->m.plan;

  return plan->clocks && measured->m.backend == plan->backends[0];
}

static int
measure_one (void *arg, unsigned side)
{
  struct measured *measured = arg;
  struct measurement m = measured->m;
  struct result result;
  const struct timing *timing = &result.timing;

  m.job.clocks = is_clock (measured, side);
  m.side = &m.plan->sides[m.job.clocks ? 0 : side];
  if (serve (&m, &result) == -1)
    return -1;
  samples_add (&measured->ns[side], timing->ns);
  samples_add (&measured->cpu_ns[side], timing->cpu_ns);
  samples_add (&measured->own_ns[side], timing->own_cpu_ns);
  samples_add (&measured->per_second[side],
               1e9 / timing->ns * (double) m.job.threads);
  return 0;
}

enum {
  BACKEND, THREADS, THROUGH, RATE, NS, CPU, OWN, ADDED, ADDED_CPU,
  TO_BYPASSED, TO_OTHER, NR_COLUMNS,
};

static const struct column columns[NR_COLUMNS] = {
  [BACKEND] = { "backend", "backend", -10, 0, 0 },
  [THREADS] = { "threads", "threads", 7, 0, 0 },
  [THROUGH] = { "through", "through", -10, 0, 0 },
  [RATE] = { "per_second", "requests/s", 10, 0, 0 },
  [NS] = { "ns", "ns", 8, 1, IN_PERCENT },
  [CPU] = { "cpu_ns", "CPU ns", 7, 1, IN_PERCENT },
  [OWN] = { "own_cpu_ns", "own CPU", 7, 1, 0 },
  [ADDED] = { "added_ns", "added ns", 8, 1, 0 },
  [ADDED_CPU] = { "added_cpu_ns", "added CPU", 9, 1, 0 },
  [TO_BYPASSED] = { "to_bypassed", NULL, 0, 0, 0 },
  [TO_OTHER] = { "to_against", "/ against", 8, 3, 0 },
};

static void
add_comparison (struct cell *cells, const struct measured *measured,
                unsigned side)
{
  const struct samples *ns = measured->ns, *cpu = measured->cpu_ns;
  const unsigned other = plan_other (measured->m.plan);
  const struct samples added = samples_less (&ns[side], &ns[0]);
  const struct samples added_cpu = samples_less (&cpu[side], &cpu[0]);
  const struct samples to_bypassed = samples_ratio (&ns[side], &ns[0]);
  const struct samples to_other = samples_ratio (&ns[side], &ns[other]);

  cells[ADDED] = cell_samples (&added);
  cells[ADDED_CPU] = cell_samples (&added_cpu);
  cells[TO_BYPASSED] = cell_samples (&to_bypassed);
  cells[TO_OTHER] = cell_samples (&to_other);
}

static void
write_row (struct table *table, const struct measured *measured,
           unsigned side, const char *name)
{
  struct cell cells[NR_COLUMNS] = {
    [BACKEND] = cell_text (measured->m.backend->name),
    [THREADS] = cell_number ((double) measured->m.job.threads),
    [THROUGH] = cell_text (name),
    [NS] = cell_samples (&measured->ns[side]),
    [CPU] = cell_samples (&measured->cpu_ns[side]),
    [OWN] = cell_samples (&measured->own_ns[side]),
    [RATE] = cell_samples (&measured->per_second[side]),
  };

  if (side != 0 && !is_clock (measured, side))
    add_comparison (cells, measured, side);
  table_row (table, cells);
}

static int
measure_cell (const struct plan *plan, struct table *table,
              const struct workload *backend, uint64_t threads)
{
  struct measured measured = {
    .m = { .plan = plan, .backend = backend, .job = plan_job (plan) },
  };

  measured.m.job.threads = threads;
  if (plan_in_turn (plan, plan->nr_sides + has_clock (&measured),
                    measure_one, &measured) == -1)
    return -1;
  if (has_clock (&measured))
    write_row (table, &measured, plan->nr_sides, "two clocks");
  for (unsigned i = 0; i < plan->nr_sides; i++)
    write_row (table, &measured, i, plan->sides[i].name);
  return 0;
}

static int
rows (const struct plan *plan, struct table *table)
{
  return plan_cells (plan, table, measure_cell);
}

int
overhead_time (const struct plan *plan, struct tables *tables)
{
  struct table table = overhead_table (plan, tables, columns, NR_COLUMNS);

  table.key = "time";
  table.title = "A request past the filter and through it";
  return table_write (&table, plan, rows);
}
