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
#include <unistd.h>

#include <nbdkit-filter.h>

#include "clock.h"
#include "ops.h"
#include "parse.h"
#include "recorder.h"
#include "reporting.h"
#include "zero.h"

/* The bounds of statsinterval. */
#define MIN_INTERVAL_NS (NS_PER_S / 100)
#define MAX_INTERVAL_NS (NS_PER_S * 86400 * 365)

/* A place in the stack of filters. */
struct layer {
  nbdkit_backend *backend;
  struct recorder *recorder;
  struct layer *next;           /* the next one farther from the client */
};

/* A client's connection, as one layer sees it: what nbdkit calls a handle. */
struct connection {
  struct layer *layer;
  struct sequence streams[NR_OPS];
};

static char *statsfile;
static struct report_options options = {
  .format = report_formats, .threshold = 95000,
  .nbdkit_version = NBDKIT_VERSION_STRING,
};

static unsigned loaded;         /* how many times we are in the stack */
static struct reporting *reporting;
static struct layer *layers;    /* nearest the client first */
static struct layer *spare;     /* made ready, and not yet in their place */

/* -D stats.report=1: say what happens with the report at exit. */
NBDKIT_DLL_PUBLIC int stats_debug_report;

static void
stats_load (void)
{
  loaded++;
}

static void
free_layers (struct layer *layer)
{
  struct layer *next;

  for (; layer; layer = next) {
    next = layer->next;
    recorder_free (layer->recorder);
    free (layer);
  }
}

static void
stats_unload (void)
{
  if (--loaded > 0)
    return;
  free_layers (layers);
  free_layers (spare);
  reporting_free (reporting);
  free (statsfile);
}

/* Parameters. */

static int
config_file (const char *key, const char *value)
{
  (void) key;
  if (strcmp (value, "-") == 0)
    return 0;
  options.file = statsfile = nbdkit_absolute_path (value);
  return statsfile ? 0 : -1;
}

static int
config_format (const char *key, const char *value)
{
  char names[100];

  options.format = report_format_find (value);
  if (options.format)
    return 0;
  nbdkit_error ("%s=%s: must be %s", key, value,
                report_format_names (names, sizeof names));
  return -1;
}

static int
config_bool (const char *key, const char *value, bool *result)
{
  if (parse_bool (value, result) == 0)
    return 0;
  nbdkit_error ("%s=%s: must be true or false", key, value);
  return -1;
}

static int
config_append (const char *key, const char *value)
{
  return config_bool (key, value, &options.append);
}

static int
config_zero (const char *key, const char *value)
{
  return config_bool (key, value, &options.zero);
}

static int
config_interval (const char *key, const char *value)
{
  if (parse_decimal (value, NS_PER_S, &options.interval_ns) == 0
      && options.interval_ns >= MIN_INTERVAL_NS
      && options.interval_ns <= MAX_INTERVAL_NS)
    return 0;
  nbdkit_error ("%s=%s: must be from 0.01 seconds to a year", key, value);
  return -1;
}

static int
config_threshold (const char *key, const char *value)
{
  if (parse_decimal (value, 1000, &options.threshold) == 0
      && options.threshold <= 100000)
    return 0;
  nbdkit_error ("%s=%s: must be a percentage from 0 to 100", key, value);
  return -1;
}

static int
config_block (const char *key, const char *value)
{
  if (parse_size (value, &options.block) == 0 && options.block > 0)
    return 0;
  nbdkit_error ("%s=%s: must be a size of at least 1 byte, such as 64K",
                key, value);
  return -1;
}

static struct parameter {
  const char *key;
  int (*config) (const char *key, const char *value);
  bool given;
} parameters[] = {
  { .key = "statsfile",      .config = config_file },
  { .key = "statsappend",    .config = config_append },
  { .key = "statsformat",    .config = config_format },
  { .key = "statsinterval",  .config = config_interval },
  { .key = "statsthreshold", .config = config_threshold },
  { .key = "statsblock",     .config = config_block },
  { .key = "statszero",      .config = config_zero },
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

static int
stats_config_complete (nbdkit_next_config_complete *next,
                       nbdkit_backend *nxdata)
{
  if (options.format->mode == OUTPUT_LATEST && options.append) {
    nbdkit_error ("statsappend: a file in the format %s holds one report "
                  "only", options.format->name);
    return -1;
  }
  return next (nxdata);
}

#define stats_config_help                                                 \
  "statsfile=FILE              Where the report goes (default, and -:\n"  \
  "                            standard error).\n"                        \
  "statsappend=BOOL            Add to the file instead of replacing it\n" \
  "                            (default: false).\n"                       \
  "statsformat=text|json|prometheus\n"                                    \
  "                            The format of reports (default: text).\n"  \
  "statsinterval=SECONDS       Also report while running, each SECONDS.\n" \
  "statsthreshold=PERCENT      How much of the sizes and alignments to\n" \
  "                            show one by one, 0: none (default: 95).\n" \
  "statsblock=SIZE             Tell how requests fit blocks of this size.\n" \
  "statszero=BOOL              Look whether written data is all zero\n"   \
  "                            (default: false)."

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

/* Make what one place in the stack will need: later an error would not
 * reach the user, and leave clients waiting.
 */
static int
make_layer (void)
{
  struct layer *layer = calloc (1, sizeof *layer);

  if (layer == NULL
      || (layer->recorder = recorder_new (options.block)) == NULL) {
    nbdkit_error ("stats: %m");
    free (layer);
    return -1;
  }
  layer->next = spare;
  spare = layer;
  return reporting_reserve_layer (reporting);
}

/* Once for each place in the stack. */
static int
stats_get_ready (int thread_model)
{
  (void) thread_model;
  if (stats_debug_report)
    options.debug = nbdkit_debug;
  if (reporting == NULL)
    reporting = reporting_new (&options, nbdkit_error);
  return reporting ? make_layer () : -1;
}

/* Once for each place in the stack, the innermost first. */
static int
stats_after_fork (nbdkit_backend *backend)
{
  struct layer *layer = spare;

  if (layers == NULL)
    reporting_start (reporting);
  spare = layer->next;
  layer->backend = backend;
  layer->next = layers;
  layers = layer;
  reporting_add_layer (reporting, layer->recorder);
  return 0;
}

/* Once for each place in the stack, the outermost first, when no client
 * is left.  The first does it for all, since later the layers below are
 * on their way out.
 */
static void
stats_cleanup (nbdkit_backend *backend)
{
  (void) backend;
  reporting_finish (reporting);
}

static struct layer *
find_layer (nbdkit_backend *backend)
{
  struct layer *layer = layers;

  while (layer && layer->backend != backend)
    layer = layer->next;
  return layer;
}

/* Open the layers below and count how that went. */
static int
open_below (struct layer *layer, nbdkit_next_open *next,
            nbdkit_context *context, int readonly, const char *exportname)
{
  const uint64_t begin = clock_now ();
  const int r = next (context, readonly, exportname);

  connections_opened (recorder_connections (layer->recorder), exportname,
                      clock_since (begin, clock_now ()), r == -1);
  return r;
}

static void *
stats_open (nbdkit_next_open *next, nbdkit_context *context,
            int readonly, const char *exportname, int is_tls)
{
  struct layer *layer = find_layer (nbdkit_context_get_backend (context));
  struct connection *connection = calloc (1, sizeof *connection);

  (void) is_tls;
  if (layer == NULL || connection == NULL) {
    nbdkit_error ("stats: cannot open: %s",
                  layer ? strerror (errno) : "unknown layer");
    free (connection);
    return NULL;
  }
  connection->layer = layer;
  if (open_below (layer, next, context, readonly, exportname) == -1) {
    free (connection);
    return NULL;
  }
  return connection;
}

static void
stats_close (void *handle)
{
  struct connection *connection = handle;

  recorder_settle (connection->layer->recorder);
  connections_closed (recorder_connections (connection->layer->recorder));
  free (connection);
}

/* The data operations. */

/* nbdkit's flags are bits, in the order of enum request_flag. */
_Static_assert (NBDKIT_FLAG_MAY_TRIM == 1 << FLAG_MAY_TRIM
                && NBDKIT_FLAG_FUA == 1 << FLAG_FUA
                && NBDKIT_FLAG_REQ_ONE == 1 << FLAG_REQ_ONE
                && NBDKIT_FLAG_FAST_ZERO == 1 << FLAG_FAST_ZERO,
                "the recorder takes nbdkit's flags as they are");

/* Pass a request on, through call, and record it: the only place that
 * does.  The value is that of call; neither it nor *err is changed.  It
 * uses the handle, flags and err of the callback it stands in.  zeros is
 * how many of the bytes are known to be zero.
 */
#define TIMED(request, request_op, request_count, request_offset, zeros,   \
              call)                                                       \
  ({                                                                      \
    struct connection *connection_ = handle;                              \
                                                                          \
    (request)->op = (request_op);                                         \
    (request)->count = (request_count);                                   \
    (request)->offset = (request_offset);                                 \
    (request)->flags = flags;                                             \
    (request)->zero_bytes = (zeros);                                      \
    (request)->streams = connection_->streams;                            \
    recorder_begin (connection_->layer->recorder, request);               \
    const int r_ = (call);                                                \
    recorder_end (request, r_ == -1 ? (*err ? *err : EIO) : 0);           \
    r_;                                                                   \
  })

static int
stats_pread (nbdkit_next *next, void *handle, void *buf, uint32_t count,
             uint64_t offset, uint32_t flags, int *err)
{
  struct request request;

  return TIMED (&request, OP_READ, count, offset, 0,
                next->pread (next, buf, count, offset, flags, err));
}

static int
stats_pwrite (nbdkit_next *next, void *handle, const void *buf,
              uint32_t count, uint64_t offset, uint32_t flags, int *err)
{
  const uint32_t zeros = options.zero ? zero_bytes (buf, count, offset) : 0;
  struct request request;

  return TIMED (&request, OP_WRITE, count, offset, zeros,
                next->pwrite (next, buf, count, offset, flags, err));
}

/* The three that name a range and move no data. */
#define RANGE_CALLBACK(callback, request_op)                              \
  static int                                                              \
  stats_##callback (nbdkit_next *next, void *handle, uint32_t count,      \
                    uint64_t offset, uint32_t flags, int *err)            \
  {                                                                       \
    struct request request;                                               \
                                                                          \
    return TIMED (&request, request_op, count, offset, 0,                 \
                  next->callback (next, count, offset, flags, err));      \
  }

RANGE_CALLBACK (trim, OP_TRIM)
RANGE_CALLBACK (zero, OP_ZERO)
RANGE_CALLBACK (cache, OP_CACHE)

static int
stats_flush (nbdkit_next *next, void *handle, uint32_t flags, int *err)
{
  struct request request;

  return TIMED (&request, OP_FLUSH, 0, 0, 0, next->flush (next, flags, err));
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
  int r = TIMED (&request, OP_EXTENTS, count, offset, 0,
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
  .config_complete = stats_config_complete,
  .config_help    = stats_config_help,
#ifdef HAVE_STRUCT_NBDKIT_FILTER_DUMP_PLUGIN
  .dump_plugin    = stats_dump_plugin,
#endif
  .get_ready      = stats_get_ready,
  .after_fork     = stats_after_fork,
  .cleanup        = stats_cleanup,
  .open           = stats_open,
  .close          = stats_close,
  .pread          = stats_pread,
  .pwrite         = stats_pwrite,
  .trim           = stats_trim,
  .zero           = stats_zero,
  .extents        = stats_extents,
  .cache          = stats_cache,
  .flush          = stats_flush,
};

NBDKIT_REGISTER_FILTER (filter)
