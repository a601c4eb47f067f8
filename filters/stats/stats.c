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
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <nbdkit-filter.h>

#include "above.h"
#include "clock.h"
#include "ops.h"
#include "parse.h"
#include "plugin.h"
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
  bool faces_client;            /* see above.h */
  struct layer *next;           /* the next one farther from the client */
};

/* An export that a client has opened, as one layer sees it. */
struct handle {
  struct recorder *recorder;
  struct connection *connection;
  bool faces_client;
  bool opening;                 /* the layers below are not prepared yet */
  struct ring *ring;            /* then; NULL where there was none */
  bool connected;               /* as the recorder knows */
};

/* How long a name for the run may be, in bytes. */
#define MAX_LABEL 255

static char *statsfile, *statslabel, *plugin;
static struct report_options options = {
  .format = report_formats, .threshold = 95000,
  .nbdkit_version = NBDKIT_VERSION_STRING,
};

static unsigned loaded;         /* how many times we are in the stack */
static unsigned placed;         /* how many of them after_fork has seen */
static unsigned facing_client;  /* how many of them do, see above.h */
static struct reporting *reporting;
static struct settler *settler;
static pthread_key_t asking;    /* see next_asked */
static struct layer *layers;    /* nearest the client first */
static struct layer *spare;     /* made ready, and not yet in their place */

/* -D stats.report=1: say of each report how long it is and where it goes. */
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
leave_layers (struct layer *layer)
{
  for (; layer; layer = layer->next)
    recorder_leave (layer->recorder);
}

/* A thread that serves may end later than this, and then leaves its ring.
 * Until then all that it needs stays; so does our code, which the linker
 * has marked as never to be unloaded.
 */
static void
stats_unload (void)
{
  if (--loaded > 0)
    return;
  leave_layers (layers);
  if (settler == NULL || settler_free (settler)) {
    free_layers (layers);
    free_layers (spare);
  }
  reporting_free (reporting);
  free (statsfile);
  free (statslabel);
  free (plugin);
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
config_detail (const char *key, const char *value)
{
  options.full = strcmp (value, "full") == 0;
  if (options.full || strcmp (value, "brief") == 0)
    return 0;
  nbdkit_error ("%s=%s: must be brief or full", key, value);
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
  if (parse_duration (value, &options.interval_ns) == 0
      && options.interval_ns >= MIN_INTERVAL_NS
      && options.interval_ns <= MAX_INTERVAL_NS)
    return 0;
  nbdkit_error ("%s=%s: must be from 0.01 seconds to a year: a number of "
                "seconds, or with one of the units ns, us, ms, s, and m for "
                "minutes", key, value);
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

/* What nbdkit takes for a size; before 1.48 it takes 0x1000 for a number
 * only.  It tells what is wrong, but not always of which parameter.
 */
static int
config_block (const char *key, const char *value)
{
  int64_t size;

  if (strncasecmp (value, "0x", 2) != 0)
    size = nbdkit_parse_size (value);
  else if (nbdkit_parse_int64_t (key, value, &size) == -1)
    size = -1;
  options.block = size > 0 ? (uint64_t) size : 0;
  if (size > 0)
    return 0;
  nbdkit_error ("%s=%s: must be a size of at least 1 byte, such as 64K "
                "or 0x1000",
                key, value);
  return -1;
}

static int
config_label (const char *key, const char *value)
{
  if (strlen (value) > MAX_LABEL) {
    nbdkit_error ("%s: must be at most %d bytes long", key, MAX_LABEL);
    return -1;
  }
  options.label = statslabel = strdup (value);
  if (statslabel)
    return 0;
  nbdkit_error ("%s: %m", key);
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
  { .key = "statsdetail",    .config = config_detail },
  { .key = "statsinterval",  .config = config_interval },
  { .key = "statsthreshold", .config = config_threshold },
  { .key = "statsblock",     .config = config_block },
  { .key = "statszero",      .config = config_zero },
  { .key = "statslabel",     .config = config_label },
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
  "statsdetail=brief|full      Few tables in a text report, or all\n"    \
  "                            (default: brief).\n"                      \
  "statsinterval=TIME          Also report while running, each TIME: in\n"   \
  "                            seconds, or with ns, us, ms, s or m.\n"    \
  "statsthreshold=PERCENT      How much of the sizes and alignments to\n" \
  "                            show one by one, 0: none (default: 95).\n" \
  "statsblock=SIZE             Tell how requests fit blocks of this size.\n" \
  "statszero=BOOL              Look whether written data is all zero\n"   \
  "                            (default: false).\n"                       \
  "statslabel=NAME             A name for this run, told in its reports."

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
      || (layer->recorder = recorder_new (settler, options.block)) == NULL) {
    nbdkit_error ("stats: %m");
    free (layer);
    return -1;
  }
  layer->next = spare;
  spare = layer;
  return reporting_reserve_layer (reporting);
}

static unsigned
count_facing_client (void)
{
  FILE *cmdline = fopen ("/proc/self/cmdline", "re");
  const unsigned count = above_facing_client (cmdline);

  if (cmdline)
    fclose (cmdline);
  return count;
}

static struct settler *
new_settler (void)
{
  const int r = pthread_key_create (&asking, NULL);

  if (r == 0)
    return settler_new ();
  errno = r;
  return NULL;
}

/* Once for each place in the stack. */
static int
stats_get_ready (int thread_model)
{
  options.thread_model = thread_model;
  if (stats_debug_report)
    options.debug = nbdkit_debug;
  options.stdio_is_client = !nbdkit_stdio_safe ();
  if (reporting == NULL) {
    options.plugin = plugin = plugin_name ();
    reporting = reporting_new (&options, nbdkit_error);
    settler = new_settler ();
    facing_client = count_facing_client ();
  }
  if (reporting && settler == NULL)
    nbdkit_error ("stats: %m");
  return reporting && settler ? make_layer () : -1;
}

/* Elapsed time begins, and requests may come soon. */
static void
start (void)
{
  const int r = settler_start (settler);

  if (r != 0)
    nbdkit_error ("stats: cannot start a thread: %s: requests will be counted "
                  "by the threads that serve them, and cost more",
                  strerror (r));
  reporting_start (reporting, settler);
}

/* Once for each place in the stack, the innermost first. */
static int
stats_after_fork (nbdkit_backend *backend)
{
  struct layer *layer = spare;

  if (layers == NULL)
    start ();
  spare = layer->next;
  layer->backend = backend;
  layer->faces_client = loaded - ++placed < facing_client;
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
  settler_stop (settler);
}

static struct layer *
find_layer (nbdkit_backend *backend)
{
  struct layer *layer = layers;

  while (layer && layer->backend != backend)
    layer = layer->next;
  return layer;
}

/* Opening: all that nbdkit asks before the first request.  The layers below
 * may take their time for any of it, and fail, so all of it is work of
 * theirs like a request.
 */

static struct ring *
begin_opening (struct recorder *recorder, uint32_t flags)
{
  return recorder_begin (recorder, NULL, &(struct request) {
    .kind = KIND_OPENING, .flags = flags });
}

/* It is over; ring is NULL where there was no memory. */
static uint64_t
end_opening (struct ring *ring, bool failed)
{
  if (ring == NULL)
    return 0;
  recorder_stop (ring, ring_record (ring));
  return recorder_end (ring, ring_record (ring), failed ? EIO : 0);
}

/* Pass on what is asked of a connection, through call, and count it as part
 * of its opening.  The value is that of call, and failed is made of that,
 * which is r_.
 */
#define ASKED(call, failed)                                               \
  ({                                                                      \
    struct handle *handle_ = handle;                                      \
    struct ring *ring_;                                                   \
                                                                          \
    connection_ask (handle_->connection);                                 \
    ring_ = begin_opening (handle_->recorder, 0);                         \
    const typeof (call) r_ = (call);                                      \
    const uint64_t ns_ = end_opening (ring_, failed);                     \
                                                                          \
    connection_asked (handle_->connection, ns_, failed);                  \
    r_;                                                                   \
  })

/* What is asked before there is a connection says nothing of where we are
 * in the stack, but is passed on from place to place in one thread: the
 * place where it is now is under the key asking.
 *
 * A thread-local variable would do, but where there is no memory for it the
 * C library aborts.
 */
static struct layer *
next_asked (void)
{
  const struct layer *above = pthread_getspecific (asking);

  return above ? above->next : layers;
}

#define ASKED_BEFORE(call, failed)                                        \
  ({                                                                      \
    struct layer *above_ = pthread_getspecific (asking);                  \
    struct layer *layer_ = next_asked ();                                 \
    struct ring *ring_ = begin_opening (layer_->recorder, 0);             \
                                                                          \
    pthread_setspecific (asking, layer_);                                 \
    const typeof (call) r_ = (call);                                      \
    end_opening (ring_, failed);                                          \
    pthread_setspecific (asking, above_);                                 \
    r_;                                                                   \
  })

static int
stats_preconnect (nbdkit_next_preconnect *next, nbdkit_backend *nxdata,
                  int readonly)
{
  connections_client (&next_asked ()->recorder->connections);
  return ASKED_BEFORE (next (nxdata, readonly), r_ == -1);
}

static int
stats_list_exports (nbdkit_next_list_exports *next, nbdkit_backend *nxdata,
                    int readonly, int is_tls, struct nbdkit_exports *exports)
{
  (void) is_tls;
  return ASKED_BEFORE (next (nxdata, readonly, exports), r_ == -1);
}

static const char *
stats_default_export (nbdkit_next_default_export *next,
                      nbdkit_backend *nxdata, int readonly, int is_tls)
{
  (void) is_tls;
  return ASKED_BEFORE (next (nxdata, readonly), r_ == NULL);
}

static struct handle *
new_handle (struct layer *layer, const char *exportname)
{
  struct handle *handle = calloc (1, sizeof *handle);

  if (handle == NULL)
    return NULL;
  handle->recorder = layer->recorder;
  handle->faces_client = layer->faces_client;
  handle->connection
    = connection_new (&layer->recorder->connections, exportname);
  if (handle->connection == NULL) {
    free (handle);
    return NULL;
  }
  return handle;
}

/* What began with open has ended. */
static void
end_open (struct handle *handle, bool failed)
{
  const uint64_t ns = end_opening (handle->ring, failed);

  handle->connected = handle->ring && !failed;
  handle->opening = false;
  connection_asked (handle->connection, ns, failed);
}

static void *
stats_open (nbdkit_next_open *next, nbdkit_context *context,
            int readonly, const char *exportname, int is_tls)
{
  struct layer *layer = find_layer (nbdkit_context_get_backend (context));
  struct handle *handle = layer ? new_handle (layer, exportname) : NULL;

  (void) is_tls;
  if (handle == NULL) {
    nbdkit_error ("stats: cannot open: %s",
                  layer ? strerror (errno) : "unknown layer");
    return NULL;
  }
  connection_ask (handle->connection);
  handle->opening = true;
  handle->ring = begin_opening (handle->recorder, OPENING_CONNECTS);
  if (next (context, readonly, exportname) == -1) {
    end_open (handle, true);
    connection_release (handle->connection);
    free (handle);
    return NULL;
  }
  connection_opened (handle->connection);
  return handle;
}

/* The layers below have been prepared, between open and this. */
static int
stats_prepare (nbdkit_next *next, void *vp, int readonly)
{
  (void) next;
  (void) readonly;
  end_open (vp, false);
  return 0;
}

static void
stats_close (void *vp)
{
  struct handle *handle = vp;

  if (handle->opening)          /* one of them could not be prepared */
    end_open (handle, true);
  if (handle->connected)
    recorder_closed (handle->recorder);
  connection_closed (handle->connection);
  free (handle);
}

static int64_t
stats_get_size (nbdkit_next *next, void *handle)
{
  const int64_t size = ASKED (next->get_size (next), r_ == -1);

  connection_answered (((struct handle *) handle)->connection);
  return size;
}

static const char *
stats_export_description (nbdkit_next *next, void *handle)
{
  return ASKED (next->export_description (next), false);
}

#ifdef HAVE_STRUCT_NBDKIT_FILTER_BLOCK_SIZE
static int
stats_block_size (nbdkit_next *next, void *handle, uint32_t *minimum,
                  uint32_t *preferred, uint32_t *maximum)
{
  const int r = ASKED (next->block_size (next, minimum, preferred, maximum),
                       r_ == -1);

  if (r == 0)
    connection_block_sizes (((struct handle *) handle)->connection,
                            &(struct block_sizes) {
                              *minimum, *preferred, *maximum });
  return r;
}
#endif

/* What nbdkit may ask of a layer that takes no arguments. */
#define FOR_EACH_QUESTION(X)                                              \
  X (can_write)                                                           \
  X (can_flush)                                                           \
  X (is_rotational)                                                       \
  X (can_trim)                                                            \
  X (can_fast_zero)                                                       \
  X (can_fua)                                                             \
  X (can_multi_conn)

#define QUESTION(question)                                                \
  static int                                                              \
  stats_##question (nbdkit_next *next, void *handle)                      \
  {                                                                       \
    return ASKED (next->question (next), r_ == -1);                       \
  }

FOR_EACH_QUESTION (QUESTION)

/* What the layers below cannot do, nbdkit does for them by their pwrite or
 * pread or out of its own head, in front of the first layer that says so.
 * If we passed that word on, we would see the writes of nbdkit instead of
 * the zero that the client asked for, and of its questions about extents
 * nothing.  So we take such requests and hand them on, and it happens in
 * front of the layer below.  The client is offered the same either way.
 *
 * But not where another filter stands above that acts on requests: it would
 * get the zero then, where it had writes to split, refuse or delay.
 */
static int
take_over (const struct handle *handle, int answer, int emulate, int native)
{
  return answer == emulate && handle->faces_client ? native : answer;
}

static int
stats_can_zero (nbdkit_next *next, void *handle)
{
  return take_over (handle, ASKED (next->can_zero (next), r_ == -1),
                    NBDKIT_ZERO_EMULATE, NBDKIT_ZERO_NATIVE);
}

static int
stats_can_cache (nbdkit_next *next, void *handle)
{
  return take_over (handle, ASKED (next->can_cache (next), r_ == -1),
                    NBDKIT_CACHE_EMULATE, NBDKIT_CACHE_NATIVE);
}

static int
stats_can_extents (nbdkit_next *next, void *handle)
{
  return take_over (handle, ASKED (next->can_extents (next), r_ == -1), 0, 1);
}

/* The data operations. */

/* nbdkit's flags are bits, in the order of enum request_flag. */
_Static_assert (NBDKIT_FLAG_MAY_TRIM == 1 << FLAG_MAY_TRIM
                && NBDKIT_FLAG_FUA == 1 << FLAG_FUA
                && NBDKIT_FLAG_REQ_ONE == 1 << FLAG_REQ_ONE
                && NBDKIT_FLAG_FAST_ZERO == 1 << FLAG_FAST_ZERO,
                "the recorder takes nbdkit's flags as they are");

/* What came back. */
static inline void
sum_up_extents (struct record *record, const struct nbdkit_extents *extents)
{
  const size_t count = nbdkit_extents_count (extents);

  record->nr_extents = (uint32_t) count;
  record->data = record->hole = record->zero = 0;
  for (size_t i = 0; i < count; i++) {
    const struct nbdkit_extent extent = nbdkit_get_extent (extents, i);

    if (extent.type & NBDKIT_EXTENT_HOLE)
      record->hole += extent.length;
    else if (extent.type & NBDKIT_EXTENT_ZERO)
      record->zero += extent.length;
    else
      record->data += extent.length;
  }
}

/* Pass a request on, through call, and record it: the only place that
 * does.  The value is that of call; neither it nor *err is changed.  It
 * uses the handle, flags and err of the callback it stands in.  zeros is
 * how many of the bytes are known to be zero, and returned the extents that
 * come back, or NULL.
 */
#define TIMED(op, request_count, request_offset, zeros, call, returned)   \
  ({                                                                      \
    const struct handle *handle_ = handle;                                \
    const struct request request_ = {                                     \
      .kind = (op), .count = (request_count), .offset = (request_offset), \
      .flags = flags, .zero_bytes = (zeros),                              \
    };                                                                    \
    struct ring *ring_ = recorder_begin (handle_->recorder,               \
                                         handle_->connection, &request_); \
    struct record *record_ = ring_ ? ring_record (ring_) : NULL;          \
    const int r_ = (call);                                                \
                                                                          \
    if (ring_) {                                                          \
      recorder_stop (ring_, record_);                                     \
      if ((op) == OP_EXTENTS)                                             \
        sum_up_extents (record_, returned);                               \
      recorder_end (ring_, record_, r_ == -1 ? (*err ? *err : EIO) : 0);  \
    }                                                                     \
    r_;                                                                   \
  })

static int
stats_pread (nbdkit_next *next, void *handle, void *buf, uint32_t count,
             uint64_t offset, uint32_t flags, int *err)
{
  return TIMED (OP_READ, count, offset, 0,
                next->pread (next, buf, count, offset, flags, err),
                NULL);
}

static int
stats_pwrite (nbdkit_next *next, void *handle, const void *buf,
              uint32_t count, uint64_t offset, uint32_t flags, int *err)
{
  const uint32_t zeros = options.zero ? zero_bytes (buf, count, offset) : 0;

  return TIMED (OP_WRITE, count, offset, zeros,
                next->pwrite (next, buf, count, offset, flags, err),
                NULL);
}

/* The three that name a range and move no data. */
#define RANGE_CALLBACK(callback, op)                                      \
  static int                                                              \
  stats_##callback (nbdkit_next *next, void *handle, uint32_t count,      \
                    uint64_t offset, uint32_t flags, int *err)            \
  {                                                                       \
    return TIMED (op, count, offset, 0,                                   \
                  next->callback (next, count, offset, flags, err),       \
                  NULL);                                                  \
  }

RANGE_CALLBACK (trim, OP_TRIM)
RANGE_CALLBACK (zero, OP_ZERO)
RANGE_CALLBACK (cache, OP_CACHE)

static int
stats_flush (nbdkit_next *next, void *handle, uint32_t flags, int *err)
{
  return TIMED (OP_FLUSH, 0, 0, 0, next->flush (next, flags, err),
                NULL);
}

static int
stats_extents (nbdkit_next *next, void *handle, uint32_t count,
               uint64_t offset, uint32_t flags,
               struct nbdkit_extents *extents, int *err)
{
  return TIMED (OP_EXTENTS, count, offset, 0,
                next->extents (next, count, offset, flags, extents, err),
                extents);
}

#define QUESTION_MEMBER(question) .question = stats_##question,

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
  .preconnect     = stats_preconnect,
  .list_exports   = stats_list_exports,
  .default_export = stats_default_export,
  .open           = stats_open,
  .prepare        = stats_prepare,
  .close          = stats_close,
  .get_size       = stats_get_size,
  .export_description = stats_export_description,
#ifdef HAVE_STRUCT_NBDKIT_FILTER_BLOCK_SIZE
  .block_size     = stats_block_size,
#endif
  FOR_EACH_QUESTION (QUESTION_MEMBER)
  .can_zero       = stats_can_zero,
  .can_cache      = stats_can_cache,
  .can_extents    = stats_can_extents,
  .pread          = stats_pread,
  .pwrite         = stats_pwrite,
  .trim           = stats_trim,
  .zero           = stats_zero,
  .extents        = stats_extents,
  .cache          = stats_cache,
  .flush          = stats_flush,
};

NBDKIT_REGISTER_FILTER (filter)
