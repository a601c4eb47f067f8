/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* nbdkit-stats report: a stored report in another form. */

#include <config.h>

#include <stdio.h>
#include <string.h>

#include "command.h"
#include "convert.h"
#include "errors.h"

static const char help[] =
"Usage: nbdkit-stats report [OPTION]... FILE.json\n"
"\n"
"Write reports of the filter with statsformat=json in another form.\n"
"FILE.json may be -, standard input.\n"
"\n"
"Options:\n"
"  --detail=brief|full\n"
"              all tables in text, or the most important (as the run had it)\n"
"  --format=text|prometheus|fio|csv\n"
"              the form: as the filter would have written it (text, which is\n"
"              the default, or prometheus), as fio's json+, or rows of CSV\n"
"  --help      this text\n"
"\n"
"The manual is nbdkit-stats-report(1).\n";

struct choice {
  const char *name;             /* NULL after the last */
  convert_fn convert;
};

static const struct choice formats[] = {
  { "text", convert_text },
  { "prometheus", convert_prometheus },
  { "fio", convert_fio },
  { "csv", convert_csv },
  { .name = NULL }
};

static const struct choice details[] = {
  { "brief", convert_text_brief },
  { "full", convert_text_full },
  { .name = NULL }
};

/* NULL where there is none of that name. */
static convert_fn
find (const struct choice *choices, const char *name)
{
  while (choices->name && strcmp (choices->name, name) != 0)
    choices++;
  return choices->convert;
}

static int
convert (const char *file, convert_fn write)
{
  struct report_reader reader;
  int status;

  if (report_reader_open (&reader, file) == -1)
    return STATUS_BAD;
  status = write (&reader, stdout);
  report_reader_close (&reader);
  return status;
}

int
report_command (int argc, char *argv[])
{
  static const struct option options[] = {
    { "detail", required_argument, NULL, 'd' },
    { "format", required_argument, NULL, 'f' },
    HELP_OPTION
  };
  convert_fn write = convert_text, text = convert_text;
  int c;

  while ((c = next_option (argc, argv, options, help)) != -1) {
    if (c == 'd' && (text = find (details, optarg)) == NULL)
      return bad_usage (argv, "there is no detail %s", optarg);
    if (c == 'f' && (write = find (formats, optarg)) == NULL)
      return bad_usage (argv, "there is no format %s", optarg);
  }
  if (argc - optind != 1)
    return bad_usage (argv, "one file is needed");
  return convert (argv[optind], write == convert_text ? text : write);
}
