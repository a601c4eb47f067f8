/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The rules of the diagnosis: each from both sides of its threshold, in a
 * run that is healthy but for that.
 */

#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "diagnosis.h"
#include "extremes.h"
#include "ops.h"
#include "snapshot.h"
#include "tally.h"
#include "unit.h"

#define NR_LAYERS 2
#define ACTIVE (9800 * MS)

static struct recorder_totals layers[NR_LAYERS];
static struct recorder_totals *const layer = &layers[0];
static struct snapshot snapshot;
static struct finding findings[MAX_FINDINGS];
static size_t nr_findings;

/* A run of ten seconds, and what happens in it. */

static void
requests (enum op op, unsigned n, uint64_t offset, uint32_t count,
          uint64_t latency_ns)
{
  struct op_totals *totals = &layer->ops[op];
  struct record request = {
    .kind = op, .count = count, .offset = offset,
    .begin = snapshot.start + 100 * MS,
  };

  for (unsigned i = 0; i < n; i++) {
    extremes_record (&totals->extremes, &request, latency_ns,
                     totals->tally.requests);
    tally_record (&totals->tally, &request, latency_ns, snapshot.block);
    request.offset += count;
  }
}

static void
no_requests (enum op op)
{
  memset (&layer->ops[op], 0, sizeof layer->ops[op]);
}

/* Reads and writes of 64 KiB, some in order, a few at once, and the storage
 * was busy for two thirds of the time.
 */
static void
healthy (void)
{
  memset (layers, 0, sizeof layers);
  snapshot = (struct snapshot) {
    .start = 1000 * S, .elapsed_ns = 10 * S, .threshold = 95000,
    .ended = true, .nr_layers = 1, .layers = layers,
  };
  layer->time.first_begin = snapshot.start + 100 * MS;
  layer->time.last_end = layer->time.first_begin + ACTIVE;
  layer->time.busy_ns = 6500 * MS;
  layer->time.most_in_flight = 4;
  for (unsigned op = OP_READ; op <= OP_WRITE; op++) {
    requests (op, 900, 0, 64 * KiB, 3 * MS);
    requests (op, 100, 0, 64 * KiB, 5 * MS);
    layer->time.sequential[op] = 700;
    layer->time.op_busy_ns[op] = 3 * S;
    layer->time.in_flight_ns[op] = 6 * S;
    layer->time.op_most_in_flight[op] = 4;
    layer->time.depths[op][0] = (struct depth_class) { 100, 300 * MS };
    layer->time.depths[op][2] = (struct depth_class) { 900, 2900 * MS };
  }
  requests (OP_FLUSH, 2, 0, 0, 50 * MS);
  layer->time.op_busy_ns[OP_FLUSH] = 100 * MS;
  requests (OP_EXTENTS, 10, 0, GiB, 1 * MS);
  layer->time.op_busy_ns[OP_EXTENTS] = 10 * MS;
  layer->connections.all = (struct opens) {
    .opened = 4, .ns = 40 * MS, .longest_ns = 20 * MS,
  };
}

/* A layer below that does just the same. */
static void
add_layer (void)
{
  layers[1] = layers[0];
  snapshot.nr_layers = 2;
}

static uint64_t
share (uint64_t whole, double percentage)
{
  return (uint64_t) llround ((double) whole * percentage / 100);
}

/* What every finding must be. */
static void
check_sane (const struct finding *finding)
{
  static const char *const words[] = { "nan", "inf", "null", "infinity" };
  const char *text = finding->text;
  const size_t length = strlen (text);

  assert_in_range (length, 20, sizeof finding->text - 1);
  assert_int_equal (text[length - 1], '.');
  assert_true (isupper ((unsigned char) text[0])
               || isdigit ((unsigned char) text[0]));
  assert_null (strstr (text, "  "));
  for (const char *p = text; *p; p += strspn (p, " .,:;()%-")) {
    const size_t n = strcspn (p, " .,:;()%-");

    assert_true (isprint ((unsigned char) *p));
    for (size_t i = 0; i < LENGTH (words); i++)
      assert_false (n == strlen (words[i])
                    && strncasecmp (p, words[i], n) == 0);
    p += n;
  }
  assert_non_null (finding->code);
  assert_true (isfinite (finding->weight) && finding->weight >= 0);
  assert_non_null (finding->numbers[0].name);
  for (unsigned i = 0; i < FINDING_NUMBERS; i++)
    assert_true (isfinite (finding->numbers[i].value));
}

/* Worst first; of those that weigh the same, in the order of the rules. */
static void
check_order (void)
{
  for (size_t i = 1; i < nr_findings; i++) {
    const struct finding *a = &findings[i - 1], *b = &findings[i];

    assert_true (a->weight > b->weight
                 || (a->weight >= b->weight && a->rule <= b->rule));
  }
}

static void
diagnose_now (void)
{
  memset (findings, 0xff, sizeof findings);
  nr_findings = diagnose (&snapshot, findings);
  assert_true (nr_findings <= MAX_FINDINGS);
  for (size_t i = 0; i < nr_findings; i++)
    check_sane (&findings[i]);
  check_order ();
}

/* The finding of that code and operation, or NULL. */
static const struct finding *
find (const char *code, const char *op)
{
  for (size_t i = 0; i < nr_findings; i++) {
    if (strcmp (findings[i].code, code) != 0)
      continue;
    if (op == NULL ? findings[i].op == NULL
                   : findings[i].op && strcmp (findings[i].op, op) == 0)
      return &findings[i];
  }
  return NULL;
}

/* A healthy run, and one in which nothing happened. */

static void
test_healthy (void **state)
{
  (void) state;
  healthy ();
  snapshot.block = 64 * KiB;
  for (unsigned op = OP_READ; op <= OP_WRITE; op++)
    layer->ops[op].tally.blocks.aligned = 1000;
  add_layer ();
  diagnose_now ();
  for (size_t i = 0; i < nr_findings; i++)
    fail_msg ("%s: %s", findings[i].code, findings[i].text);
}

static void
test_nothing (void **state)
{
  (void) state;
  memset (layers, 0, sizeof layers);
  snapshot = (struct snapshot) { .ended = true, .layers = layers };
  for (snapshot.nr_layers = 0; snapshot.nr_layers <= NR_LAYERS;
       snapshot.nr_layers++) {
    for (unsigned ran = 0; ran <= 1; ran++) {
      snapshot.start = ran * 1000 * S;
      snapshot.elapsed_ns = ran * 10 * S;
      snapshot.block = ran * 4096;
      diagnose_now ();
      assert_int_equal (nr_findings, 0);
    }
  }
}

/* The rules.  Each of these makes a run in which one rule's figure has the
 * value.
 */

static void
set_failures (double value)
{
  layer->ops[OP_TRIM].failures.by_errno[0] = (struct failure) {
    .error = EIO, .requests = (uint64_t) value,
  };
}

static void
set_failed_opens (double value)
{
  layer->connections.all.failed = (uint64_t) value;
}

static void
set_unrecorded (double value)
{
  layer->unrecorded = (uint64_t) value;
}

static void
set_in_flight (double value)
{
  layer->time.in_flight[OP_FLUSH] = (unsigned) value;
}

/* In percent of the elapsed time. */
static void
set_busy (double value)
{
  layer->time.busy_ns = share (snapshot.elapsed_ns, value);
}

/* In percent of the active time. */
static void
set_idle (double value)
{
  layer->time.busy_ns = share (ACTIVE, 100 - value);
}

static void
set_flush (double value)
{
  layer->time.op_busy_ns[OP_FLUSH] = share (layer->time.busy_ns, value);
}

static void
set_one_at_a_time (double value)
{
  layer->time.most_in_flight = 1;
  layer->time.busy_ns = share (ACTIVE, value)
    + layer->time.op_busy_ns[OP_FLUSH];
}

/* Latencies grow with how many are in flight, which is the value. */
static void
set_depth (enum op op, double in_flight, double few_requests, double growth)
{
  struct depth_class *depths = layer->time.depths[op];

  layer->time.in_flight_ns[op]
    = share (layer->time.op_busy_ns[op], 100 * in_flight);
  memset (depths, 0, DEPTH_CLASSES * sizeof *depths);
  depths[0].requests = (uint64_t) few_requests / 2;
  depths[1].requests = (uint64_t) few_requests - depths[0].requests;
  depths[0].latency_ns = depths[0].requests * MS;
  depths[1].latency_ns = depths[1].requests * MS;
  depths[3].requests = 500;
  depths[3].latency_ns = 500 * share (MS, 100 * growth);
  depths[4] = depths[3];
}

static void
set_read_depth (double value)
{
  set_depth (OP_READ, value, 100, value);
}

static void
set_write_depth (double value)
{
  set_depth (OP_WRITE, value, 100, value);
}

static void
set_growth (double value)
{
  set_depth (OP_READ, 8, 100, value);
}

static void
set_few (double value)
{
  set_depth (OP_READ, 8, value, 8);
}

static void
set_sequential (double value)
{
  no_requests (OP_WRITE);
  requests (OP_WRITE, 1000, 0, 4 * KiB, 3 * MS);
  layer->time.sequential[OP_WRITE] = share (1000, value);
}

static void
set_small (double value)
{
  const unsigned n = (unsigned) share (1000, value);

  no_requests (OP_READ);
  requests (OP_READ, n, 0, 12 * KiB, 3 * MS);
  requests (OP_READ, 1000 - n, 0, 16 * KiB, 3 * MS);
}

static void
set_misaligned (double value)
{
  const unsigned n = (unsigned) share (1000, value);

  no_requests (OP_READ);
  requests (OP_READ, n, 2048, 64 * KiB, 3 * MS);
  requests (OP_READ, 1000 - n, 4096, 64 * KiB, 3 * MS);
}

static void
set_misaligned_lengths (double value)
{
  const unsigned n = (unsigned) share (1000, value);

  no_requests (OP_WRITE);
  for (unsigned i = 0; i < n; i++)
    requests (OP_WRITE, 1, 4096, 64 * KiB + 2048, 3 * MS);
  requests (OP_WRITE, 1000 - n, 4096, 64 * KiB, 3 * MS);
}

static void
set_misfit (double value)
{
  const unsigned n = (unsigned) share (1000, value);

  snapshot.block = 64 * KiB;
  layer->ops[OP_READ].tally.blocks.aligned = 1000;
  no_requests (OP_WRITE);
  requests (OP_WRITE, n, 4096, 64 * KiB, 3 * MS);
  requests (OP_WRITE, 1000 - n, 0, 64 * KiB, 3 * MS);
}

static void
set_extents_time (double value)
{
  layer->time.op_busy_ns[OP_EXTENTS] = share (layer->time.busy_ns, value);
}

/* There are 2000 reads and writes. */
static void
set_extents (double value)
{
  layer->ops[OP_EXTENTS].tally.requests = (uint64_t) value;
}

static void
set_extents_alone (double value)
{
  no_requests (OP_READ);
  no_requests (OP_WRITE);
  set_extents (value);
}

static void
set_zeros (double value)
{
  struct tally *tally = &layer->ops[OP_WRITE].tally;

  tally->zero_bytes = share (tally->bytes, value);
}

static void
set_fua (double value)
{
  layer->ops[OP_WRITE].tally.flags[FLAG_FUA] = share (1000, value);
}

/* The percentiles of latencies are those of bins. */
static uint64_t
same_bin (uint64_t ns)
{
  return histogram_middle (histogram_bin (ns));
}

/* One in fifty takes long. */
static void
set_tail_of (enum op op, uint64_t latency_ns, uint64_t tail_ns)
{
  no_requests (op);
  requests (op, 1, 0, 64 * KiB, 1);
  requests (op, 979, 0, 64 * KiB, latency_ns);
  requests (op, 19, 0, 64 * KiB, tail_ns);
  requests (op, 1, 12345 * KiB, 4 * KiB, 3 * S);
}

/* A tail that many times as long as the median, up to a bin or so. */
static void
set_tail (double value)
{
  const uint64_t median = same_bin (2 * MS);

  set_tail_of (OP_READ, median, share (median, 100 * value));
}

static void
set_short_tail (double value)
{
  set_tail_of (OP_WRITE, 100 * US, share (MS, 100 * value));
}

static void
set_late_start (double value)
{
  layer->time.first_begin = snapshot.start
    + share (snapshot.elapsed_ns, value);
}

static void
set_late_end (double value)
{
  layer->time.last_end = snapshot.start
    + share (snapshot.elapsed_ns, 100 - value);
}

/* Half of a run that is short, in seconds. */
static void
set_short_start (double value)
{
  snapshot.elapsed_ns = share (2 * S, 100 * value);
  layer->time.first_begin = snapshot.start + share (S, 100 * value);
}

static void
set_short_end (double value)
{
  snapshot.elapsed_ns = share (2 * S, 100 * value);
  layer->time.last_end = snapshot.start + share (S, 100 * value);
}

static void
set_open (double value)
{
  layer->connections.all.longest_ns = (uint64_t) value;
}

static void
set_between (double value)
{
  add_layer ();
  layers[1].time.busy_ns = share (layer->time.busy_ns, 100 - value);
}

static void
set_amplified (double value)
{
  add_layer ();
  layers[1].ops[OP_READ].tally.bytes
    = share (layer_bytes_moved (layer), 100 * value)
      - layers[1].ops[OP_WRITE].tally.bytes;
}

static const struct test_case {
  const char *code, *op;
  void (*set) (double value);
  double silent, named;         /* a value on each side of the threshold */
} cases[] = {
  { "failures",       NULL,    set_failures,         0,         1 },
  { "failed-opens",   NULL,    set_failed_opens,     0,         1 },
  { "not-recorded",   NULL,    set_unrecorded,       0,         1 },
  { "unfinished",     NULL,    set_in_flight,        0,         1 },
  { "storage-bound",  NULL,    set_busy,             79.9,      80 },
  { "client-bound",   NULL,    set_idle,             49.9,      50 },
  { "flush",          NULL,    set_flush,            29.9,      30 },
  { "one-at-a-time",  NULL,    set_one_at_a_time,    49.9,      50 },
  { "saturated",      "read",  set_read_depth,       7.99,      8 },
  { "saturated",      "write", set_write_depth,      7.99,      8 },
  { "saturated",      "read",  set_growth,           1.99,      2 },
  { "saturated",      "read",  set_few,              9,         10 },
  { "small-requests", "write", set_sequential,       49.9,      50 },
  { "small-requests", "read",  set_small,            50,        50.1 },
  { "misaligned",     "read",  set_misaligned,       9.9,       10 },
  { "misaligned",     "write", set_misaligned_lengths, 9.9,     10 },
  { "block-misfit",   "write", set_misfit,           9.9,       10 },
  { "extents-time",   NULL,    set_extents_time,     29.9,      30 },
  { "extents-count",  NULL,    set_extents,          1999,      2000 },
  { "extents-count",  NULL,    set_extents_alone,    999,       1000 },
  { "zeros-written",  NULL,    set_zeros,            9.9,       10 },
  { "fua",            NULL,    set_fua,              49.9,      50 },
  { "long-tail",      "read",  set_tail,             19.7,      20.3 },
  { "long-tail",      "write", set_short_tail,       9.8,       10.2 },
  { "late-start",     NULL,    set_late_start,       19.9,      20 },
  { "late-start",     NULL,    set_short_start,      0.99,      1 },
  { "late-end",       NULL,    set_late_end,         19.9,      20 },
  { "late-end",       NULL,    set_short_end,        0.99,      1 },
  { "slow-open",      NULL,    set_open,             999999999, 1e9 },
  { "between-layers", NULL,    set_between,          49.9,      50 },
  { "amplified",      NULL,    set_amplified,        1.49,      1.5 },
};

static void
make (const struct test_case *c, double value)
{
  healthy ();
  c->set (value);
}

static void
expect (const struct test_case *c, bool named)
{
  const struct finding *finding;

  diagnose_now ();
  finding = find (c->code, c->op);
  if (named && finding == NULL)
    fail_msg ("%s of %s is not named", c->code, c->op ? c->op : "all");
  if (!named && finding)
    fail_msg ("%s: %s", c->code, finding->text);
}

static void
expect_named (const struct test_case *c)
{
  expect (c, true);
}

static void
expect_silent (const struct test_case *c)
{
  expect (c, false);
}

static void
test_thresholds (void **state)
{
  (void) state;
  for (size_t i = 0; i < LENGTH (cases); i++) {
    make (&cases[i], cases[i].silent);
    expect_silent (&cases[i]);
    make (&cases[i], cases[i].named);
    expect_named (&cases[i]);
  }
}

/* No rule is without a case. */
static void
test_all_rules (void **state)
{
  bool seen[MAX_FINDINGS] = { false };
  unsigned highest = 0;

  (void) state;
  for (size_t i = 0; i < LENGTH (cases); i++) {
    make (&cases[i], cases[i].named);
    diagnose_now ();
    for (size_t f = 0; f < nr_findings; f++) {
      assert_in_range (findings[f].rule, 0, MAX_FINDINGS - 1);
      seen[findings[f].rule] = true;
      if (findings[f].rule > highest)
        highest = findings[f].rule;
    }
  }
  assert_int_equal (highest + 1, 22);
  for (unsigned i = 0; i <= highest; i++)
    assert_true (seen[i]);
}

/* Conditions that keep a rule silent, whatever its figure. */

/* It ran for this long only. */
static void
active (uint64_t ns)
{
  layer->time.last_end = layer->time.first_begin + ns;
  if (layer->time.busy_ns > ns)
    layer->time.busy_ns = ns;
}

static const struct test_case *
case_of (const char *code)
{
  for (size_t i = 0; i < LENGTH (cases); i++) {
    if (strcmp (cases[i].code, code) == 0)
      return &cases[i];
  }
  fail_msg ("there is no case for %s", code);
  return NULL;
}

/* A short run proves nothing about the time. */
static void
test_short_run (void **state)
{
  static const char *const codes[] = {
    "storage-bound", "client-bound", "flush", "one-at-a-time", "saturated",
    "extents-time", "between-layers",
  };

  (void) state;
  for (size_t i = 0; i < LENGTH (codes); i++) {
    const struct test_case *c = case_of (codes[i]);

    for (unsigned long_enough = 0; long_enough <= 1; long_enough++) {
      const uint64_t ns = long_enough ? 1 * S : 1 * S - 1;

      healthy ();
      snapshot.elapsed_ns = ns;
      active (ns);
      if (c->set == set_idle)
        layer->time.busy_ns = ns / 4;
      else if (c->set == set_one_at_a_time)
        layer->time.most_in_flight = 1;
      else
        c->set (c->named);
      expect (c, long_enough);
    }
  }
}

/* Nor do a few requests. */

static void
keep_requests (unsigned n)
{
  for (unsigned op = 0; op < NR_OPS; op++) {
    const uint64_t busy_ns = layer->time.op_busy_ns[op];

    no_requests (op);
    layer->time.op_busy_ns[op] = busy_ns;
  }
  requests (OP_READ, n / 2, 2048, 2 * KiB, 3 * MS);
  requests (OP_READ, n - n / 2, 2048, 2 * KiB, 3 * S);
  requests (OP_WRITE, n / 2, 2048, 2 * KiB, 3 * MS);
  requests (OP_WRITE, n - n / 2, 2048, 2 * KiB, 3 * S);
  layer->ops[OP_WRITE].tally.flags[FLAG_FUA] = n;
  layer->time.sequential[OP_READ] = layer->time.sequential[OP_WRITE] = n;
}

static void
test_few_requests (void **state)
{
  static const struct test_case each[] = {
    { "small-requests", "read", NULL, 0, 0 },
    { "small-requests", "write", NULL, 0, 0 },
    { "misaligned", "read", NULL, 0, 0 },
    { "misaligned", "write", NULL, 0, 0 },
    { "block-misfit", "read", NULL, 0, 0 },
    { "block-misfit", "write", NULL, 0, 0 },
    { "fua", NULL, NULL, 0, 0 },
    { "long-tail", "read", NULL, 0, 0 },
    { "long-tail", "write", NULL, 0, 0 },
  };

  (void) state;
  healthy ();
  snapshot.block = 4096;
  for (size_t i = 0; i < LENGTH (each); i++) {
    keep_requests (99);
    expect_silent (&each[i]);
    keep_requests (100);
    expect_named (&each[i]);
  }

  /* These look at requests of all operations together. */
  for (unsigned n = 49; n <= 50; n++) {
    const struct test_case *one = case_of ("one-at-a-time");

    healthy ();
    one->set (one->named);
    keep_requests (n);
    expect (one, n >= 50);
  }
  for (unsigned n = 49; n <= 50; n++) {
    const struct test_case *amplified = case_of ("amplified");

    healthy ();
    keep_requests (n);
    amplified->set (amplified->named);
    expect (amplified, n >= 50);
  }
}

/* And so on, one by one. */
static void
test_conditions (void **state)
{
  (void) state;

  /* In flight while the server still runs is nothing. */
  make (case_of ("unfinished"), 5);
  snapshot.ended = false;
  expect_silent (case_of ("unfinished"));

  /* With one request at a time the client is the limit. */
  make (case_of ("storage-bound"), 97);
  layer->time.most_in_flight = 1;
  expect_silent (case_of ("storage-bound"));
  expect_named (case_of ("one-at-a-time"));
  layer->time.most_in_flight = 2;
  expect_named (case_of ("storage-bound"));
  expect_silent (case_of ("one-at-a-time"));

  /* A flush that is in flight or failed is not told as one. */
  make (case_of ("flush"), 50);
  no_requests (OP_FLUSH);
  expect_silent (case_of ("flush"));

  /* Flushes alone are no requests that could go at once. */
  make (case_of ("one-at-a-time"), 90);
  for (unsigned op = 0; op < NR_OPS; op++)
    no_requests (op);
  requests (OP_FLUSH, 200, 0, 0, MS);
  layer->time.op_busy_ns[OP_FLUSH] = layer->time.busy_ns;
  expect_silent (case_of ("one-at-a-time"));

  /* Blocks that nobody asked about. */
  make (case_of ("block-misfit"), 50);
  snapshot.block = 0;
  expect_silent (case_of ("block-misfit"));

  /* What is small, random or large and sequential is all right. */
  make (case_of ("small-requests"), 100);
  layer->time.sequential[OP_WRITE] = 0;
  expect_silent (case_of ("small-requests"));

  /* No request at all, no start and no end. */
  make (case_of ("late-start"), 50);
  layer->time.first_begin = 0;
  expect_silent (case_of ("late-start"));
  expect_silent (case_of ("late-end"));

  /* Nothing moved above, and so nothing is amplified. */
  make (case_of ("amplified"), 10);
  layer->ops[OP_READ].tally.bytes = layer->ops[OP_WRITE].tally.bytes = 0;
  expect_silent (case_of ("amplified"));

  /* One layer has nothing below it. */
  make (case_of ("between-layers"), 90);
  snapshot.nr_layers = 1;
  expect_silent (case_of ("between-layers"));
  make (case_of ("amplified"), 90);
  snapshot.nr_layers = 1;
  expect_silent (case_of ("amplified"));

  /* The lower layer was busy for longer: nothing is between. */
  healthy ();
  add_layer ();
  layers[1].time.busy_ns *= 2;
  expect_silent (case_of ("between-layers"));
}

/* Most rules look at the layer nearest the client; what was not recorded
 * is told of any.
 */
static void
test_lower_layer (void **state)
{
  (void) state;
  healthy ();
  add_layer ();
  layers[1].time.in_flight[OP_READ] = 5;
  set_failures (0);
  layers[1].ops[OP_READ].failures.by_errno[0] = (struct failure) {
    .error = EIO, .requests = 5,
  };
  layers[1].unrecorded = 7;
  diagnose_now ();
  assert_int_equal (nr_findings, 1);
  assert_string_equal (findings[0].code, "not-recorded");
  assert_int_equal (findings[0].layer, 1);
}

/* Which failures were most, in numbers and words. */
static void
test_failures (void **state)
{
  struct failure *trim, *flush;

  (void) state;
  healthy ();
  trim = layer->ops[OP_TRIM].failures.by_errno;
  flush = layer->ops[OP_FLUSH].failures.by_errno;

  trim[0] = (struct failure) { .error = EIO, .requests = 1 };
  diagnose_now ();
  assert_int_equal (nr_findings, 1);
  assert_string_equal (findings[0].text,
                       "1 request failed: 1 trim request with Input/output "
                       "error.");
  trim[0].requests = 2;
  diagnose_now ();
  assert_string_equal (findings[0].text,
                       "2 requests failed: 2 trim requests with Input/output "
                       "error.");
  trim[1] = (struct failure) { .error = ENOSPC, .requests = 3 };
  flush[0] = (struct failure) { .error = EIO, .requests = 3 };
  diagnose_now ();
  assert_string_equal (findings[0].text,
                       "8 requests failed: 3 trim requests with No space "
                       "left on device, and others.");
  trim[MAX_FAILURES - 1] = (struct failure) {
    .error = FAILURE_OTHER, .requests = 9,
  };
  diagnose_now ();
  assert_string_equal (findings[0].text,
                       "17 requests failed: 9 trim requests with various "
                       "errors, and others.");
  assert_string_equal (findings[0].numbers[0].name, "failed");
  assert_int_equal ((int) findings[0].numbers[0].value, 17);
  assert_string_equal (findings[0].numbers[1].name, "most_common");
  assert_int_equal ((int) findings[0].numbers[1].value, 9);
  assert_null (findings[0].numbers[2].name);
}

/* All that can be wrong at once: worst first, and none is too long. */
static void
make_all_wrong (void)
{
  healthy ();
  for (size_t i = 0; i < LENGTH (cases); i++) {
    if (cases[i].set != set_short_start && cases[i].set != set_short_end)
      cases[i].set (cases[i].named * 1.5);
  }
  layer->time.busy_ns = share (snapshot.elapsed_ns, 85);
  active (9 * S);
  layers[1].unrecorded = 0;
}

static void
test_all_wrong (void **state)
{
  (void) state;
  make_all_wrong ();
  diagnose_now ();
  assert_true (nr_findings > 12);
  assert_string_equal (findings[0].code, "failures");
  assert_string_equal (findings[1].code, "failed-opens");
  assert_string_equal (findings[2].code, "not-recorded");
  assert_string_equal (findings[3].code, "unfinished");
}

/* Figures as large as they can be, and times that are 0. */
static void
test_huge (void **state)
{
  enum { WORDS = NR_OPS * (sizeof (struct op_totals) / sizeof (uint64_t)) };
  uint64_t *const words = (uint64_t *) layers;

  (void) state;
  for (unsigned shift = 0; shift < 64; shift += 9) {
    healthy ();
    add_layer ();
    snapshot.block = 1;
    for (size_t i = 0; i < WORDS; i++)
      words[i] = UINT64_MAX >> shift;
    for (unsigned op = 0; op < NR_OPS; op++) {
      for (unsigned i = 0; i < MAX_FAILURES; i++)
        layer->ops[op].failures.by_errno[i].error = i + 1;
    }
    layer->unrecorded = UINT64_MAX >> shift;
    layer->connections.all.failed = UINT64_MAX >> shift;
    layer->connections.all.longest_ns = UINT64_MAX >> shift;
    diagnose_now ();
    assert_true (nr_findings > 0);
    snapshot.elapsed_ns = 0;
    diagnose_now ();
    layer->time.busy_ns = 0;
    diagnose_now ();
    memset (layer->time.op_busy_ns, 0, sizeof layer->time.op_busy_ns);
    diagnose_now ();
  }
}

/* A stack of many layers has no more findings than there is room for. */
static void
test_many_layers (void **state)
{
  static struct recorder_totals many[3 * MAX_FINDINGS];

  (void) state;
  make_all_wrong ();
  for (size_t i = 0; i < LENGTH (many); i++)
    many[i] = layers[0];
  snapshot.layers = many;
  snapshot.nr_layers = LENGTH (many);
  diagnose_now ();
  assert_int_equal (nr_findings, MAX_FINDINGS);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_healthy),
    cmocka_unit_test (test_nothing),
    cmocka_unit_test (test_thresholds),
    cmocka_unit_test (test_all_rules),
    cmocka_unit_test (test_short_run),
    cmocka_unit_test (test_few_requests),
    cmocka_unit_test (test_conditions),
    cmocka_unit_test (test_lower_layer),
    cmocka_unit_test (test_failures),
    cmocka_unit_test (test_all_wrong),
    cmocka_unit_test (test_huge),
    cmocka_unit_test (test_many_layers),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
