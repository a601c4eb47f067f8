/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_file.h"
#include "buffer.h"
#include "errors.h"
#include "files.h"
#include "json_copy.h"
#include "json_writer.h"
#include "memory.h"

/* What it does: the same cell does the same again. */
static void
write_plan (struct json *json, const struct cell_plan *plan)
{
  json_string_or_null (json, "nbdkit_program", plan->nbdkit_program);
  json_string_or_null (json, "nbdkit", plan->nbdkit);
  json_string_or_null (json, "filter", plan->filter);
  json_string_or_null (json, "prepare", plan->prepare);
  json_string_or_null (json, "client", plan->client);
  json_string_or_null (json, "cleanup", plan->cleanup);
  json_count (json, "planned_runs", plan->runs);
  json_count (json, "warmup", plan->warmup);
  json_count (json, "timeout_ns", plan->timeout_ns);
  if (plan->asks)
    json_count (json, "asked_bytes", plan->asked);
  else
    json_null (json, "asked_bytes");
}

static void
write_client (struct json *json, const struct run *run)
{
  JSON_OBJECT (json, "client") {
    json_real (json, "wall_seconds", run->wall_s);
    json_real (json, "seconds", run->client.seconds);
    latencies_write (json, &run->client.latencies);
  }
}

static void
write_summary (struct json *json, const struct cell_summary *summary)
{
  JSON_OBJECT (json, "summary") {
    json_count (json, "runs", summary->n);
    json_string (json, "seconds_from",
                 summary->by_client ? "client" : "active");
    JSON_OBJECT (json, "seconds") {
      json_real (json, "mean", summary->mean);
      json_real (json, "stddev", summary->stddev);
      json_real (json, "median", summary->median);
    }
    json_real (json, "active_seconds_median", summary->active_s);
    json_real (json, "write_amplification", summary->amplification);
    json_bool (json, "requests_varied", summary->varied);
  }
}

static void
write_comparison (struct json *json, const struct cell_comparison *comparison)
{
  JSON_OBJECT (json, "against_first") {
    json_real (json, "ratio", comparison->ratio.ratio);
    JSON_ARRAY (json, "ratio_interval") {
      json_real (json, NULL, comparison->ratio.low);
      json_real (json, NULL, comparison->ratio.high);
    }
    json_real (json, "confidence", CONFIDENCE);
    json_real (json, "u", comparison->test.u);
    json_real (json, "p", comparison->test.p);
    json_real (json, "p_holm", comparison->p);
    json_real (json, "superiority", comparison->test.superiority);
    json_bool (json, "significant", comparison->significant);
    json_bool (json, "other_work", comparison->other_work);
  }
}

static void
write_cell (struct json *json, const struct cell *cell)
{
  json_string (json, "environment", cell->plan.environment);
  write_plan (json, &cell->plan);
  json_string_or_null (json, "nbdkit_version", cell->nbdkit_version);
  json_string_or_null (json, "client_version", cell->client_version);
  json_copy (json, "export", cell->export);
  json_string_or_null (json, "failure", cell->failure);
  JSON_ARRAY (json, "runs") {
    for (size_t i = 0; i < cell->nr_runs; i++) {
      JSON_OBJECT (json, NULL) {
        write_client (json, &cell->runs[i]);
        figures_write (json, &cell->runs[i].figures);
      }
    }
  }
  write_summary (json, &cell->summary);
}

static void
write_case (struct json *json, const struct bench_job *job,
            const struct bench_case *c)
{
  json_string (json, "name", c->name);
  JSON_ARRAY (json, "cells") {
    for (size_t e = 0; e < job->nr_environments; e++) {
      JSON_OBJECT (json, NULL) {
        write_cell (json, &c->cells[e]);
        if (e > 0)
          write_comparison (json, &c->comparisons[e]);
      }
    }
  }
}

static void
write_environment (struct json *json, const struct environment *column)
{
  const struct section *section = column->settings;

  json_string (json, "name", column->name);
  JSON_OBJECT (json, "settings") {
    for (size_t i = 0; i < section->nr_settings; i++)
      json_string (json, section->settings[i].name,
                   section->settings[i].value);
  }
}

static void
write_job (struct json *json, const struct bench_job *job)
{
  json_string (json, "name", job->job.name);
  json_string (json, "file", job->job.file.path);
  json_string (json, "text", job->job.file.text);
  JSON_ARRAY (json, "environments") {
    for (size_t e = 0; e < job->nr_environments; e++) {
      JSON_OBJECT (json, NULL)
        write_environment (json, &job->environments[e]);
    }
  }
  JSON_ARRAY (json, "cases") {
    for (size_t i = 0; i < job->nr_cases; i++) {
      JSON_OBJECT (json, NULL)
        write_case (json, job, &job->cases[i]);
    }
  }
}

static void
write_bench (struct json *json, const struct bench *bench)
{
  json_count (json, "schema", BENCH_SCHEMA);
  json_string (json, "type", "bench");
  json_string (json, "version", PACKAGE_VERSION);
  JSON_ARRAY (json, "command") {
    for (char *const *arg = bench->argv; *arg; arg++)
      json_string (json, NULL, *arg);
  }
  system_write (json, &bench->system);
  if (bench->earlier)
    json_copy (json, "earlier", bench->earlier);
  JSON_ARRAY (json, "jobs") {
    for (size_t i = 0; i < bench->nr_jobs; i++) {
      JSON_OBJECT (json, NULL)
        write_job (json, &bench->jobs[i]);
    }
  }
}

int
bench_file_write (struct bench *bench)
{
  struct buffer buffer;
  struct json json = { .comma = false };
  int r = -1;

  if (bench->output == NULL)
    return 0;
  bench_summarize (bench);
  json.fp = buffer_open (&buffer);
  if (json.fp == NULL) {
    tell_error_at (bench->output, 0, "%m");
    return -1;
  }
  JSON_OBJECT (&json, NULL)
    write_bench (&json, bench);
  putc ('\n', json.fp);
  if (buffer_close (json.fp) == -1)
    tell_error_at (bench->output, 0, "out of memory");
  else
    r = file_replace (bench->output, buffer.data, buffer.size);
  free (buffer.data);
  return r;
}
