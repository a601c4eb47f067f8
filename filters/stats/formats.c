/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <string.h>

#include "report.h"

const struct report_format report_formats[] = {
  { "text",       OUTPUT_NEW,    text_write_row,      text_write },
  { "json",       OUTPUT_NEW,    json_write_interval, json_write },
  { "prometheus", OUTPUT_LATEST, prometheus_write,    prometheus_write },
  { .name = NULL }
};

const struct report_format *
report_format_find (const char *name)
{
  const struct report_format *format = report_formats;

  while (format->name && strcmp (format->name, name) != 0)
    format++;
  return format->name ? format : NULL;
}

const char *
report_format_names (char *buf, size_t size)
{
  const struct report_format *format = report_formats;
  size_t length = 0;

  for (; format->name && length < size; format++)
    length += (size_t) snprintf (buf + length, size - length, "%s%s",
                                 format == report_formats ? ""
                                 : format[1].name ? ", " : " or ",
                                 format->name);
  return buf;
}
