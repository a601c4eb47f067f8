/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "job.h"
#include "memory.h"
#include "parse.h"
#include "scope.h"

#define GLOBAL "global"
#define ENVIRONMENT "environment "

/* All that may be set.  Other names in lower case are mistakes. */
static const char *const keys[] = {
  "asked", "cleanup", "client", "count", "description", "filter",
  "image-size", "nbdkit", "nbdkit-program", "offset", "prepare", "runs",
  "size", "step", "timeout", "version", "warmup",
};

static bool
is_key (const char *name)
{
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    if (strcmp (name, keys[i]) == 0)
      return true;
  }
  return false;
}

static bool
is_variable (const char *name)
{
  for (const char *p = name; *p; p++) {
    if (*p != '_' && !isupper ((unsigned char) *p)
        && (p == name || !isdigit ((unsigned char) *p)))
      return false;
  }
  return name[0] != '\0';
}

static int
check_names (const struct section *section)
{
  for (size_t i = 0; i < section->nr_settings; i++) {
    const struct setting *setting = &section->settings[i];

    if (is_key (setting->name) || is_variable (setting->name))
      continue;
    tell_error_at (setting->file, setting->line, "unknown key %s (a variable "
                   "has capital letters)", setting->name);
    return -1;
  }
  return 0;
}

static bool
starts_with (const char *s, const char *start)
{
  return strncmp (s, start, strlen (start)) == 0;
}

static void
sort_in (struct job *job, struct section *section)
{
  if (strcmp (section->name, GLOBAL) == 0)
    job->global = section;
  else if (starts_with (section->name, ENVIRONMENT)) {
    struct environment *column;

    job->environments = grow (job->environments, job->nr_environments,
                              sizeof *column);
    column = &job->environments[job->nr_environments++];
    column->name = section->name + strlen (ENVIRONMENT);
    column->settings = section;
  }
  else {
    job->cases = grow (job->cases, job->nr_cases, sizeof *job->cases);
    job->cases[job->nr_cases++] = section;
  }
}

static char *
name_of (const char *path)
{
  const char *slash = strrchr (path, '/');
  const char *name = slash ? slash + 1 : path;
  size_t len = strlen (name);

  if (len > 4 && strcmp (name + len - 4, ".job") == 0)
    len -= 4;
  return copy_bytes (name, len);
}

/* The file has been read or has not: what is in it becomes a job. */
static int
make_job (struct job *job, const char *path, int result)
{
  struct job_file *file = &job->file;

  job->name = name_of (path);
  for (size_t i = 0; result == 0 && i < file->nr_sections; i++) {
    sort_in (job, &file->sections[i]);
    result = check_names (&file->sections[i]);
  }
  if (result == 0 && job->nr_cases == 0) {
    tell_error_at (path, 0, "there is no case: a [section] besides "
                   "[global] and [environment NAME]");
    result = -1;
  }
  return result;
}

int
job_parse (struct job *job, const char *path, const char *text, size_t size)
{
  *job = (struct job) { .name = NULL };
  return make_job (job, path, job_file_parse (&job->file, path, text, size));
}

int
job_read (struct job *job, const char *path)
{
  *job = (struct job) { .name = NULL };
  return make_job (job, path, job_file_read (&job->file, path));
}

void
job_free (struct job *job)
{
  free (job->name);
  free (job->cases);
  free (job->environments);
  job_file_free (&job->file);
}

bool
job_knows (const struct job *job, const char *name)
{
  for (size_t i = 0; i < job->file.nr_sections; i++) {
    if (section_find (&job->file.sections[i], name))
      return true;
  }
  return is_key (name);
}

const char *
job_description (const struct job *job)
{
  const struct setting *setting
    = job->global ? section_find (job->global, "description") : NULL;

  return setting ? setting->value : "";
}

/* Digits, and perhaps a K, M, G or T for powers of 1024. */
static int
parse_bytes (const char *value, uint64_t *result)
{
  static const char suffixes[] = "KMGT";
  const char *suffix;
  unsigned shift = 0;
  char *end;

  if (!isdigit ((unsigned char) value[0]))
    return -1;
  errno = 0;
  *result = strtoull (value, &end, 10);
  if (errno)
    return -1;
  if (*end) {
    suffix = strchr (suffixes, toupper ((unsigned char) *end));
    if (suffix == NULL || end[1])
      return -1;
    shift = 10 * (unsigned) (suffix - suffixes + 1);
  }
  if (*result > UINT64_MAX >> shift)
    return -1;
  *result <<= shift;
  return 0;
}

static int
parse_timeout (const char *value, uint64_t *ns)
{
  return parse_duration (value, ns) == -1 || *ns == 0 ? -1 : 0;
}

/* What parse makes of a value, or the default, which result has before. */
static int
get_value (const struct scope *scope, const char *name,
           int (*parse) (const char *, uint64_t *), const char *kind,
           uint64_t *result)
{
  const struct setting *setting = scope_find (scope, name);
  char *value;
  int r;

  if (setting == NULL)
    return 0;
  if (scope_value (scope, name, &value) == -1)
    return -1;
  r = parse (value, result);
  if (r == -1)
    tell_error_at (setting->file, setting->line, "%s is no %s: %s", name,
                   kind, value);
  free (value);
  return r;
}

static int
get_number (const struct scope *scope, const char *name, uint64_t *result)
{
  return get_value (scope, name, parse_bytes, "number (10, 64K, 1G)", result);
}

/* What the client asks for: requests of a size, each a step behind the one
 * before.
 */
struct stream {
  uint64_t image_size, offset, count, step, size;
};

static int
get_stream (const struct scope *scope, struct stream *stream)
{
  *stream = (struct stream) { .count = 1 };
  if (get_number (scope, "size", &stream->size) == -1)
    return -1;
  stream->step = stream->size;
  if (get_number (scope, "image-size", &stream->image_size) == -1
      || get_number (scope, "offset", &stream->offset) == -1
      || get_number (scope, "count", &stream->count) == -1
      || get_number (scope, "step", &stream->step) == -1)
    return -1;
  return 0;
}

/* Clients wrap around at the end of the image, or fail: either is another
 * benchmark than the one that was meant.
 */
static int
check_stream (const struct section *row, const struct setting *setting,
              const struct stream *s)
{
  unsigned __int128 end;

  if (s->count == 0) {
    tell_error_at (setting->file, setting->line, "%s: count is 0",
                   row->name);
    return -1;
  }
  end = (unsigned __int128) (s->count - 1) * s->step + s->offset + s->size;
  if (end <= s->image_size)
    return 0;
  tell_error_at (setting->file, setting->line, "%s: the last request ends at "
                 "%.0f, behind the end of the image at %.0f", row->name,
                 (double) end, (double) s->image_size);
  return -1;
}

static int
plan_bytes (const struct scope *scope, const struct section *row,
            struct cell_plan *plan)
{
  const struct setting *image_size = scope_find (scope, "image-size");
  const struct setting *size = scope_find (scope, "size");
  struct stream stream;
  unsigned __int128 asked;

  if (get_stream (scope, &stream) == -1)
    return -1;
  if (image_size && check_stream (row, image_size, &stream) == -1)
    return -1;
  asked = (unsigned __int128) stream.count * stream.size;
  plan->asks = size || scope_find (scope, "asked");
  plan->asked = asked > UINT64_MAX ? UINT64_MAX : (uint64_t) asked;
  return get_number (scope, "asked", &plan->asked);
}

/* How often something runs: from min to MAX_RUNS. */
static int
get_runs (const struct scope *scope, const char *name, uint64_t min,
          uint64_t *result)
{
  const struct setting *setting = scope_find (scope, name);

  if (get_number (scope, name, result) == -1)
    return -1;
  if (setting == NULL || (*result >= min && *result <= MAX_RUNS))
    return 0;
  tell_error_at (setting->file, setting->line, "%s is %" PRIu64 " to %d",
                 name, min, MAX_RUNS);
  return -1;
}

static int
plan_numbers (const struct scope *scope, const struct section *row,
              struct cell_plan *plan)
{
  plan->runs = DEFAULT_RUNS;
  plan->timeout_ns = DEFAULT_TIMEOUT_NS;
  return get_runs (scope, "runs", 1, &plan->runs) == -1
    || get_runs (scope, "warmup", 0, &plan->warmup) == -1
    || get_value (scope, "timeout", parse_timeout, "time (30, 1.5, 10m)",
                  &plan->timeout_ns) == -1
    || plan_bytes (scope, row, plan) == -1 ? -1 : 0;
}

static int
plan_strings (const struct scope *scope, struct cell_plan *plan)
{
  const struct {
    const char *name;
    char **value;
  } strings[] = {
    { "description", &plan->description },
    { "prepare", &plan->prepare },
    { "client", &plan->client },
    { "cleanup", &plan->cleanup },
    { "nbdkit", &plan->nbdkit },
    { "nbdkit-program", &plan->nbdkit_program },
    { "filter", &plan->filter },
    { "version", &plan->version },
  };

  for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
    if (scope_value (scope, strings[i].name, strings[i].value) == -1)
      return -1;
  }
  return 0;
}

static int
check_complete (const struct job *job, const struct section *row,
                const struct cell_plan *plan)
{
  const char *missing = plan->nbdkit == NULL ? "nbdkit"
    : plan->client == NULL ? "client" : NULL;

  if (missing == NULL)
    return 0;
  tell_error_at (job->file.path, row->line, "the case %s has no %s",
                 row->name, missing);
  return -1;
}

int
job_plan (const struct job *job, const struct section *row,
          const struct environment *column, struct cell_plan *plan)
{
  const struct scope scope = {
    .levels = { column ? column->settings : NULL, row, job->global },
  };

  *plan = (struct cell_plan) {
    .case_name = row->name,
    .environment = column ? column->name : "",
  };
  if (plan_strings (&scope, plan) == -1
      || plan_numbers (&scope, row, plan) == -1
      || check_complete (job, row, plan) == -1) {
    cell_plan_free (plan);
    return -1;
  }
  return 0;
}

void
cell_plan_free (struct cell_plan *plan)
{
  free (plan->description);
  free (plan->prepare);
  free (plan->client);
  free (plan->cleanup);
  free (plan->nbdkit);
  free (plan->nbdkit_program);
  free (plan->filter);
  free (plan->version);
  *plan = (struct cell_plan) { .case_name = NULL };
}
