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
"  --format=text|prometheus|fio|csv\n"
"              the form: as the filter would have written it (text, which is\n"
"              the default, or prometheus), as fio's json+, or rows of CSV\n"
"  --help      this text\n";

static const struct {
  const char *name;
  convert_fn convert;
} formats[] = {
  { "text", convert_text },
  { "prometheus", convert_prometheus },
  { "fio", convert_fio },
  { "csv", convert_csv },
};

#define NR_FORMATS (sizeof formats / sizeof formats[0])

/* NULL where no format has that name. */
static convert_fn
find_format (const char *name)
{
  for (size_t i = 0; i < NR_FORMATS; i++) {
    if (strcmp (name, formats[i].name) == 0)
      return formats[i].convert;
  }
  return NULL;
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
    { "format", required_argument, NULL, 'f' },
    HELP_OPTION
  };
  convert_fn write = convert_text;

  while (next_option (argc, argv, options, help) != -1) {
    write = find_format (optarg);
    if (write == NULL)
      return bad_usage (argv, "there is no format %s", optarg);
  }
  if (argc - optind != 1)
    return bad_usage (argv, "one file is needed");
  return convert (argv[optind], write);
}
