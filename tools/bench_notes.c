/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench_table.h"
#include "buffer.h"
#include "memory.h"

#define WIDTH 80

/* One sentence or two, in lines that fit a terminal. */
static void
note (FILE *fp, const char *fmt, ...)
  __attribute__ ((format (printf, 2, 3)));

static void
note (FILE *fp, const char *fmt, ...)
{
  char *text, *word, *rest;
  size_t column = 1;
  va_list args;

  va_start (args, fmt);
  if (vasprintf (&text, fmt, args) == -1)
    text = copy_string ("...");
  va_end (args);
  rest = text;
  fputc ('-', fp);
  while ((word = strsep (&rest, " ")) != NULL) {
    if (column + 1 + strlen (word) > WIDTH) {
      fputs ("\n ", fp);
      column = 1;
    }
    fprintf (fp, " %s", word);
    column += 1 + strlen (word);
  }
  fputc ('\n', fp);
  free (text);
}

/* "CASE, ENVIRONMENT".  The caller frees it. */
static char *
cell_name (const struct cell *cell)
{
  return format_string ("%s%s%s", cell->plan.case_name,
                        *cell->plan.environment ? ", " : "",
                        cell->plan.environment);
}

static void
note_failure (FILE *fp, const struct cell *cell)
{
  char *name;

  if (cell->failure == NULL)
    return;
  name = cell_name (cell);
  note (fp, "FAILED: %s: %s", name, cell->failure);
  free (name);
}

/* --- The same work? --- */

/* "1000", or "1000 to 1010". */
static void
write_range (FILE *fp, const struct range *range)
{
  fprintf (fp, "%" PRIu64, range->min);
  if (range->max != range->min)
    fprintf (fp, " to %" PRIu64, range->max);
}

/* "10 requests, 40960 bytes".  Exact: it is the difference that counts. */
static void
write_work (FILE *fp, const struct op_summary *work, enum op op)
{
  write_range (fp, &work->requests);
  fputs (" requests", fp);
  if (work->bytes.max && op_kind (op) != KIND_QUERY) {
    fputs (", ", fp);
    write_range (fp, &work->bytes);
    fputs (" bytes", fp);
  }
}

static void
write_differences (FILE *fp, const struct cell_summary *a,
                   const struct cell_summary *b)
{
  const char *separator = "";

  for (enum op op = 0; op < NR_OPS; op++) {
    const struct op_summary *x = &a->ops[op], *y = &b->ops[op];

    if (!ranges_apart (&x->requests, &y->requests)
        && !ranges_apart (&x->bytes, &y->bytes))
      continue;
    fprintf (fp, "%s%s: ", separator, op_name (op));
    write_work (fp, x, op);
    fputs (" against ", fp);
    write_work (fp, y, op);
    separator = "; ";
  }
}

/* What the function writes, as a string. */
static char *
differences (const struct cell_summary *a, const struct cell_summary *b)
{
  struct buffer buffer;
  FILE *fp = buffer_open (&buffer);
  char *text;

  if (fp == NULL)
    return copy_string ("");
  write_differences (fp, a, b);
  buffer_close (fp);
  text = copy_bytes (buffer.data, buffer.size);
  free (buffer.data);
  return text;
}

static void
note_work (FILE *fp, const struct cell *cell, const struct cell *first,
           const struct cell_comparison *comparison)
{
  char *text;

  if (!comparison->other_work)
    return;
  text = differences (&cell->summary, &first->summary);
  note (fp, "WARNING: %s: %s did not do the same work as %s: %s.",
        cell->plan.case_name, cell->plan.environment,
        first->plan.environment, text);
  free (text);
}

/* Names of the cells whose runs differ.  Counts those that could. */
static char *
list_varied (const struct bench_job *job, size_t *repeated)
{
  char *list = copy_string ("");

  *repeated = 0;
  for (size_t i = 0; i < job->nr_cases; i++) {
    for (size_t e = 0; e < job->nr_environments; e++) {
      const struct cell *cell = &job->cases[i].cells[e];
      char *longer;

      *repeated += cell->summary.n > 1;
      if (!cell->summary.varied)
        continue;
      longer = format_string ("%s%s%s%s%s", list, *list ? ", " : "",
                              cell->plan.case_name,
                              *cell->plan.environment ? " " : "",
                              cell->plan.environment);
      free (list);
      list = longer;
    }
  }
  return list;
}

static void
note_varied (FILE *fp, const struct bench_job *job)
{
  size_t repeated;
  char *list = list_varied (job, &repeated);

  if (*list)
    note (fp, "Requests or bytes varied from run to run: %s. In each other "
          "cell every run sent the storage the same number.", list);
  else if (repeated)
    note (fp, "In each cell every run sent the storage the same number of "
          "requests and bytes.");
  free (list);
}

/* --- Bytes --- */

/* More than this is worth a sentence. */
#define AMPLIFIED 1.05

static void
write_amplification (FILE *fp, const struct cell *cell, const char *separator)
{
  fprintf (fp, "%s%.3g%s%s", separator, cell->summary.amplification,
           *cell->plan.environment ? " with " : "", cell->plan.environment);
}

/* Returns the largest. */
static double
write_amplifications (FILE *fp, const struct bench_job *job,
                      const struct bench_case *c)
{
  const char *separator = "";
  double largest = 0;

  for (size_t e = 0; e < job->nr_environments; e++) {
    const struct cell *cell = &c->cells[e];

    if (isnan (cell->summary.amplification))
      continue;
    write_amplification (fp, cell, separator);
    separator = ", ";
    largest = fmax (largest, cell->summary.amplification);
  }
  return largest;
}

static void
note_amplification (FILE *fp, const struct bench_job *job,
                    const struct bench_case *c)
{
  struct buffer buffer;
  FILE *list = buffer_open (&buffer);
  double largest;

  if (list == NULL)
    return;
  largest = write_amplifications (list, job, c);
  if (buffer_close (list) == 0 && largest > AMPLIFIED)
    note (fp, "%s: bytes written to the storage for each byte that the client "
          "asked to write: %.*s.", c->name, (int) buffer.size, buffer.data);
  free (buffer.data);
}

/* --- Seconds --- */

/* " (outliers: run 3, 1.424 s; run 5, ...)": runs by number, from 1. */
static void
write_outliers (FILE *fp, const struct cell *cell)
{
  const struct cell_summary *s = &cell->summary;
  const char *separator = " (outliers: ";
  bool any = false;

  for (size_t i = 0; i < cell->nr_runs; i++) {
    double seconds = run_seconds (&cell->runs[i], s->by_client);

    if (!sample_outlier (s->seconds, s->n, seconds))
      continue;
    fprintf (fp, "%srun %zu, %.3f s", separator, i + 1, seconds);
    separator = "; ";
    any = true;
  }
  if (any)
    putc (')', fp);
}

/* All cells that are spread wide.  Returns whether there is any. */
static bool
write_spreads (FILE *fp, const struct bench_job *job)
{
  const char *separator = "";

  for (size_t i = 0; i < job->nr_cases; i++) {
    for (size_t e = 0; e < job->nr_environments; e++) {
      const struct cell *cell = &job->cases[i].cells[e];

      if (!(cell->summary.spread > WIDE_SPREAD))
        continue;
      fprintf (fp, "%s%s%s%s %.0f%%", separator, cell->plan.case_name,
               *cell->plan.environment ? " " : "", cell->plan.environment,
               cell->summary.spread * 100);
      write_outliers (fp, cell);
      separator = ", ";
    }
  }
  return *separator;
}

static void
note_spread (FILE *fp, const struct bench_job *job)
{
  struct buffer buffer;
  FILE *list = buffer_open (&buffer);
  bool any = list && write_spreads (list, job);

  if (list == NULL)
    return;
  if (buffer_close (list) == 0 && any)
    note (fp, "WARNING: the deviation is above %.0f%% of the mean: %.*s.",
          WIDE_SPREAD * 100, (int) buffer.size, buffer.data);
  free (buffer.data);
}

/* "B takes 1.31 times as long as A." */
static void
note_ratio (FILE *fp, const struct cell *cell, const struct cell *first,
            const struct cell_comparison *c)
{
  if (c->significant)
    note (fp, "%s: %s takes %.2f times as long as %s (95%% interval: %.2f to "
          "%.2f; p = %.2g).", cell->plan.case_name, cell->plan.environment,
          c->ratio.ratio, first->plan.environment, c->ratio.low,
          c->ratio.high, c->p);
}

/* The cases in which nothing is proven of an environment, all in one. */
static void
note_no_difference (FILE *fp, const struct bench_job *job, size_t e)
{
  char *list = copy_string ("");

  for (size_t i = 0; i < job->nr_cases; i++) {
    const struct bench_case *c = &job->cases[i];

    if (c->comparisons[e].provable && !c->comparisons[e].significant) {
      char *longer = format_string ("%s%s%s", list, *list ? ", " : "",
                                    c->name);

      free (list);
      list = longer;
    }
  }
  if (*list)
    note (fp, "No significant difference between %s and %s: %s.",
          job->environments[e].name, job->environments[0].name, list);
  free (list);
}

/* --- Power --- */

/* With how many runs each a difference could be significant among so many
 * comparisons.
 */
static size_t
runs_needed (size_t comparisons)
{
  size_t n = 2;

  while (n < EXACT_RUNS / 2
         && smallest_p (n, n) * (double) comparisons > SIGNIFICANT_P)
    n++;
  return n;
}

/* Of all jobs, since all comparisons are corrected together. */
static void
note_power (FILE *fp, struct bench *bench)
{
  size_t comparisons = 0, too_few = 0;

  FOR_EACH_COMPARISON (bench, j, c, comparison) {
    comparisons += !isnan (comparison->p);
    too_few += !isnan (comparison->p) && !comparison->provable;
  }
  if (too_few > 0)
    note (fp, "Too few runs: among %zu comparison%s a difference can be "
          "significant from %zu runs each on.", comparisons,
          comparisons == 1 ? "" : "s", runs_needed (comparisons));
}

static void
warn_case (FILE *fp, const struct bench_job *job, const struct bench_case *c)
{
  for (size_t e = 0; e < job->nr_environments; e++)
    note_failure (fp, &c->cells[e]);
  for (size_t e = 1; e < job->nr_environments; e++)
    note_work (fp, &c->cells[e], &c->cells[0], &c->comparisons[e]);
}

static void
note_case (FILE *fp, const struct bench_job *job, const struct bench_case *c)
{
  for (size_t e = 1; e < job->nr_environments; e++)
    note_ratio (fp, &c->cells[e], &c->cells[0], &c->comparisons[e]);
  note_amplification (fp, job, c);
}

void
bench_print_notes (const struct bench_job *job, struct bench *bench, FILE *fp)
{
  fputc ('\n', fp);
  for (size_t i = 0; i < job->nr_cases; i++)
    warn_case (fp, job, &job->cases[i]);
  note_spread (fp, job);
  for (size_t i = 0; i < job->nr_cases; i++)
    note_case (fp, job, &job->cases[i]);
  for (size_t e = 1; e < job->nr_environments; e++)
    note_no_difference (fp, job, e);
  note_varied (fp, job);
  if (job == bench->jobs + bench->nr_jobs - 1)
    note_power (fp, bench);
}
