/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buffer.h"
#include "clock.h"
#include "report.h"
#include "reporting.h"
#include "snapshot.h"
#include "ticker.h"

struct reporting {
  const struct report_options *options;
  output_error_fn error;
  struct output *output;
  const struct report_format *format;
  bool finished;

  struct settler *settler;
  struct recorder **recorders;  /* nearest the client last */
  size_t nr_recorders;          /* all layers have one after the fork */
  struct snapshot now;
  struct snapshot before;       /* with an interval: at the last tick, */
  struct snapshot interval;     /* and what happened since then */
  unsigned intervals;           /* interval reports so far */

  struct ticker ticker;
  bool ticking;
};

static enum output_mode
output_mode (const struct report_options *options)
{
  return options->append ? OUTPUT_APPEND : options->format->mode;
}

/* Not into the stream in which the client and the server talk. */
static int
check_output (const struct output *output,
              const struct report_options *options, output_error_fn error)
{
  if (!options->stdio_is_client
      || (!output_leads_to (output, STDIN_FILENO)
          && !output_leads_to (output, STDOUT_FILENO)))
    return 0;
  error ("statsfile=%s: with -s, this is where the client gets its answers; "
         "give another FILE", options->file ? options->file : "-");
  return -1;
}

struct reporting *
reporting_new (const struct report_options *options, output_error_fn error)
{
  struct reporting *reporting = calloc (1, sizeof *reporting);

  if (reporting == NULL) {
    error ("stats: %s", strerror (errno));
    return NULL;
  }
  reporting->options = options;
  reporting->error = error;
  reporting->format = options->format;
  reporting->output = output_open (options->file, output_mode (options),
                                   error);
  if (reporting->output == NULL
      || check_output (reporting->output, options, error) == -1) {
    output_close (reporting->output);
    free (reporting);
    return NULL;
  }
  return reporting;
}

static void
stop_ticking (struct reporting *reporting)
{
  if (reporting->ticking)
    ticker_stop (&reporting->ticker);
  reporting->ticking = false;
}

void
reporting_free (struct reporting *reporting)
{
  if (reporting == NULL)
    return;
  stop_ticking (reporting);
  snapshot_free (&reporting->now);
  snapshot_free (&reporting->before);
  snapshot_free (&reporting->interval);
  output_close (reporting->output);
  free (reporting->recorders);
  free (reporting);
}

/* The system log takes lines.  It is too late to refuse to start: whoever
 * started the server has gone with success.
 */
static void
use_text (struct reporting *reporting)
{
  const struct report_format *text = &report_formats[0];

  if (reporting->format != text)
    reporting->error ("statsformat=%s: in the background it needs "
                      "statsfile=FILE; the report will be text in the "
                      "system log", reporting->format->name);
  reporting->format = text;
}

void
reporting_start (struct reporting *reporting, struct settler *settler)
{
  const struct report_options *options = reporting->options;
  struct snapshot *now = &reporting->now;

  reporting->settler = settler;
  output_after_fork (reporting->output);
  if (output_is_syslog (reporting->output))
    use_text (reporting);
  clock_gettime (CLOCK_REALTIME, &now->start_time);
  now->start = clock_now ();
  now->nbdkit_version = options->nbdkit_version;
  now->plugin = options->plugin;
  now->label = options->label;
  now->pid = getpid ();
  now->threshold = options->threshold;
  now->block = options->block;
  now->zero = options->zero;
  now->thread_model = options->thread_model;
}

/* Sum up all layers at one moment.  Recorders are the other way round. */
static void
take_snapshot (struct reporting *reporting)
{
  struct snapshot *now = &reporting->now;
  struct recorder **recorders = reporting->recorders;
  const size_t nr = reporting->nr_recorders;
  const uint64_t moment = settler_hold (reporting->settler);

  for (size_t i = 0; i < nr; i++)
    recorder_read (recorders[i], moment, &now->layers[nr - 1 - i]);
  settler_release (reporting->settler);
  clock_gettime (CLOCK_REALTIME, &now->time);
  now->elapsed_ns = clock_since (now->start, moment);
}

/* The interval since the last tick ends with this snapshot. */
static void
take_interval (struct reporting *reporting)
{
  take_snapshot (reporting);
  snapshot_subtract (&reporting->interval, &reporting->now,
                     &reporting->before);
  snapshot_copy (&reporting->before, &reporting->now);
}

/* Have a report written to memory, then out in one piece.  A plugin may
 * have set a locale with a decimal comma.
 */
static void
write_report (struct reporting *reporting, report_write_fn write, bool last)
{
  const struct report report = {
    .now = &reporting->now,
    .interval = &reporting->interval,
    .intervals = reporting->intervals,
    .full = reporting->options->full,
    .at_top = output_at_top (reporting->output),
    .headed = reporting->options->append || reporting->options->label,
  };
  struct buffer buffer = { 0 };
  locale_t c_locale = newlocale (LC_ALL_MASK, "C", (locale_t) 0);
  locale_t old_locale = uselocale (c_locale);
  FILE *fp = buffer_open (&buffer);
  int r = -1;

  if (fp != NULL) {
    write (fp, &report);
    r = buffer_close (fp);
  }
  uselocale (old_locale);
  freelocale (c_locale);
  if (r == -1)
    output_lost (reporting->output, last);
  else if (buffer.size > 0) {
    if (reporting->options->debug)
      reporting->options->debug ("stats: report of %zu bytes to %s",
                                 buffer.size,
                                 output_name (reporting->output));
    output_write (reporting->output, buffer.data, buffer.size, last);
  }
  free (buffer.data);
}

static void
tick (void *vp)
{
  struct reporting *reporting = vp;

  take_interval (reporting);
  write_report (reporting, reporting->format->write_interval, false);
  reporting->intervals++;
}

/* A monitoring system sees no increase in a counter that it has not seen
 * before, so the counters are there before the first request.
 */
static void
report_start (struct reporting *reporting)
{
  if (reporting->format->mode == OUTPUT_LATEST)
    tick (reporting);
}

/* Without a thread there is still the report at the end. */
static void
start_ticking (struct reporting *reporting)
{
  int r;

  snapshot_copy (&reporting->before, &reporting->now);
  report_start (reporting);
  r = ticker_start (&reporting->ticker, reporting->options->interval_ns, tick,
                    reporting);
  if (r != 0)
    reporting->error ("statsinterval: there will be no reports while "
                      "running: cannot start a thread: %s", strerror (r));
  reporting->ticking = r == 0;
}

int
reporting_reserve_layer (struct reporting *reporting)
{
  const bool intervals = reporting->options->interval_ns > 0;
  struct recorder **recorders;

  recorders = realloc (reporting->recorders, (reporting->now.nr_layers + 1)
                                             * sizeof *recorders);
  if (recorders)
    reporting->recorders = recorders;
  if (recorders == NULL || snapshot_add_layer (&reporting->now) == -1
      || (intervals && (snapshot_add_layer (&reporting->before) == -1
                        || snapshot_add_layer (&reporting->interval) == -1))) {
    reporting->error ("stats: %s", strerror (errno));
    return -1;
  }
  return 0;
}

void
reporting_add_layer (struct reporting *reporting, struct recorder *recorder)
{
  recorder_start (recorder, reporting->now.start);
  reporting->recorders[reporting->nr_recorders++] = recorder;
  if (reporting->options->interval_ns > 0
      && reporting->nr_recorders == reporting->now.nr_layers)
    start_ticking (reporting);
}

void
reporting_finish (struct reporting *reporting)
{
  const bool ticked = reporting->ticking;

  if (reporting->finished)
    return;
  reporting->finished = true;
  stop_ticking (reporting);
  reporting->now.ended = true;
  if (ticked && reporting->format->mode != OUTPUT_LATEST)
    tick (reporting);
  else
    take_snapshot (reporting);
  write_report (reporting, reporting->format->write_final, true);
}
