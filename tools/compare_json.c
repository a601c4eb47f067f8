/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Comparisons as JSON.  What was not measured or could not be tested is
 * null.
 */

#include <config.h>

#include <stdio.h>

#include "compare_write.h"
#include "json_writer.h"

#define COMPARE_SCHEMA 1

static void
add_difference (struct json *json, const char *key,
                const struct difference *d)
{
  JSON_OBJECT (json, key) {
    json_real (json, "a", d->a);
    json_real (json, "b", d->b);
    json_real (json, "change_percent", difference_percent (d));
    json_real (json, "p", d->p);
    json_bool (json, "significant", is_significant (d));
  }
}

static void
add_op (struct json *json, const struct comparison *c, enum op op)
{
  JSON_OBJECT (json, op_name (op)) {
    for (unsigned i = 0; i < NR_FIGURES; i++)
      add_difference (json, figure_kinds[i].name, &c->ops[op][i]);
  }
}

static void
add_findings (struct json *json, const char *key,
              const struct compare_side *side,
              const struct compare_side *other)
{
  const char *findings[MAX_RUN_FINDINGS];
  const size_t n = findings_only_in (side, other, findings);

  JSON_ARRAY (json, key) {
    for (size_t i = 0; i < n; i++)
      json_string (json, NULL, findings[i]);
  }
}

static const char *
work_name (enum work work)
{
  static const char *const names[] = {
    [WORK_SAME] = "same", [WORK_SIMILAR] = "similar", [WORK_OTHER] = "other",
  };

  return names[work];
}

static void
add_ratio (struct json *json, const struct comparison *c)
{
  JSON_OBJECT (json, "time_ratio") {
    json_real (json, "estimate", c->ratio.ratio);
    json_real (json, "low", c->ratio.low);
    json_real (json, "high", c->ratio.high);
    json_real (json, "confidence", CONFIDENCE);
    json_real (json, "superiority", c->superiority);
  }
}

static void
add_comparison (struct json *json, const struct comparison *c)
{
  char verdict[VERDICT_LEN];

  compare_verdict (verdict, c);
  json_string (json, "name", c->a->name);
  json_string (json, "verdict", verdict);
  json_string (json, "work", work_name (compare_work (c)));
  json_count (json, "runs_a", c->a->nr_runs);
  json_count (json, "runs_b", c->b->nr_runs);
  json_bool (json, "enough_runs", can_prove (c));
  add_difference (json, "time_ns", &c->time);
  add_ratio (json, c);
  JSON_OBJECT (json, "ops") {
    for (unsigned op = 0; op < NR_OPS; op++)
      add_op (json, c, op);
  }
  JSON_OBJECT (json, "account") {
    for (size_t i = 0; i < c->nr_states; i++)
      add_difference (json, c->states[i].name, &c->states[i].ns);
  }
  add_findings (json, "findings_only_in_a", c->a, c->b);
  add_findings (json, "findings_only_in_b", c->b, c->a);
}

void
compare_write_json (FILE *fp, const struct compared *compared)
{
  struct json *json = &(struct json) { .fp = fp };

  JSON_OBJECT (json, NULL) {
    json_count (json, "schema", COMPARE_SCHEMA);
    json_string (json, "type", "comparison");
    json_string (json, "a", compared->a->file);
    json_string (json, "b", compared->b->file);
    JSON_ARRAY (json, "comparisons") {
      for (size_t i = 0; i < compared->nr; i++) {
        JSON_OBJECT (json, NULL)
          add_comparison (json, &compared->comparisons[i]);
      }
    }
  }
  fputc ('\n', fp);
}
