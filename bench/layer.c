/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layer.h"

/* What the filter calls to reach the layer behind it. */

static int
next_config (nbdkit_backend *backend, const char *key, const char *value)
{
  (void) backend;
  nbdkit_error ("%s=%s: the filter does not know this parameter", key, value);
  return -1;
}

static int
next_config_complete (nbdkit_backend *backend)
{
  (void) backend;
  return 0;
}

static int
next_preconnect (nbdkit_backend *backend, int readonly)
{
  (void) backend;
  (void) readonly;
  return 0;
}

static int
next_open (nbdkit_context *context, int readonly, const char *exportname)
{
  (void) readonly;
  (void) exportname;
  context->next = connection_open (context->backend);
  return context->next ? 0 : -1;
}

/* The life of the filter. */

static int
filter_load (struct layer *layer, const char *path)
{
  struct nbdkit_filter *(*init) (void);

  layer->module = dlopen (path, RTLD_LAZY | RTLD_LOCAL);
  if (layer->module == NULL) {
    nbdkit_error ("%s", dlerror ());
    return -1;
  }
  *(void **) &init = dlsym (layer->module, "filter_init");
  if (init == NULL) {
    nbdkit_error ("%s: this is not an nbdkit filter", path);
    return -1;
  }
  layer->filter = init ();
  if (layer->filter->_api_version != NBDKIT_FILTER_API_VERSION
      || strcmp (layer->filter->_version, NBDKIT_VERSION_STRING) != 0) {
    nbdkit_error ("%s: made for another nbdkit than %s", path,
                  NBDKIT_VERSION_STRING);
    return -1;
  }
  if (layer->filter->load)
    layer->filter->load ();
  return 0;
}

static int
filter_param (struct layer *layer, const char *param)
{
  char *key = strdup (param);
  char *equals = key ? strchr (key, '=') : NULL;
  int r = -1;

  if (equals) {
    *equals = '\0';
    /* The value must live on, as the server's arguments do. */
    r = (layer->filter->config
         ? layer->filter->config (next_config, &layer->backend, key,
                                  strchr (param, '=') + 1)
         : next_config (&layer->backend, key, equals + 1));
  }
  free (key);
  return r;
}

static int
filter_get_ready (struct layer *layer)
{
  const struct nbdkit_filter *filter = layer->filter;

  if (filter->config_complete
      && filter->config_complete (next_config_complete,
                                  &layer->backend) == -1)
    return -1;
  if (filter->get_ready
      && filter->get_ready (NBDKIT_THREAD_MODEL_PARALLEL) == -1)
    return -1;
  if (filter->after_fork && filter->after_fork (&layer->backend) == -1)
    return -1;
  return 0;
}

int
layer_start (struct layer *layer, const struct side *side,
             const struct nbdkit_backend *backend)
{
  static const struct nbdkit_filter bypass;

  *layer = (struct layer) { .filter = &bypass, .backend = *backend };
  if (side->path && filter_load (layer, side->path) == -1)
    return -1;
  for (unsigned i = 0; i < side->nr_params; i++) {
    if (filter_param (layer, side->params[i]) == -1)
      return -1;
  }
  return filter_get_ready (layer);
}

void
layer_stop (struct layer *layer)
{
  if (layer->filter->cleanup)
    layer->filter->cleanup (&layer->backend);
  if (layer->filter->unload)
    layer->filter->unload ();
  if (layer->module)
    dlclose (layer->module);
}

/* Connections. */

/* The answer of the filter, or of what is behind it if the filter leaves
 * the question to that.
 */
#define ASK(question)                                                     \
  (filter->question ? filter->question (client->context.next,             \
                                        client->handle)                   \
   : client->context.next->question (client->context.next))

static int
ask_block_size (const struct nbdkit_filter *filter, struct client *client)
{
#ifdef HAVE_BLOCK_SIZE
  uint32_t minimum, preferred, maximum;

  if (filter->block_size)
    return filter->block_size (client->context.next, client->handle,
                               &minimum, &preferred, &maximum);
#endif
  (void) filter;
  (void) client;
  return 0;
}

/* What nbdkit asks before the first request, in its order. */
static int
negotiate (const struct nbdkit_filter *filter, struct client *client)
{
  const int64_t size = ASK (get_size);
  const int writable = size == -1 ? -1 : ASK (can_write);

  if (writable == -1 || ASK (can_zero) == -1 || ASK (can_fast_zero) == -1
      || ASK (can_trim) == -1 || ASK (can_fua) == -1
      || ASK (can_flush) == -1 || ASK (is_rotational) == -1
      || ASK (can_multi_conn) == -1 || ASK (can_cache) == -1
      || ASK (can_extents) == -1 || ask_block_size (filter, client) == -1) {
    nbdkit_error ("the filter could not answer what clients are offered");
    return -1;
  }
  if (size < BACKEND_SIZE) {
    nbdkit_error ("the filter makes the disk smaller, the requests would "
                  "not fit");
    return -1;
  }
  if (!writable) {
    nbdkit_error ("the filter lets nobody write");
    return -1;
  }
  return 0;
}

static int
client_open (struct layer *layer, struct client *client)
{
  const struct nbdkit_filter *filter = layer->filter;

  if (filter->preconnect
      && filter->preconnect (next_preconnect, &layer->backend, 0) == -1) {
    nbdkit_error ("the filter refused the connection");
    return -1;
  }
  if (filter->open == NULL) {
    client->handle = NBDKIT_HANDLE_NOT_NEEDED;
    return next_open (&client->context, 0, "");
  }
  client->handle = filter->open (next_open, &client->context, 0, "", 0);
  return client->handle ? 0 : -1;
}

int
layer_connect (struct layer *layer, struct client *client)
{
  const struct nbdkit_filter *filter = layer->filter;

  *client = (struct client) { .context.backend = &layer->backend };
  if (client_open (layer, client) == -1)
    return -1;
  if (client->context.next == NULL) {
    nbdkit_error ("the filter answers alone, without what is behind it");
    return -1;
  }
  if (filter->prepare
      && filter->prepare (client->context.next, client->handle, 0) == -1) {
    nbdkit_error ("the filter could not prepare the connection");
    return -1;
  }
  return negotiate (filter, client);
}

void
layer_disconnect (struct layer *layer, struct client *client)
{
  const struct nbdkit_filter *filter = layer->filter;

  if (filter->finalize)
    filter->finalize (client->context.next, client->handle);
  if (filter->close)
    filter->close (client->handle);
  connection_close (client->context.next);
}
