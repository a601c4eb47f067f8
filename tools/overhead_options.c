/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "command.h"
#include "errors.h"
#include "memory.h"
#include "overhead_options.h"
#include "overhead_tables.h"

static const char help[] = "\
Usage: nbdkit-stats overhead [OPTION]... FILTER [KEY=VALUE]...\n\
                             [--against=FILTER [KEY=VALUE]...]...\n\
\n\
Measures what a filter of nbdkit costs a request, in a real nbdkit: the\n\
same requests past the filter and through it, in turn.  FILTER is a name or\n\
a path, as nbdkit --filter takes it, and may have NAME: before it, for the\n\
tables; KEY=VALUE are parameters of the filter before them.\n\
\n\
Options:\n\
  --against=FILTER      another filter, for comparison\n\
  --measure=time|inside|cold|memory|instructions|beside|opening|all\n\
                        what to measure, several with commas\n\
                        (time,cold,memory,instructions)\n\
  --backend=no-op|getppid|file-4096|sleep|all\n\
                        what is below the filter, several with commas (the\n\
                        first four); also file-512, file-1024, file-8192 and\n\
                        file-65536\n\
  --threads=N,...       threads that send requests, 1 to 4096 (1,16)\n\
  --sharing=N           so many of them share a connection (1)\n\
  --rw=read|write|both  what they send (both)\n\
  --cold=SIZE,...       what is walked to make caches cold (0,256K,2M)\n\
  --idle=N,...          beside: so many threads wait (256)\n\
  --gone=N,...          beside: so many threads have gone (256)\n\
  --connections=N       memory: so many come and go (100)\n\
  --pin                 bind the threads to the CPUs in turn\n\
  --clocks              time: measure two readings of the clock, too\n\
  --repeat=N            rounds (7)\n\
  --seconds=N           how long each measurement is (0.1)\n\
  --timeout=SECONDS     how long one may take beyond that (60)\n\
  --nbdkit=PROGRAM      the nbdkit (nbdkit in PATH)\n\
  --json                write JSON\n\
  --output=FILE         write JSON to a file, too\n\
  --help                this text\n\
\n\
The manual is nbdkit-stats-overhead(1).\n";

enum {
  OPT_ARGUMENT = 1,             /* as next_word gives it */
  OPT_AGAINST = 0x100, OPT_MEASURE, OPT_BACKEND, OPT_THREADS, OPT_SHARING,
  OPT_RW, OPT_COLD, OPT_IDLE, OPT_GONE, OPT_CONNECTIONS, OPT_PIN,
  OPT_CLOCKS, OPT_REPEAT, OPT_SECONDS, OPT_TIMEOUT,
  OPT_NBDKIT, OPT_JSON, OPT_OUTPUT,
};

static const struct option options[] = {
  { "against", required_argument, NULL, OPT_AGAINST },
  { "measure", required_argument, NULL, OPT_MEASURE },
  { "backend", required_argument, NULL, OPT_BACKEND },
  { "threads", required_argument, NULL, OPT_THREADS },
  { "sharing", required_argument, NULL, OPT_SHARING },
  { "rw", required_argument, NULL, OPT_RW },
  { "cold", required_argument, NULL, OPT_COLD },
  { "idle", required_argument, NULL, OPT_IDLE },
  { "gone", required_argument, NULL, OPT_GONE },
  { "connections", required_argument, NULL, OPT_CONNECTIONS },
  { "pin", no_argument, NULL, OPT_PIN },
  { "clocks", no_argument, NULL, OPT_CLOCKS },
  { "repeat", required_argument, NULL, OPT_REPEAT },
  { "seconds", required_argument, NULL, OPT_SECONDS },
  { "timeout", required_argument, NULL, OPT_TIMEOUT },
  { "nbdkit", required_argument, NULL, OPT_NBDKIT },
  { "json", no_argument, NULL, OPT_JSON },
  { "output", required_argument, NULL, OPT_OUTPUT },
  HELP_OPTION
};

/* Values.  Each returns false where it is none. */

static bool
parse_number (const char *s, uint64_t min, uint64_t max, uint64_t *value)
{
  char *end;

  errno = 0;
  *value = strtoull (s, &end, 10);
  return isdigit ((unsigned char) *s) && *end == '\0' && errno == 0
    && *value >= min && *value <= max;
}

/* Bytes, with K or M. */
static bool
parse_size (const char *s, uint64_t *value)
{
  const size_t len = strlen (s);
  const char unit = len > 0 ? s[len - 1] : '\0';
  const unsigned shift = unit == 'K' ? 10 : unit == 'M' ? 20 : 0;
  char *digits = copy_bytes (s, len - (shift != 0));
  const bool good = parse_number (digits, 0, UINT64_C (1) << 30 >> shift,
                                  value);

  free (digits);
  *value <<= shift;
  return good;
}

static bool
parse_seconds (const char *s, uint64_t *ns)
{
  char *end;
  const double value = strtod (s, &end);

  *ns = 0;
  if (end == s || *end != '\0' || !(value >= 1e-3 && value <= 86400))
    return false;
  *ns = (uint64_t) (value * NS_PER_S);
  return true;
}

static bool
parse_rw (const char *s, uint64_t *writes)
{
  static const char *const names[] = { "read", "both", "write" };

  for (*writes = 0; *writes < 3; ++*writes) {
    if (strcmp (s, names[*writes]) == 0)
      return true;
  }
  return false;
}

/* Call add for each word between commas: false where that is. */
static bool
parse_words (const char *s, bool (*add) (void *arg, const char *word),
             void *arg)
{
  char *words = copy_string (s), *rest = words, *word;
  bool good = true;

  while (good && (word = strsep (&rest, ",")))
    good = add (arg, word);
  free (words);
  return good;
}

static bool
add_value (struct list *list, uint64_t value)
{
  if (list->count == MAX_LIST)
    return false;
  list->values[list->count++] = value;
  return true;
}

static bool
add_threads (void *list, const char *word)
{
  uint64_t value;

  return parse_number (word, 1, MAX_THREADS, &value)
    && add_value (list, value);
}

static bool
add_size (void *list, const char *word)
{
  uint64_t value;

  return parse_size (word, &value) && add_value (list, value);
}

/* The list begins anew. */
static bool
parse_list (const char *s, bool (*add) (void *arg, const char *word),
            struct list *list)
{
  list->count = 0;
  return parse_words (s, add, list);
}

static bool
add_backend (void *arg, const char *word)
{
  const struct workload *backend = workload_find (word);
  struct plan *plan = arg;

  if (backend == NULL || plan->nr_backends == MAX_LIST)
    return false;
  plan->backends[plan->nr_backends++] = backend;
  return true;
}

static bool
parse_backends (const char *s, struct plan *plan)
{
  plan->nr_backends = 0;
  if (strcmp (s, "all") != 0)
    return parse_words (s, add_backend, plan);
  for (const struct workload *w = workloads; w->name; w++)
    add_backend (plan, w->name);
  return true;
}

static bool
add_measure (void *arg, const char *word)
{
  unsigned *bits = arg;
  bool found = false;

  for (unsigned i = 0; i < NR_MEASURES; i++) {
    if (strcmp (word, measures[i]->key) == 0 || strcmp (word, "all") == 0) {
      *bits |= 1U << i;
      found = true;
    }
  }
  return found;
}

static bool
parse_measures (const char *s, unsigned *bits)
{
  *bits = 0;
  return parse_words (s, add_measure, bits);
}

/* Filters and their parameters. */

/* What nbdkit takes for a parameter. */
static bool
is_param (const char *s)
{
  if (!isalpha ((unsigned char) *s))
    return false;
  while (isalnum ((unsigned char) *s) || (*s && strchr ("._-", *s)))
    s++;
  return *s == '=';
}

/* The NAME of .../nbdkit-NAME-filter.so; else what it is. */
static const char *
name_of (const char *filter)
{
  static const char prefix[] = "nbdkit-", suffix[] = "-filter.so";
  const char *slash = strrchr (filter, '/');
  const char *base = slash ? slash + 1 : filter;
  const char *end = strstr (base, suffix);

  if (strncmp (base, prefix, strlen (prefix)) != 0 || end == NULL)
    return base;
  base += strlen (prefix);
  return copy_bytes (base, (size_t) (end - base));
}

/* [NAME:]FILTER; a NAME has no slash. */
static struct side
parse_filter (char *arg)
{
  char *colon = strchr (arg, ':'), *slash = strchr (arg, '/');
  const bool named = colon && (slash == NULL || colon < slash);
  struct side side = { .filter = named ? colon + 1 : arg };

  if (named)
    *colon = '\0';
  side.name = named ? arg : name_of (side.filter);
  return side;
}

static int
add_side (char *argv[], struct plan *plan, char *filter)
{
  const struct side side = parse_filter (filter);

  if (*side.filter == '\0' || *side.name == '\0')
    return bad_usage (argv, "a filter has no name");
  if (plan->nr_sides == MAX_SIDES)
    return bad_usage (argv, "there are too many filters");
  for (unsigned i = 0; i < plan->nr_sides; i++) {
    if (strcmp (plan->sides[i].name, side.name) == 0)
      return bad_usage (argv, "two are called %s: give one another name, "
                        "NAME:FILTER", side.name);
  }
  plan->sides[plan->nr_sides++] = side;
  return STATUS_OK;
}

static void
add_param (struct side *side, char *param)
{
  side->params = grow (side->params, side->nr_params, sizeof *side->params);
  side->params[side->nr_params++] = param;
}

static int
add_argument (char *argv[], struct plan *plan, char *arg)
{
  if (!is_param (arg)) {
    if (plan->nr_sides > 1)
      return bad_usage (argv, "%s is no KEY=VALUE; another filter needs "
                        "--against", arg);
    return add_side (argv, plan, arg);
  }
  if (plan->nr_sides == 1)
    return bad_usage (argv, "there is no filter before %s", arg);
  add_param (&plan->sides[plan->nr_sides - 1], arg);
  return STATUS_OK;
}

/* Options. */

static bool
set_number (struct plan *plan, int option)
{
  uint64_t rounds;
  bool good;

  switch (option) {
  case OPT_SHARING:
    return parse_number (optarg, 1, MAX_THREADS, &plan->sharing);
  case OPT_CONNECTIONS:
    return parse_number (optarg, 3, 1000000, &plan->connections);
  case OPT_SECONDS: return parse_seconds (optarg, &plan->duration);
  case OPT_TIMEOUT: return parse_seconds (optarg, &plan->timeout);
  default:
    good = parse_number (optarg, 1, MAX_ROUNDS, &rounds);
    plan->rounds = (unsigned) rounds;
    return good;
  }
}

static bool
set_option (struct plan *plan, int option)
{
  switch (option) {
  case OPT_MEASURE: return parse_measures (optarg, &plan->measures);
  case OPT_BACKEND: return parse_backends (optarg, plan);
  case OPT_THREADS: return parse_list (optarg, add_threads, &plan->threads);
  case OPT_RW: return parse_rw (optarg, &plan->writes);
  case OPT_COLD: return parse_list (optarg, add_size, &plan->cold);
  case OPT_IDLE: return parse_list (optarg, add_threads, &plan->idle);
  case OPT_GONE: return parse_list (optarg, add_threads, &plan->gone);
  case OPT_PIN: plan->pin = true; return true;
  case OPT_CLOCKS: plan->clocks = true; return true;
  case OPT_NBDKIT: plan->nbdkit = optarg; return *optarg != '\0';
  case OPT_OUTPUT: plan->output = optarg; return *optarg != '\0';
  case OPT_JSON: plan->json = true; return true;
  default: return set_number (plan, option);
  }
}

static const char *
option_name (int option)
{
  const struct option *o = options;

  while (o->val != option)
    o++;
  return o->name;
}

static int
take_option (char *argv[], struct plan *plan, int option)
{
  if (option == OPT_ARGUMENT)
    return add_argument (argv, plan, optarg);
  if (option == OPT_AGAINST) {
    if (plan->nr_sides == 1)
      return bad_usage (argv, "there is no filter before --against");
    return add_side (argv, plan, optarg);
  }
  if (set_option (plan, option))
    return STATUS_OK;
  return bad_usage (argv, "--%s does not take '%s'", option_name (option),
                    optarg);
}

int
overhead_options (int argc, char *argv[], struct plan *plan)
{
  int option, status = STATUS_OK;

  *plan = (struct plan) {
    .measures = 1U << MEASURE_TIME | 1U << MEASURE_COLD
      | 1U << MEASURE_MEMORY | 1U << MEASURE_INSTRUCTIONS,
    .sides = { { .name = "bypassed" } }, .nr_sides = 1,
    .threads = { .values = { 1, 16 }, .count = 2 },
    .cold = { .values = { 0, 256 << 10, 2 << 20 }, .count = 3 },
    .idle = { .values = { 256 }, .count = 1 },
    .gone = { .values = { 256 }, .count = 1 },
    .sharing = 1, .writes = 1, .rounds = 7, .duration = NS_PER_S / 10,
    .connections = 100, .timeout = 60 * NS_PER_S,
    .nbdkit = "nbdkit",
  };
  parse_backends ("no-op,getppid,file-4096,sleep", plan);
  while (status == STATUS_OK
         && (option = next_word (argc, argv, options, help)) != -1)
    status = take_option (argv, plan, option);
  for (; status == STATUS_OK && optind < argc; optind++)
    status = add_argument (argv, plan, argv[optind]); /* after "--" */
  if (status == STATUS_OK && plan->nr_sides == 1)
    return bad_usage (argv, "a filter is missing");
  return status;
}
