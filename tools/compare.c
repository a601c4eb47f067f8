/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* nbdkit-stats compare: what one result has that another has not. */

#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "compare_write.h"
#include "errors.h"
#include "parse.h"

static const char help[] =
"Usage: nbdkit-stats compare [OPTION]... A.json B.json\n"
"\n"
"Compare reports of the filter with statsformat=json, or two results of\n"
"a benchmark: how B differs from A. Several final reports in a file are\n"
"several runs. It takes four on each side to prove anything.\n"
"\n"
"Options:\n"
"  --fail-above=PERCENT\n"
"              end with status 3 where B takes more than so much longer, and\n"
"              where there are enough runs, only if that is significant\n"
"  --json      one JSON object\n"
"  --layer=N   compare the layer N of reports, where 1 is nearest the client\n"
"              (default: the one nearest the plugin)\n"
"  --markdown  tables in Markdown\n"
"  --help      this text\n"
"\n"
"The manual is nbdkit-stats-compare(1).\n";

struct compare_options {
  compare_write_fn write;
  unsigned layer;               /* 0: nearest the plugin */
  double fail_above;            /* percent, NaN: never */
};

/* Pairs. */

static const struct compare_side *
find_side (const struct compare_file *file, const char *name)
{
  for (size_t i = 0; i < file->nr_sides; i++) {
    if (strcmp (file->sides[i].name, name) == 0)
      return &file->sides[i];
  }
  return NULL;
}

/* Of the cells that both have.  Returns -1 where there is no memory. */
static int
make_comparisons (struct compared *compared)
{
  const struct compare_file *a = compared->a;

  compared->comparisons = calloc (a->nr_sides, sizeof (struct comparison));
  if (compared->comparisons == NULL)
    return -1;
  for (size_t i = 0; i < a->nr_sides; i++) {
    const struct compare_side *b = find_side (compared->b, a->sides[i].name);

    if (b == NULL || b->nr_runs == 0 || a->sides[i].nr_runs == 0)
      continue;
    if (comparison_make (&compared->comparisons[compared->nr], &a->sides[i],
                         b) == -1)
      return -1;
    compared->nr++;
  }
  comparisons_adjust (compared->comparisons, compared->nr);
  return 0;
}

/* A side that the other file has not is told, but is no failure. */
static void
tell_missing (const struct compare_file *file,
              const struct compare_file *other)
{
  for (size_t i = 0; i < file->nr_sides; i++) {
    const struct compare_side *side = &file->sides[i];
    const struct compare_side *same = find_side (other, side->name);

    if (side->nr_runs > 0 && (same == NULL || same->nr_runs == 0))
      tell_error_at (other->file, 0, "there is no run of %s in it, which %s "
                     "has", side->name, file->file);
  }
}

/* The verdict for scripts. */

static bool
is_above (const struct comparison *c, double percent)
{
  return c->time.b > c->time.a * (1 + percent / 100)
    && (!can_prove (c) || is_significant (&c->time));
}

static int
status_of (const struct compared *compared, double fail_above)
{
  for (size_t i = 0; i < compared->nr; i++) {
    if (!isnan (fail_above)
        && is_above (&compared->comparisons[i], fail_above))
      return STATUS_ABOVE;
  }
  return STATUS_OK;
}

static int
compare (const struct compare_file *a, const struct compare_file *b,
         const struct compare_options *options)
{
  struct compared compared = { .a = a, .b = b };
  int status = STATUS_BAD;

  if (a->bench != b->bench)
    tell_error_at (b->file, 0, "%s, and %s %s",
                   b->bench ? "is a result of bench" : "is a report",
                   a->file, a->bench ? "is a result of bench"
                                     : "is a report");
  else if (make_comparisons (&compared) == -1)
    tell_error ("%s", strerror (ENOMEM));
  else if (compared.nr == 0)
    tell_error_at (b->file, 0, "has nothing in common with %s", a->file);
  else {
    tell_missing (a, b);
    tell_missing (b, a);
    options->write (stdout, &compared);
    status = status_of (&compared, options->fail_above);
  }
  free (compared.comparisons);
  return status;
}

static int
compare_files (char *names[], const struct compare_options *options)
{
  struct compare_file a, b = { .file = NULL };
  int status = STATUS_BAD;

  if (compare_file_read (&a, names[0], options->layer) == 0
      && compare_file_read (&b, names[1], options->layer) == 0)
    status = compare (&a, &b, options);
  compare_file_free (&a);
  compare_file_free (&b);
  return status;
}

/* Options.  Return -1 where the value is none. */

static int
set_fail_above (struct compare_options *options, const char *value)
{
  uint64_t thousandths;

  if (parse_decimal (value, 1000, &thousandths) == -1)
    return -1;
  options->fail_above = (double) thousandths / 1000;
  return 0;
}

static int
set_layer (struct compare_options *options, const char *value)
{
  uint64_t layer;

  if (parse_decimal (value, 1, &layer) == -1 || layer == 0 || layer > 1000)
    return -1;
  options->layer = (unsigned) layer;
  return 0;
}

int
compare_command (int argc, char *argv[])
{
  static const struct option known[] = {
    { "fail-above", required_argument, NULL, 'f' },
    { "json", no_argument, NULL, 'j' },
    { "layer", required_argument, NULL, 'l' },
    { "markdown", no_argument, NULL, 'm' },
    HELP_OPTION
  };
  struct compare_options options = {
    .write = compare_write_text, .fail_above = NAN,
  };
  int c;

  while ((c = next_option (argc, argv, known, help)) != -1) {
    if (c == 'f' && set_fail_above (&options, optarg) == -1)
      return bad_usage (argv, "--fail-above=%s is no percentage", optarg);
    if (c == 'l' && set_layer (&options, optarg) == -1)
      return bad_usage (argv, "--layer=%s is no layer", optarg);
    if (c == 'j')
      options.write = compare_write_json;
    if (c == 'm')
      options.write = compare_write_markdown;
  }
  if (argc - optind != 2)
    return bad_usage (argv, "two files are needed");
  return compare_files (argv + optind, &options);
}
