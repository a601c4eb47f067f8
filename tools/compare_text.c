/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Comparisons as text and as Markdown: the same tables in two styles. */

#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare_write.h"
#include "num2str.h"

#define CELL_LEN 40
#define WIDTH 79
#define LENGTH(array) (sizeof (array) / sizeof (array)[0])

/* A row of a table: what it is of, on both sides, the change and p. */
struct row {
  char label[MAX_WORD], a[CELL_LEN], b[CELL_LEN], change[CELL_LEN],
    p[CELL_LEN];
};

struct style {
  void (*paragraph) (FILE *fp, const char *text);
  void (*heading) (FILE *fp, const char *text);
  void (*titles) (FILE *fp);
  void (*group) (FILE *fp, const char *name); /* the rows that follow */
  void (*row) (FILE *fp, const struct row *row);
  void (*end) (FILE *fp);       /* of the table */
};

/* Cells. */

static void
write_figure (char cell[CELL_LEN], double value, enum figure_unit unit)
{
  char buf[NUM2STR_LEN];

  if (isnan (value)) {
    snprintf (cell, CELL_LEN, "-");
    return;
  }
  switch (unit) {
  case UNIT_COUNT:
    snprintf (cell, CELL_LEN, "%.*f", value == floor (value) ? 0 : 1, value);
    return;
  case UNIT_NUMBER:
    decimal2str (buf, value, 2, 10);
    break;
  case UNIT_BYTES:
    num2str (buf, value, NUM_BYTES);
    break;
  case UNIT_BYTES_PER_S:
    num2str (buf, value, NUM_BYTES_PER_S);
    break;
  case UNIT_NS:
    num2str (buf, value, NUM_TIME);
    break;
  }
  snprintf (cell, CELL_LEN, "%s", buf + strspn (buf, " "));
}

/* A change of more than tenfold is told as that. */
static void
write_change (char cell[CELL_LEN], const struct difference *d)
{
  const double percent = difference_percent (d);

  if (isnan (d->a) || isnan (d->b) || d->a == d->b)
    cell[0] = '\0';
  else if (isnan (percent))
    snprintf (cell, CELL_LEN, "new");
  else if (percent >= 1000)
    snprintf (cell, CELL_LEN, "x %.4g", d->b / d->a);
  else
    snprintf (cell, CELL_LEN, "%+.1f%%", percent);
}

static void
write_p (char cell[CELL_LEN], const struct difference *d)
{
  if (isnan (d->p) || d->a == d->b)
    cell[0] = '\0';
  else if (d->p < 0.001)
    snprintf (cell, CELL_LEN, "<0.001*");
  else
    snprintf (cell, CELL_LEN, "%.3f%s", d->p, is_significant (d) ? "*" : "");
}

static void
write_row (FILE *fp, const struct style *style, const char *label,
           const struct difference *d, enum figure_unit unit)
{
  struct row row;

  snprintf (row.label, sizeof row.label, "%s", label);
  write_figure (row.a, d->a, unit);
  write_figure (row.b, d->b, unit);
  write_change (row.change, d);
  write_p (row.p, d);
  style->row (fp, &row);
}

/* Tables. */

/* Where there is nothing on either side there is no row. */
static bool
is_empty (const struct difference *d)
{
  return (isnan (d->a) || d->a == 0) && (isnan (d->b) || d->b == 0);
}

static void
write_op (FILE *fp, const struct style *style, const struct comparison *c,
          enum op op)
{
  bool begun = false;

  for (unsigned i = 0; i < NR_FIGURES; i++) {
    if (is_empty (&c->ops[op][i]))
      continue;
    if (!begun)
      style->group (fp, op_name (op));
    begun = true;
    write_row (fp, style, figure_kinds[i].label, &c->ops[op][i],
               figure_kinds[i].unit);
  }
}

static void
write_account (FILE *fp, const struct style *style,
               const struct comparison *c)
{
  if (c->nr_states == 0)
    return;
  style->group (fp, "where the time went");
  for (size_t i = 0; i < c->nr_states; i++) {
    if (!is_empty (&c->states[i].ns))
      write_row (fp, style, c->states[i].name, &c->states[i].ns, UNIT_NS);
  }
}

static void
write_table (FILE *fp, const struct style *style, const struct comparison *c)
{
  style->titles (fp);
  style->group (fp, "all");
  write_row (fp, style, "time", &c->time, UNIT_NS);
  for (unsigned op = 0; op < NR_OPS; op++)
    write_op (fp, style, c, op);
  write_account (fp, style, c);
  style->end (fp);
}

/* What is said around them. */

static void
write_findings (FILE *fp, const struct style *style,
                const struct compare_side *side,
                const struct compare_side *other, const char *what)
{
  const char *findings[MAX_RUN_FINDINGS];
  const size_t n = findings_only_in (side, other, findings);
  char text[MAX_RUN_FINDINGS * (MAX_WORD + 2) + 64];
  size_t length;

  if (n == 0)
    return;
  length = (size_t) snprintf (text, sizeof text, "%s: ", what);
  for (size_t i = 0; i < n; i++)
    length += (size_t) snprintf (text + length, sizeof text - length, "%s%s",
                                 i ? ", " : "", findings[i]);
  style->paragraph (fp, text);
}

/* What there was to do was not the same: no time says anything then. */
static void
write_other_work (FILE *fp, const struct style *style,
                  const struct comparison *c)
{
  static const enum figure figures[] = {
    FIGURE_REQUESTS, FIGURE_BYTES, FIGURE_FAILURES,
  };
  char text[128], a[CELL_LEN], b[CELL_LEN];

  for (unsigned i = 0; i < NR_OPS * LENGTH (figures); i++) {
    const enum op op = i / LENGTH (figures);
    const enum figure figure = figures[i % LENGTH (figures)];
    const struct difference *d = &c->ops[op][figure];

    if (work_of (d) != WORK_OTHER)
      continue;
    write_figure (a, d->a, figure_kinds[figure].unit);
    write_figure (b, d->b, figure_kinds[figure].unit);
    snprintf (text, sizeof text, "NOT THE SAME WORK: %s, %s: A %s, B %s",
              op_name (op), figure_kinds[figure].label, a, b);
    style->paragraph (fp, text);
  }
}

static void
write_side (FILE *fp, const struct style *style, const char *letter,
            const struct compare_file *file, const struct compare_side *side)
{
  char text[1024];

  snprintf (text, sizeof text, "%s: %.900s, %zu %s", letter, file->file,
            side->nr_runs, side->nr_runs == 1 ? "run" : "runs");
  style->paragraph (fp, text);
}

/* What is behind a p-value, or why there is none. */
static void
write_note (FILE *fp, const struct style *style, const struct comparison *c)
{
  if (can_prove (c))
    style->paragraph (fp, "Figures are medians. p is of the Mann-Whitney "
                      "test, and * marks what is significant: each row by "
                      "itself, so of twenty rows one is by chance. That of "
                      "the time is corrected for how many comparisons there "
                      "are.");
  else
    style->paragraph (fp, "So few runs prove no difference, whatever the "
                      "figures are; four on each side can.");
}

static void
write_comparison (FILE *fp, const struct style *style,
                  const struct compared *compared,
                  const struct comparison *c)
{
  char verdict[VERDICT_LEN];

  if (c->a->name[0])
    style->heading (fp, c->a->name);
  compare_verdict (verdict, c);
  style->paragraph (fp, verdict);
  write_other_work (fp, style, c);
  write_side (fp, style, "A", compared->a, c->a);
  write_side (fp, style, "B", compared->b, c->b);
  write_table (fp, style, c);
  write_findings (fp, style, c->a, c->b, "findings only in A");
  write_findings (fp, style, c->b, c->a, "findings only in B");
  write_note (fp, style, c);
}

static void
write_all (FILE *fp, const struct style *style,
           const struct compared *compared)
{
  for (size_t i = 0; i < compared->nr; i++) {
    if (i > 0)
      fputc ('\n', fp);
    write_comparison (fp, style, compared, &compared->comparisons[i]);
  }
}

/* Text. */

/* A name may have anything in it that a terminal would obey. */
static void
put_words (FILE *fp, const char *text, size_t n)
{
  for (size_t i = 0; i < n; i++)
    fputc ((unsigned char) text[i] < ' ' || text[i] == 0x7f ? '?' : text[i],
           fp);
}

/* Broken into lines at blanks. */
static void
text_paragraph (FILE *fp, const char *text)
{
  while (*text) {
    size_t n = strlen (text);

    if (n > WIDTH) {
      for (n = WIDTH; n > 0 && text[n] != ' '; n--)
        ;
      if (n == 0)               /* one word that fills the line */
        n = WIDTH;
    }
    put_words (fp, text, n);
    fputc ('\n', fp);
    text += n;
    text += strspn (text, " ");
  }
}

static void
text_heading (FILE *fp, const char *text)
{
  fputs ("== ", fp);
  put_words (fp, text, strlen (text));
  fputc ('\n', fp);
}

static void
text_titles (FILE *fp)
{
  fprintf (fp, "\n%-22s%15s%15s%12s%10s\n", "", "A", "B", "change", "p");
}

static void
text_group (FILE *fp, const char *name)
{
  fprintf (fp, "%s\n", name);
}

static void
text_row (FILE *fp, const struct row *row)
{
  char line[WIDTH + 5 * CELL_LEN];
  int n = snprintf (line, sizeof line, "  %-20.20s%15s%15s%12s%10s",
                    row->label, row->a, row->b, row->change, row->p);

  while (n > 0 && line[n - 1] == ' ')
    n--;
  put_words (fp, line, (size_t) n);
  fputc ('\n', fp);
}

static void
text_end (FILE *fp)
{
  fputc ('\n', fp);
}

void
compare_write_text (FILE *fp, const struct compared *compared)
{
  static const struct style style = {
    .paragraph = text_paragraph, .heading = text_heading,
    .titles = text_titles, .group = text_group, .row = text_row,
    .end = text_end,
  };

  write_all (fp, &style, compared);
}

/* Markdown. */

/* Nothing in a name means anything there. */
static void
put_escaped (FILE *fp, const char *text)
{
  for (; *text; text++) {
    if (strchr ("\\`*_{}[]<>()#|~", *text))
      fputc ('\\', fp);
    fputc ((unsigned char) *text < ' ' ? ' ' : *text, fp);
  }
}

static void
markdown_paragraph (FILE *fp, const char *text)
{
  fputc ('\n', fp);
  put_escaped (fp, text);
  fputc ('\n', fp);
}

static void
markdown_heading (FILE *fp, const char *text)
{
  fputs ("### ", fp);
  put_escaped (fp, text);
  fputc ('\n', fp);
}

static void
markdown_titles (FILE *fp)
{
  fputs ("\n| | A | B | change | p |\n|:--|--:|--:|--:|--:|\n", fp);
}

static void
markdown_group (FILE *fp, const char *name)
{
  fprintf (fp, "| **%s** | | | | |\n", name);
}

static void
markdown_row (FILE *fp, const struct row *row)
{
  const char *const cells[] = { row->label, row->a, row->b, row->change,
                                row->p };

  for (size_t i = 0; i < LENGTH (cells); i++) {
    fputs ("| ", fp);
    put_escaped (fp, cells[i]);
    fputc (' ', fp);
  }
  fputs ("|\n", fp);
}

/* A table ends at the empty line before what follows. */
static void
markdown_end (FILE *fp)
{
  (void) fp;
}

void
compare_write_markdown (FILE *fp, const struct compared *compared)
{
  static const struct style style = {
    .paragraph = markdown_paragraph, .heading = markdown_heading,
    .titles = markdown_titles, .group = markdown_group,
    .row = markdown_row, .end = markdown_end,
  };

  write_all (fp, &style, compared);
}
