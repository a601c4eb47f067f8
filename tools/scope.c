/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "memory.h"
#include "scope.h"

/* As much as a command line takes on all systems.  A few lines that each
 * name the one before twice would be more than any memory.
 */
#define MAX_VALUE (128 * 1024)

/* And so are empty values, in time. */
#define MAX_REPLACED 1000

/* What is being replaced at the moment, the innermost first. */
struct chain {
  const struct chain *outer;
  const struct setting *setting;
  unsigned level;
};

/* Text that grows, to a limit. */
struct text {
  char *s;
  size_t len;
  unsigned replaced;            /* how many ${} */
};

static int expand (const struct scope *scope, const struct chain *chain,
                   struct text *text);

/* The first from a level on. */
static const struct setting *
find_from (const struct scope *scope, const char *name, unsigned *level)
{
  for (; *level < SCOPE_LEVELS; ++*level) {
    const struct section *section = scope->levels[*level];
    const struct setting *setting
      = section ? section_find (section, name) : NULL;

    if (setting)
      return setting;
  }
  return NULL;
}

static int
append (const struct setting *setting, struct text *text, const char *s,
        size_t len)
{
  if (len > MAX_VALUE - text->len || text->replaced > MAX_REPLACED) {
    tell_error_at (setting->file, setting->line,
                   "the value of %s becomes too long", setting->name);
    return -1;
  }
  memcpy (text->s + text->len, s, len);
  text->len += len;
  text->s[text->len] = '\0';
  return 0;
}

/* What name means in the value of chain's setting. */
static int
expand_name (const struct scope *scope, const struct chain *chain,
             const char *name, struct text *text)
{
  const struct setting *in = chain->setting;
  struct chain inner = { .outer = chain };

  if (strcmp (name, in->name) == 0)
    inner.level = chain->level + 1;
  inner.setting = find_from (scope, name, &inner.level);
  if (inner.setting == NULL) {
    tell_error_at (in->file, in->line, "${%s} is not defined%s", name,
                   inner.level && strcmp (name, in->name) == 0
                   ? " but by itself" : "");
    return -1;
  }
  for (const struct chain *c = chain; c; c = c->outer) {
    if (c->setting == inner.setting) {
      tell_error_at (in->file, in->line, "${%s} is made of itself", name);
      return -1;
    }
  }
  return expand (scope, &inner, text);
}

static int
expand (const struct scope *scope, const struct chain *chain,
        struct text *text)
{
  const struct setting *setting = chain->setting;
  const char *s = setting->value, *dollar, *brace;

  for (; (dollar = strstr (s, "${")) != NULL; s = brace + 1) {
    char *name;
    int r;

    brace = strchr (dollar, '}');
    if (brace == NULL) {
      tell_error_at (setting->file, setting->line, "the } of ${ is missing");
      return -1;
    }
    text->replaced++;
    if (append (setting, text, s, (size_t) (dollar - s)) == -1)
      return -1;
    name = copy_bytes (dollar + 2, (size_t) (brace - dollar) - 2);
    r = expand_name (scope, chain, name, text);
    free (name);
    if (r == -1)
      return -1;
  }
  return append (setting, text, s, strlen (s));
}

const struct setting *
scope_find (const struct scope *scope, const char *name)
{
  unsigned level = 0;

  return find_from (scope, name, &level);
}

int
scope_value (const struct scope *scope, const char *name, char **value)
{
  struct chain chain = { .outer = NULL };
  struct text text;

  *value = NULL;
  chain.setting = find_from (scope, name, &chain.level);
  if (chain.setting == NULL)
    return 0;
  text = (struct text) { .s = get_memory (MAX_VALUE + 1, 1) };
  if (expand (scope, &chain, &text) == -1) {
    free (text.s);
    return -1;
  }
  *value = copy_string (text.s);
  free (text.s);
  return 0;
}
