/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The filter as nbdkit sees it: parameters, life cycle, and the seven
 * data operations, each passed on through one timing macro.
 *
 * When a filter is loaded several times in one stack, nbdkit calls us
 * once for each place, on the same static data.  The places share the
 * parameters and the output; each has a recorder of its own, told apart
 * by its backend pointer.
 */

#include <config.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <nbdkit-filter.h>

#include "clock.h"
#include "ops.h"
#include "output.h"
#include "recorder.h"
#include "report.h"
#include "snapshot.h"

/* A place in the stack of filters. */
struct layer {
  nbdkit_backend *backend;
  struct recorder *recorder;
  struct layer *next;           /* the next one farther from the client */
};

static char *statsfile;         /* absolute, or NULL for standard error */
static bool statsappend;

static unsigned loaded;         /* how many times we are in the stack */
static struct output *output;
static struct layer *layers;    /* nearest the client first */
static struct snapshot snapshot;
static bool reported;

/* -D stats.report=1: say what happens with the report at exit. */
NBDKIT_DLL_PUBLIC int stats_debug_report;

static void
stats_load (void)
{
  loaded++;
}

static void
free_layers (void)
{
  struct layer *layer, *next;

  for (layer = layers; layer; layer = next) {
    next = layer->next;
    recorder_free (layer->recorder);
    free (layer);
  }
  layers = NULL;
}

static void
stats_unload (void)
{
  if (--loaded > 0)
    return;
  free_layers ();
  free (snapshot.layers);
  output_close (output);
  free (statsfile);
}

/* Parameters. */

static int
parse_bool (const char *key, const char *value)
{
  static const char *const words[][2] = {
    { "false", "true" }, { "no", "yes" }, { "off", "on" },
    { "0", "1" }, { "f", "t" }, { "n", "y" },
  };

  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    for (int truth = 0; truth <= 1; truth++) {
      if (strcasecmp (value, words[i][truth]) == 0)
        return truth;
    }
  }
  nbdkit_error ("%s=%s: must be true or false", key, value);
  return -1;
}

static int
config_file (const char *key, const char *value)
{
  (void) key;
  if (strcmp (value, "-") == 0)
    return 0;
  statsfile = nbdkit_absolute_path (value);
  return statsfile ? 0 : -1;
}

static int
config_append (const char *key, const char *value)
{
  int r = parse_bool (key, value);

  statsappend = r == 1;
  return r == -1 ? -1 : 0;
}

static int
config_format (const char *key, const char *value)
{
  if (strcmp (value, "text") == 0)
    return 0;
  nbdkit_error ("%s=%s: unknown format, must be text", key, value);
  return -1;
}

static struct parameter {
  const char *key;
  int (*config) (const char *key, const char *value);
  bool given;
} parameters[] = {
  { .key = "statsfile",   .config = config_file },
  { .key = "statsappend", .config = config_append },
  { .key = "statsformat", .config = config_format },
};

static int
stats_config (nbdkit_next_config *next, nbdkit_backend *nxdata,
              const char *key, const char *value)
{
  struct parameter *p = parameters;
  struct parameter *end = p + sizeof parameters / sizeof parameters[0];

  while (p < end && strcmp (key, p->key) != 0)
    p++;
  if (p == end)
    return next (nxdata, key, value);
  if (p->given) {
    nbdkit_error ("%s=%s: %s was given before", key, value, key);
    return -1;
  }
  if (value[0] == '\0') {
    nbdkit_error ("%s: the value is empty", key);
    return -1;
  }
  p->given = true;
  return p->config (key, value);
}

#define stats_config_help                                                 \
  "statsfile=FILE              Where the report goes (default, and -:\n"  \
  "                            standard error).\n"                        \
  "statsappend=BOOL            Add to the file instead of replacing it\n" \
  "                            (default: false).\n"                       \
  "statsformat=text            The format of the report (default: text)."

#ifdef HAVE_STRUCT_NBDKIT_FILTER_DUMP_PLUGIN
static void
stats_dump_plugin (void)
{
  printf ("stats_version=%s\n", PACKAGE_VERSION);
  printf ("stats_parameters=");
  for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++)
    printf ("%s%s", i ? " " : "", parameters[i].key);
  printf ("\n");
}
#endif

/* Life cycle. */

/* Once for each place in the stack; the first does it for all. */
static int
stats_get_ready (int thread_model)
{
  (void) thread_model;
  if (output == NULL)
    output = output_open (statsfile, statsappend, nbdkit_error);
  return output ? 0 : -1;
}

static void
start_clock (void)
{
  clock_gettime (CLOCK_REALTIME, &snapshot.start_time);
  snapshot.start = clock_now ();
  snapshot.pid = getpid ();
  output_after_fork (output);
}

/* Make room for the figures of one more layer now, so that there is room
 * when they are reported.
 */
static int
grow_snapshot (void)
{
  struct recorder_totals *totals;

  totals = realloc (snapshot.layers,
                    (snapshot.nr_layers + 1) * sizeof *totals);
  if (totals == NULL)
    return -1;
  snapshot.layers = totals;
  snapshot.nr_layers++;
  return 0;
}

/* Once for each place in the stack, the innermost first. */
static int
stats_after_fork (nbdkit_backend *backend)
{
  struct layer *layer = calloc (1, sizeof *layer);

  if (layers == NULL)
    start_clock ();
  if (layer == NULL || grow_snapshot () == -1
      || (layer->recorder = recorder_new ()) == NULL) {
    nbdkit_error ("stats: %m");
    free (layer);
    return -1;
  }
  layer->backend = backend;
  layer->next = layers;
  layers = layer;
  return 0;
}

/* Sum up all layers as of now. */
static void
take_snapshot (void)
{
  struct recorder_totals *totals = snapshot.layers;
  struct layer *layer;
  uint64_t now = clock_now ();

  for (layer = layers; layer; layer = layer->next)
    recorder_read (layer->recorder, now, totals++);
  clock_gettime (CLOCK_REALTIME, &snapshot.time);
  snapshot.elapsed_ns = clock_since (snapshot.start, clock_now ());
}

static void
report (void)
{
  char *text = NULL;
  size_t size = 0;
  FILE *fp = open_memstream (&text, &size);
  bool bad;

  if (fp == NULL) {
    nbdkit_error ("stats: the report is lost: %m");
    return;
  }
  take_snapshot ();
  text_write (fp, &snapshot, statsappend);
  bad = ferror (fp);
  if (fclose (fp) == EOF || bad)
    nbdkit_error ("stats: the report is lost: %m");
  else {
    if (stats_debug_report)
      nbdkit_debug ("stats: report of %zu bytes to %s", size,
                    output_name (output));
    output_write (output, text, size);
  }
  free (text);
}

/* Once for each place in the stack, the outermost first, when no client
 * is left.  The first does it for all, since later the layers below are
 * on their way out.
 */
static void
stats_cleanup (nbdkit_backend *backend)
{
  (void) backend;
  if (reported)
    return;
  reported = true;
  report ();
}

static void *
stats_open (nbdkit_next_open *next, nbdkit_context *context,
            int readonly, const char *exportname, int is_tls)
{
  nbdkit_backend *backend = nbdkit_context_get_backend (context);
  struct layer *layer = layers;

  (void) is_tls;
  if (next (context, readonly, exportname) == -1)
    return NULL;
  while (layer && layer->backend != backend)
    layer = layer->next;
  if (layer == NULL)
    nbdkit_error ("stats: opened in an unknown layer");
  return layer;
}

/* The data operations. */

/* Pass a request of count bytes on, through call, and record it: the only
 * place that does.  The value is that of call; neither it nor *err is
 * changed.  It uses the handle and err of the callback it stands in.
 */
#define TIMED(request, op, count, call)                                   \
  ({                                                                      \
    recorder_begin (((struct layer *) handle)->recorder, request, op,     \
                    count);                                               \
    const int r_ = (call);                                                \
    recorder_end (request, r_ == -1 ? (*err ? *err : EIO) : 0);           \
    r_;                                                                   \
  })

static int
stats_pread (nbdkit_next *next, void *handle, void *buf, uint32_t count,
             uint64_t offset, uint32_t flags, int *err)
{
  struct request request;

  return TIMED (&request, OP_READ, count,
                next->pread (next, buf, count, offset, flags, err));
}

static int
stats_pwrite (nbdkit_next *next, void *handle, const void *buf,
              uint32_t count, uint64_t offset, uint32_t flags, int *err)
{
  struct request request;

  return TIMED (&request, OP_WRITE, count,
                next->pwrite (next, buf, count, offset, flags, err));
}

static int
stats_trim (nbdkit_next *next, void *handle, uint32_t count,
            uint64_t offset, uint32_t flags, int *err)
{
  struct request request;

  return TIMED (&request, OP_TRIM, count,
                next->trim (next, count, offset, flags, err));
}

static int
stats_zero (nbdkit_next *next, void *handle, uint32_t count,
            uint64_t offset, uint32_t flags, int *err)
{
  struct request request;

  return TIMED (&request, OP_ZERO, count,
                next->zero (next, count, offset, flags, err));
}

static int
stats_cache (nbdkit_next *next, void *handle, uint32_t count,
             uint64_t offset, uint32_t flags, int *err)
{
  struct request request;

  return TIMED (&request, OP_CACHE, count,
                next->cache (next, count, offset, flags, err));
}

static int
stats_flush (nbdkit_next *next, void *handle, uint32_t flags, int *err)
{
  struct request request;

  return TIMED (&request, OP_FLUSH, 0, next->flush (next, flags, err));
}

static struct extents_returned
sum_up_extents (const struct nbdkit_extents *extents)
{
  const size_t count = nbdkit_extents_count (extents);
  struct extents_returned sum = { .count = count };

  for (size_t i = 0; i < count; i++) {
    const struct nbdkit_extent extent = nbdkit_get_extent (extents, i);

    if (extent.type & NBDKIT_EXTENT_HOLE)
      sum.hole += extent.length;
    else if (extent.type & NBDKIT_EXTENT_ZERO)
      sum.zero += extent.length;
    else
      sum.data += extent.length;
  }
  return sum;
}

static int
stats_extents (nbdkit_next *next, void *handle, uint32_t count,
               uint64_t offset, uint32_t flags,
               struct nbdkit_extents *extents, int *err)
{
  struct request request;
  struct extents_returned returned;
  int r = TIMED (&request, OP_EXTENTS, count,
                 next->extents (next, count, offset, flags, extents, err));

  if (r == 0) {
    returned = sum_up_extents (extents);
    recorder_extents (&request, &returned);
  }
  return r;
}

static struct nbdkit_filter filter = {
  .name           = "stats",
  .longname       = "nbdkit stats filter",
  .description    = "tell where the time of a disk transfer goes",
  .load           = stats_load,
  .unload         = stats_unload,
  .config         = stats_config,
  .config_help    = stats_config_help,
#ifdef HAVE_STRUCT_NBDKIT_FILTER_DUMP_PLUGIN
  .dump_plugin    = stats_dump_plugin,
#endif
  .get_ready      = stats_get_ready,
  .after_fork     = stats_after_fork,
  .cleanup        = stats_cleanup,
  .open           = stats_open,
  .pread          = stats_pread,
  .pwrite         = stats_pwrite,
  .trim           = stats_trim,
  .zero           = stats_zero,
  .extents        = stats_extents,
  .cache          = stats_cache,
  .flush          = stats_flush,
};

NBDKIT_REGISTER_FILTER (filter)
