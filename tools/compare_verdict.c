/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The sentence that a comparison comes to. */

#include <config.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "compare_write.h"
#include "num2str.h"

struct sentence {
  char *text;
  size_t length;
};

static void __attribute__ ((format (printf, 2, 3)))
say (struct sentence *s, const char *fmt, ...)
{
  va_list args;
  int n;

  va_start (args, fmt);
  n = vsnprintf (s->text + s->length, VERDICT_LEN - s->length, fmt, args);
  va_end (args);
  if (n > 0)
    s->length += (size_t) n;
  if (s->length >= VERDICT_LEN)
    s->length = VERDICT_LEN - 1;
}

/* Whether there is anything to explain: a difference that is not refuted. */
static bool
differs (const struct comparison *c)
{
  return c->time.a != c->time.b
    && (!can_prove (c) || is_significant (&c->time));
}

static void
say_ratio (struct sentence *s, const struct comparison *c)
{
  if (isnan (c->ratio.ratio))
    say (s, "%s", c->time.b > 0 ? "A took no time, so there is no ratio"
         : c->time.a > 0 ? "B took no time" : "Neither took any time");
  else if (c->ratio.ratio == 1)
    say (s, "B takes as long as A");
  else
    say (s, "B takes %.*f times as long as A",
         c->ratio.ratio < 0.1 ? 4 : 2, c->ratio.ratio);
}

/* How sure that is. */
static void
say_confidence (struct sentence *s, const struct comparison *c)
{
  const double percent = 100 * CONFIDENCE;

  if (!can_prove (c))
    return;
  say (s, " (");
  if (!isnan (c->ratio.low))
    say (s, "%.2f to %.2f with %.0f%% confidence, ", c->ratio.low,
         c->ratio.high, percent);
  if (c->time.p < 0.001)
    say (s, "p < 0.001)");
  else
    say (s, "p = %.3f)", c->time.p);
}

static void
say_work (struct sentence *s, const struct comparison *c)
{
  switch (compare_work (c)) {
  case WORK_SAME:    say (s, ": the same work"); break;
  case WORK_SIMILAR: say (s, ": the same work within %.0f%%", SIMILAR); break;
  case WORK_OTHER:   say (s, ", BUT NOT FOR THE SAME WORK"); break;
  }
}

/* Where the difference lies. */

/* As the account calls it, in words. */
static void
say_state (struct sentence *s, const char *name)
{
  static const struct { const char *name, *words; } known[] = {
    { "waiting", "waiting for requests" },
    { "several", "with several kinds of request in flight" },
    { "opening", "in openings" },
  };

  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (strcmp (name, known[i].name) == 0) {
      say (s, "%s", known[i].words);
      return;
    }
  }
  say (s, "in %s", name);
}

/* What changed most in the direction in which the time did. */
struct cause {
  const char *name;             /* NULL: nothing */
  double ns;
};

static void
consider (struct cause *cause, const char *name, const struct difference *d,
          bool longer)
{
  const double ns = longer ? d->b - d->a : d->a - d->b;

  if (ns > cause->ns)
    *cause = (struct cause) { .name = name, .ns = ns };
}

/* While no client is connected no time passes that counts. */
static struct cause
find_cause (const struct comparison *c)
{
  const bool longer = c->time.b > c->time.a;
  struct cause cause = { .name = NULL };

  for (size_t i = 0; i < c->nr_states; i++) {
    if (strcmp (c->states[i].name, "no_client") != 0)
      consider (&cause, c->states[i].name, &c->states[i].ns, longer);
  }
  for (unsigned op = 0; c->nr_states == 0 && op < NR_OPS; op++)
    consider (&cause, op_name (op), &c->ops[op][FIGURE_BUSY], longer);
  return cause;
}

static void
say_cause (struct sentence *s, const struct comparison *c)
{
  const struct cause cause = find_cause (c);
  char seconds[NUM2STR_LEN];

  if (cause.name == NULL)
    return;
  say (s, ", %s %s ", num2str (seconds, cause.ns, NUM_TIME),
       c->time.b > c->time.a ? "more" : "less");
  say_state (s, cause.name);
}

void
compare_verdict (char verdict[VERDICT_LEN], const struct comparison *c)
{
  struct sentence s = { .text = verdict };

  if (can_prove (c) && !is_significant (&c->time))
    say (&s, "No difference in time is proven: ");
  say_ratio (&s, c);
  say_confidence (&s, c);
  say_work (&s, c);
  if (differs (c))
    say_cause (&s, c);
  say (&s, ".");
}
