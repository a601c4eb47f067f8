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

/* Classes of tally.sizes. */
#define CLASS_4K 13
#define CLASS_64K 17
#define CLASS_1M 21

static struct recorder_totals layers[NR_LAYERS];
static struct recorder_totals *const layer = &layers[0];
static struct snapshot snapshot;
static bool accounted;          /* the test has its own account of time */
static struct finding all_findings[MAX_FINDINGS];
static const struct finding *findings;  /* the account is not among these */
static size_t nr_findings;

/* A run of ten seconds, and what happens in it. */

static uint64_t
share (uint64_t whole, double percentage)
{
  return (uint64_t) llround ((double) whole * percentage / 100);
}

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
    tally_alignment (&totals->tally, &request, ALIGNED_TO);
    request.offset += count;
  }
}

static void
no_requests (enum op op)
{
  memset (&layer->ops[op], 0, sizeof layer->ops[op]);
  memset (layer->time.size_depths[op], 0, sizeof layer->time.size_depths[op]);
  layer->time.small_sequential[op] = layer->time.overlapped[op] = 0;
}

static void
fail_requests (enum op op, unsigned n, uint64_t latency_ns)
{
  for (unsigned i = 0; i < n; i++)
    failures_count (&layer->ops[op].failures, EIO, latency_ns);
}

/* With so many others in flight as the class of depths says. */
static void
requests_at (enum op op, unsigned n, unsigned size_class, unsigned depth_class,
             uint64_t latency_ns)
{
  struct depth_class *class
    = &layer->time.size_depths[op][size_class][depth_class];

  requests (op, n, 0, UINT32_C (1) << (size_class - 1), latency_ns);
  class->requests += n;
  class->latency_ns += n * latency_ns;
}

/* So long is a gap: they begin one after the other. */
static void
gaps (unsigned n, uint64_t ns)
{
  struct op_totals *totals = &layer->time.gaps;

  for (unsigned i = 0; i < n; i++) {
    const struct record gap = { .begin = snapshot.start + S };

    extremes_record (&totals->extremes, &gap, ns, totals->tally.requests);
    tally_latency (&totals->tally, ns);
  }
}

static void
no_gaps (void)
{
  memset (&layer->time.gaps, 0, sizeof layer->time.gaps);
}

/* Reads and writes of 64 KiB, some in order, a few at once, and the storage
 * was busy for two thirds of the time: that is what it took.
 */
static void
healthy (void)
{
  memset (layers, 0, sizeof layers);
  accounted = false;
  snapshot = (struct snapshot) {
    .start = 1000 * S, .elapsed_ns = 10 * S, .threshold = 95000,
    .ended = true, .nr_layers = 1, .layers = layers,
    .thread_model = THREADS_PARALLEL,
  };
  layer->time.first_begin = snapshot.start + 100 * MS;
  layer->time.last_end = layer->time.first_begin + ACTIVE;
  layer->time.busy_ns = 6500 * MS;
  layer->time.open_busy_ns = 40 * MS;
  layer->time.account[ACCOUNT_NO_CLIENT] = 200 * MS;
  layer->time.most_in_flight = 4;
  gaps (3000, 1100 * US);
  for (unsigned op = OP_READ; op <= OP_WRITE; op++) {
    requests (op, 900, 0, 64 * KiB, 3 * MS);
    requests (op, 100, 0, 64 * KiB, 5 * MS);
    layer->time.sequential[op] = 700;
    layer->time.op_busy_ns[op] = 3200 * MS;
    layer->time.in_flight_ns[op] = 6400 * MS;
    layer->time.op_most_in_flight[op] = 4;
    layer->time.overlapped[op] = 800;
    layer->time.size_depths[op][CLASS_64K][0]
      = (struct depth_class) { 100, 300 * MS };
    layer->time.size_depths[op][CLASS_64K][2]
      = (struct depth_class) { 900, 2900 * MS };
  }
  requests (OP_FLUSH, 2, 0, 0, 50 * MS);
  layer->time.op_busy_ns[OP_FLUSH] = 100 * MS;
  requests (OP_EXTENTS, 10, 0, GiB, 1 * MS);
  layer->time.op_busy_ns[OP_EXTENTS] = 10 * MS;
  layer->connections.all = (struct opens) {
    .opened = 4, .ns = 40 * MS, .longest_ns = 20 * MS,
  };
}

/* An account that goes with these times, for a layer: where two kinds must
 * have been in flight at once, it was for the same part of each; and what is
 * left is waiting.
 */
static void
fit_account (struct timeline_totals *time)
{
  const uint64_t busy_ns = time->busy_ns < snapshot.elapsed_ns
    ? time->busy_ns : snapshot.elapsed_ns;
  const uint64_t idle_ns = snapshot.elapsed_ns - busy_ns;
  uint64_t *account = time->account, each[NR_KINDS], alone_ns = 0;
  double sum = 0, part;

  for (unsigned kind = 0; kind < NR_KINDS; kind++) {
    each[kind] = kind < NR_OPS ? time->op_busy_ns[kind] : time->open_busy_ns;
    sum += (double) each[kind];
  }
  part = sum <= (double) busy_ns ? 1 : 2 * (double) busy_ns / sum - 1;
  for (unsigned kind = 0; kind < NR_KINDS; kind++) {
    account[kind] = part > 0 ? share (each[kind], 100 * part) : 0;
    alone_ns += account[kind];
  }
  account[ACCOUNT_SEVERAL] = busy_ns > alone_ns ? busy_ns - alone_ns : 0;
  if (account[ACCOUNT_NO_CLIENT] > idle_ns)
    account[ACCOUNT_NO_CLIENT] = idle_ns;
  account[ACCOUNT_WAITING] = idle_ns - account[ACCOUNT_NO_CLIENT];
}

/* A layer below that does just the same. */
static void
add_layer (void)
{
  layers[1] = layers[0];
  snapshot.nr_layers = 2;
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
  assert_null (strstr (text, "elapsed time: "));        /* the first line is */
  for (const char *p = text; *p; p += strspn (p, " .,:;()%-")) {
    const size_t n = strcspn (p, " .,:;()%-");

    assert_true (isprint ((unsigned char) *p));
    for (size_t i = 0; i < LENGTH (words); i++)
      assert_false (n == strlen (words[i])
                    && strncasecmp (p, words[i], n) == 0);
    p += n;
  }
  assert_non_null (finding->code);
  assert_true (finding->weight >= 0 && finding->weight <= 100);
  assert_true (finding->kind == TIME || finding->weight <= 0);
  assert_non_null (finding->numbers[0].name);
  for (unsigned i = 0; i < FINDING_NUMBERS; i++)
    assert_true (isfinite (finding->numbers[i].value));
}

/* What went wrong first, and then the worst; of those that weigh the same,
 * in the order of the rules.
 */
static void
check_order (void)
{
  for (size_t i = 1; i < nr_findings; i++) {
    const struct finding *a = &findings[i - 1], *b = &findings[i];

    assert_true (a->kind <= b->kind);
    if (a->kind == b->kind)
      assert_true (a->weight > b->weight
                   || (a->weight >= b->weight && a->rule <= b->rule));
  }
}

/* It is the first, wherever there was anything. */
static void
take_account (void)
{
  const bool any = nr_findings > 0 && all_findings[0].kind == ACCOUNT;

  assert_int_equal (any, snapshot.nr_layers
                         && (layer->time.first_begin || layer->time.busy_ns));
  findings = all_findings + any;
  nr_findings -= any;
  for (size_t i = 0; i < nr_findings; i++)
    assert_int_not_equal (findings[i].kind, ACCOUNT);
}

static void
diagnose_now (void)
{
  memset (all_findings, 0xff, sizeof all_findings);
  /* Here all busy time is that of requests. */
  for (size_t i = 0; i < snapshot.nr_layers; i++) {
    snapshot.layers[i].time.request_busy_ns = snapshot.layers[i].time.busy_ns;
    if (!accounted)
      fit_account (&snapshot.layers[i].time);
  }
  nr_findings = diagnose (&snapshot, all_findings);
  assert_true (nr_findings <= MAX_FINDINGS);
  for (size_t i = 0; i < nr_findings; i++)
    check_sane (&all_findings[i]);
  take_account ();
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
  for (size_t i = 1; i < nr_findings; i++)
    fail_msg ("%s: %s", findings[i].code, findings[i].text);
  assert_int_equal (nr_findings, 1);
  assert_string_equal (findings[0].code, "storage-bound");
}

static void
test_nothing (void **state)
{
  (void) state;
  memset (layers, 0, sizeof layers);
  accounted = true;
  snapshot = (struct snapshot) { .ended = true, .layers = layers };
  for (snapshot.nr_layers = 0; snapshot.nr_layers <= NR_LAYERS;
       snapshot.nr_layers++) {
    for (unsigned ran = 0; ran <= 1; ran++) {
      snapshot.start = ran * 1000 * S;
      snapshot.elapsed_ns = ran * 10 * S;
      snapshot.block = ran * 4096;
      layer->time.account[ACCOUNT_NO_CLIENT] = snapshot.elapsed_ns;
      diagnose_now ();
      assert_int_equal (nr_findings, ran && snapshot.nr_layers);
      if (nr_findings)
        assert_string_equal (findings[0].text, "No client was connected for "
                             "10.000 s, 100.0% of the elapsed time.");
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

static void
set_cut_short (double value)
{
  layer->ops[OP_TRIM].failures.by_errno[1] = (struct failure) {
    .error = ESHUTDOWN, .requests = (uint64_t) value,
  };
}

/* In percent of the time with a client. */
static void
set_busy (double value)
{
  layer->time.busy_ns = share (9800 * MS, value);
}

static void
set_idle (double value)
{
  set_busy (100 - value);
}

/* In percent of the elapsed time. */
static void
set_no_client (double value)
{
  layer->time.account[ACCOUNT_NO_CLIENT] = share (10 * S, value);
}

/* In seconds of a short run. */
static void
set_short_no_client (double value)
{
  snapshot.elapsed_ns = 4 * S;
  layer->time.busy_ns = S;
  layer->time.account[ACCOUNT_NO_CLIENT] = share (S, 100 * value);
}

/* In percent of a shorter one. */
static void
set_mostly_no_client (double value)
{
  snapshot.elapsed_ns = S;
  layer->time.busy_ns = 200 * MS;
  layer->time.account[ACCOUNT_NO_CLIENT] = share (S, value);
}

/* In percent of the elapsed time, three of them. */
static void
set_stalls (double value)
{
  no_gaps ();
  gaps (1000, MS);
  gaps (3, share (10 * S, value) / 3 + 1);
}

/* Ten of so many milliseconds. */
static void
set_stall (double value)
{
  set_stalls (0);
  gaps (10, share (MS, 100 * value));
}

/* In percent of the busy time, which the others share. */

static void
set_op_time (enum op op, double value)
{
  for (unsigned i = 0; i < NR_OPS; i++)
    layer->time.op_busy_ns[i]
      = share (layer->time.busy_ns, i == op ? value : (100 - value) / 6);
  if (layer->ops[op].tally.requests == 0)
    requests (op, 10, 0, 64 * KiB, MS);
}

static void
set_flush (double value)
{
  set_op_time (OP_FLUSH, value);
}

static void
set_extents_time (double value)
{
  set_op_time (OP_EXTENTS, value);
}

static void
set_zero_time (double value)
{
  set_op_time (OP_ZERO, value);
}

static void
set_trim_time (double value)
{
  set_op_time (OP_TRIM, value);
}

static void
set_cache_time (double value)
{
  set_op_time (OP_CACHE, value);
}

static void
set_read_time (double value)
{
  set_op_time (OP_READ, value);
}

static void
set_write_time (double value)
{
  set_op_time (OP_WRITE, value);
}

/* Reads and writes were in flight all the time that anything was, and so long
 * at once.
 */
static void
set_several (double value)
{
  layer->time.op_busy_ns[OP_READ] = share (layer->time.busy_ns, value);
  layer->time.op_busy_ns[OP_WRITE] = layer->time.busy_ns;
  layer->time.op_busy_ns[OP_FLUSH] = layer->time.op_busy_ns[OP_EXTENTS] = 0;
  layer->time.open_busy_ns = 0;
  accounted = true;
  memset (layer->time.account, 0, sizeof layer->time.account);
  layer->time.account[ACCOUNT_SEVERAL] = layer->time.op_busy_ns[OP_READ];
  layer->time.account[OP_WRITE]
    = layer->time.busy_ns - layer->time.op_busy_ns[OP_READ];
  layer->time.account[ACCOUNT_WAITING] = 10 * S - layer->time.busy_ns;
}

static void
alone (void)
{
  layer->time.most_in_flight = 1;
  memset (layer->time.in_flight_ns, 0, sizeof layer->time.in_flight_ns);
  memset (layer->time.overlapped, 0, sizeof layer->time.overlapped);
}

/* In percent of the time with a client, without the ten slowest of 1010. */
static void
set_one_at_a_time (double value)
{
  no_requests (OP_WRITE);
  no_requests (OP_READ);
  requests (OP_READ, 1000, 0, 64 * KiB,
            (share (9800 * MS, value) - 10 * MS) / 990 + 1);
  alone ();
  layer->time.in_flight_ns[OP_READ] = op_latency_ns (&layer->ops[OP_READ]);
}

/* For the rest of the time that any was in flight, there were two. */
static void
set_alone (double value)
{
  const uint64_t busy_ns = layer->time.busy_ns
    - layer->time.op_busy_ns[OP_FLUSH] - layer->time.open_busy_ns;

  set_one_at_a_time (60);
  layer->time.op_busy_ns[OP_WRITE] = 0;
  layer->time.in_flight_ns[OP_READ] = 2 * busy_ns - share (9800 * MS, value);
}

static void
set_overlapped (double value)
{
  set_one_at_a_time (60);
  layer->time.most_in_flight = 2;
  layer->time.overlapped[OP_READ] = share (1010, value);
}

/* Latencies grow with how many are in flight. */
static void
set_depth (enum op op, double in_flight, unsigned few, unsigned many,
           double growth)
{
  layer->time.in_flight_ns[op]
    = share (layer->time.op_busy_ns[op], 100 * in_flight);
  no_requests (op);
  requests_at (op, few / 2, CLASS_64K, 0, MS);
  requests_at (op, few - few / 2, CLASS_64K, 1, MS);
  requests_at (op, many / 2, CLASS_64K, 3, share (MS, 100 * growth));
  requests_at (op, many - many / 2, CLASS_64K, 4, share (MS, 100 * growth));
}

static void
set_read_depth (double value)
{
  set_depth (OP_READ, value, 100, 1000, value);
}

static void
set_write_depth (double value)
{
  set_depth (OP_WRITE, value, 100, 1000, value);
}

static void
set_growth (double value)
{
  set_depth (OP_READ, 8, 100, 1000, value);
}

/* A quarter of those in flight. */
static void
set_deep_growth (double value)
{
  set_depth (OP_WRITE, 32, 100, 0, value);
  requests_at (OP_WRITE, 1000, CLASS_64K, 5, share (MS, 100 * value));
}

/* So do those of all operations. */
static void
set_growth_among_others (double value)
{
  set_depth (OP_READ, 8, 100, 0, value);
  layer->time.in_flight_ns[OP_WRITE] = share (layer->time.busy_ns, 3200)
    - layer->time.in_flight_ns[OP_READ];
  requests_at (OP_READ, 1000, CLASS_64K, 5, share (MS, 100 * value));
}

static void
set_few (double value)
{
  set_depth (OP_READ, 8, (unsigned) value, 1000, 8);
}

static void
set_many (double value)
{
  set_depth (OP_READ, 8, 100, (unsigned) value, 8);
}

/* In percent of those with many in flight. */
static void
set_comparable (double value)
{
  set_depth (OP_READ, 8, 100, (unsigned) share (1000, value), 8);
  requests_at (OP_READ, 1000 - (unsigned) share (1000, value), CLASS_1M, 3,
               8 * MS);
}

static void
set_small_reads (double value)
{
  no_requests (OP_READ);
  requests (OP_READ, 1000, 0, 4 * KiB, 3 * MS);
  layer->time.small_sequential[OP_READ] = share (1000, value);
}

static void
set_small_writes (double value)
{
  no_requests (OP_WRITE);
  requests (OP_WRITE, 1000, 0, 4 * KiB, 3 * MS);
  layer->time.small_sequential[OP_WRITE] = share (1000, value);
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

/* Half of them in offset, and the others in length. */
static void
set_misaligned_either (double value)
{
  const unsigned n = (unsigned) share (1000, value);

  no_requests (OP_READ);
  requests (OP_READ, n / 2, 512, 64 * KiB, 3 * MS);
  for (unsigned i = n / 2; i < n; i++)
    requests (OP_READ, 1, 0, 64 * KiB + 512, 3 * MS);
  requests (OP_READ, 1000 - n, 0, 64 * KiB, 3 * MS);
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

/* In percent of a long run. */
static void
set_open (double value)
{
  snapshot.elapsed_ns = 100 * S;
  layer->time.open_busy_ns = share (snapshot.elapsed_ns, value);
  layer->time.busy_ns = 6510 * MS + layer->time.open_busy_ns;
}

/* In seconds of a short one. */
static void
set_short_open (double value)
{
  snapshot.elapsed_ns = 4 * S;
  layer->time.busy_ns = 2 * S;
  layer->time.op_busy_ns[OP_READ] = layer->time.op_busy_ns[OP_WRITE] = 0;
  layer->time.open_busy_ns = share (S, 100 * value);
}

/* In percent of a shorter one. */
static void
set_mostly_open (double value)
{
  set_short_open (0);
  snapshot.elapsed_ns = S;
  layer->time.busy_ns = 700 * MS;
  layer->time.open_busy_ns = share (S, value);
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
  { "cut-short",      NULL,    set_cut_short,        0,         1 },
  { "storage-bound",  NULL,    set_busy,             49.9,      50 },
  { "client-bound",   NULL,    set_idle,             49.9,      50 },
  { "no-client",      NULL,    set_no_client,        19.9,      20 },
  { "no-client",      NULL,    set_short_no_client,  0.99,      1 },
  { "no-client",      NULL,    set_mostly_no_client, 49.9,      50 },
  { "stalls",         NULL,    set_stalls,           9.9,       10 },
  { "stalls",         NULL,    set_stall,            99,        100 },
  { "several-kinds",  NULL,    set_several,          49.9,      50 },
  { "flush",          "flush", set_flush,            29.9,      30 },
  { "zero-time",      "zero",  set_zero_time,        29.9,      30 },
  { "trim-time",      "trim",  set_trim_time,        29.9,      30 },
  { "cache-time",     "cache", set_cache_time,       29.9,      30 },
  { "read-time",      "read",  set_read_time,        49.9,      50 },
  { "write-time",     "write", set_write_time,       49.9,      50 },
  { "one-at-a-time",  "read",  set_one_at_a_time,    49.9,      50 },
  { "one-at-a-time",  "read",  set_overlapped,       5.1,       4.9 },
  { "one-at-a-time",  "read",  set_alone,            49.9,      50 },
  { "saturated",      "read",  set_read_depth,       7.99,      8 },
  { "saturated",      "write", set_write_depth,      7.99,      8 },
  { "saturated",      "read",  set_growth,           3.99,      4 },
  { "saturated",      "write", set_deep_growth,      7.99,      8 },
  { "saturated",      "read",  set_growth_among_others, 7.99,   8 },
  { "saturated",      "read",  set_few,              9,         10 },
  { "saturated",      "read",  set_many,             9,         10 },
  { "saturated",      "read",  set_comparable,       49.9,      50 },
  { "small-requests", "read",  set_small_reads,      49.9,      50 },
  { "small-requests", "write", set_small_writes,     49.9,      50 },
  { "misaligned",     "read",  set_misaligned,       9.9,       10 },
  { "misaligned",     "write", set_misaligned_lengths, 9.9,     10 },
  { "misaligned",     "read",  set_misaligned_either, 9.9,      10 },
  { "block-misfit",   "write", set_misfit,           9.9,       10 },
  { "extents-time",   "extents", set_extents_time,     29.9,      30 },
  { "extents-count",  NULL,    set_extents,          1999,      2000 },
  { "extents-count",  NULL,    set_extents_alone,    999,       1000 },
  { "zeros-written",  NULL,    set_zeros,            9.9,       10 },
  { "fua",            NULL,    set_fua,              49.9,      50 },
  { "long-tail",      "read",  set_tail,             19.7,      20.3 },
  { "long-tail",      "write", set_short_tail,       9.8,       10.2 },
  { "slow-open",      NULL,    set_open,             4.99,      5 },
  { "slow-open",      NULL,    set_short_open,       0.99,      1 },
  { "slow-open",      NULL,    set_mostly_open,      49.9,      50 },
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
  assert_int_equal (highest + 1, 30);
  for (unsigned i = 1; i <= highest; i++)       /* 0 is the account */
    assert_true (seen[i]);
}

/* Conditions that keep a rule silent, whatever its figure. */

/* A client was there for this long only. */
static void
active (uint64_t ns)
{
  snapshot.elapsed_ns = ns + 200 * MS;
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

/* The same in so short a run.  Latencies stay as they are. */
static void
shorten (struct timeline_totals *time, uint64_t times)
{
  time->busy_ns /= times;
  time->open_busy_ns /= times;
  for (unsigned state = 0; state < NR_STATES; state++)
    time->account[state] /= times;
  for (unsigned op = 0; op < NR_OPS; op++) {
    time->op_busy_ns[op] /= times;
    time->in_flight_ns[op] /= times;
  }
}

/* A very short run says little about the time. */
static void
test_short_run (void **state)
{
  static void (*const sets[]) (double) = {
    set_busy, set_idle, set_mostly_no_client, set_stalls, set_mostly_open,
    set_several, set_flush, set_extents_time, set_zero_time, set_trim_time,
    set_cache_time, set_read_time, set_write_time, set_one_at_a_time,
    set_read_depth, set_between,
  };

  (void) state;
  for (size_t i = 0; i < LENGTH (cases); i++) {
    for (size_t k = 0; k < LENGTH (sets); k++) {
      if (cases[i].set != sets[k])
        continue;
      make (&cases[i], cases[i].named + 0.1);
      for (size_t l = 0; l < snapshot.nr_layers; l++)
        shorten (&layers[l].time, snapshot.elapsed_ns / (100 * MS));
      snapshot.elapsed_ns = 100 * MS;
      expect_named (&cases[i]);
      snapshot.elapsed_ns--;
      expect_silent (&cases[i]);
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
  layer->time.small_sequential[OP_READ] = n;
  layer->time.small_sequential[OP_WRITE] = n;
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

  for (unsigned n = 99; n <= 100; n++) {
    const struct test_case *one = case_of ("one-at-a-time");

    healthy ();
    one->set (one->named);
    keep_requests (n);
    expect (one, n >= 100);
  }

  /* This looks at those of all operations together. */
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

  /* A run of one request at a time has a finding of its own. */
  make (case_of ("storage-bound"), 70);
  alone ();
  expect_silent (case_of ("storage-bound"));
  expect_named (case_of ("one-at-a-time"));
  layer->time.overlapped[OP_READ] = 1000;
  expect_named (case_of ("storage-bound"));
  expect_silent (case_of ("one-at-a-time"));

  /* Busy, but with nothing that was recorded. */
  make (case_of ("flush"), 50);
  no_requests (OP_FLUSH);
  expect_silent (case_of ("flush"));

  /* Blocks that nobody asked about. */
  make (case_of ("block-misfit"), 50);
  snapshot.block = 0;
  expect_silent (case_of ("block-misfit"));

  /* Stalls are told with the rest of the waiting, where that is more. */
  make (case_of ("stalls"), 20);
  expect_named (case_of ("stalls"));
  set_idle (50);
  expect_silent (case_of ("stalls"));
  expect_named (case_of ("client-bound"));

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

/* Runs that tempt a rule to lie: most requests failed, or are in flight;
 * one took very long; there are two populations.  What it may say, if
 * anything, and what it must not.
 */

/* Nothing but reads, which came one at a time, and nothing else in it. */
static void
reads_alone (void)
{
  healthy ();
  for (unsigned op = 0; op < NR_OPS; op++) {
    no_requests (op);
    layer->time.op_busy_ns[op] = 0;
  }
  alone ();
  layer->time.busy_ns = layer->time.op_busy_ns[OP_READ] = 0;
}

/* They did, and that was what the run was busy with. */
static void
succeed_alone (unsigned n, uint64_t latency_ns)
{
  requests (OP_READ, n, 0, 64 * KiB, latency_ns);
  layer->time.busy_ns += n * latency_ns;
  layer->time.op_busy_ns[OP_READ] += n * latency_ns;
  layer->time.in_flight_ns[OP_READ] += n * latency_ns;
}

static void
fail_alone (unsigned n, uint64_t latency_ns)
{
  fail_requests (OP_READ, n, latency_ns);
  layer->time.busy_ns += n * latency_ns;
  layer->time.op_busy_ns[OP_READ] += n * latency_ns;
  layer->time.in_flight_ns[OP_READ] += n * latency_ns;
}

static void
lie_mostly_failed (void)
{
  reads_alone ();
  succeed_alone (150, 2524 * US);
  fail_alone (1350, 2524 * US);
  active (4 * S);
}

static void
lie_one_outlier (void)
{
  reads_alone ();
  succeed_alone (2000, 9 * US);
  succeed_alone (1, 1500 * MS);
  active (2340 * MS);
}

static void
lie_failed_outlier (void)
{
  reads_alone ();
  succeed_alone (2000, 9 * US);
  fail_alone (1, 1500 * MS);
  active (2340 * MS);
}

static void
lie_outlier_of_many (void)
{
  reads_alone ();
  succeed_alone (10000, 400 * US);
  succeed_alone (1, 1500 * MS);
  active (5500 * MS);
}

static void
lie_outlier_of_a_few_writes (void)
{
  lie_one_outlier ();
  no_requests (OP_READ);
  requests (OP_READ, 1950, 0, 64 * KiB, 9 * US);
  requests (OP_WRITE, 50, 0, 64 * KiB, 9 * US);
  requests (OP_WRITE, 1, 0, 64 * KiB, 1500 * MS);
}

static void
lie_flushes_are_many (void)
{
  reads_alone ();
  succeed_alone (10, 200 * MS);
  requests (OP_FLUSH, 200, 0, 0, MS);
  active (2300 * MS);
}

static void
lie_one_hangs (void)
{
  reads_alone ();
  succeed_alone (200, 9 * US);
  layer->time.in_flight[OP_READ] = 1;
  layer->time.busy_ns = layer->time.op_busy_ns[OP_READ] = 9 * S;
}

static void
lie_two_speeds (void)
{
  reads_alone ();
  succeed_alone (1000, MS);
  succeed_alone (1000, 3 * MS);
  active (4500 * MS);
}

static void
lie_serialized (int thread_model)
{
  reads_alone ();
  succeed_alone (1500, 2 * MS);
  active (3 * S);
  snapshot.thread_model = thread_model;
}

static void
lie_serialize_connections (void)
{
  lie_serialized (THREADS_SERIALIZE_CONNECTIONS);
}

static void
lie_serialize_all_requests (void)
{
  lie_serialized (THREADS_SERIALIZE_ALL_REQUESTS);
}

static void
lie_serialize_requests (void)
{
  lie_serialized (THREADS_SERIALIZE_REQUESTS);
}

static void
lie_unknown_threads (void)
{
  lie_serialized (THREADS_UNKNOWN);
}

/* Busy for nearly all of the run. */
static void
lie_one_pair (void)
{
  reads_alone ();
  succeed_alone (500, 19 * MS);
  layer->time.most_in_flight = 2;
  layer->time.overlapped[OP_READ] = 2;
}

/* Eight at once took most of the time, and few others were alone. */
static void
lie_few_together (void)
{
  reads_alone ();
  succeed_alone (200, 5 * MS);
  requests (OP_READ, 8, 0, 64 * KiB, 8 * S);
  layer->time.busy_ns += 8 * S;
  layer->time.op_busy_ns[OP_READ] += 8 * S;
  layer->time.in_flight_ns[OP_READ] += 8 * 8 * S;
  layer->time.most_in_flight = 8;
  layer->time.overlapped[OP_READ] = 8;
}

static void
lie_flushes_together (void)
{
  lie_one_pair ();
  layer->time.overlapped[OP_READ] = 0;
  layer->time.overlapped[OP_FLUSH] = 300;
}

/* Nothing was in flight with anything else. */
static void
apart (void)
{
  layer->time.op_busy_ns[OP_READ] = layer->time.op_busy_ns[OP_WRITE] = S;
}

/* A flush of 1 ms, and what else. */
static void
one_flush (void)
{
  healthy ();
  apart ();
  no_requests (OP_FLUSH);
  requests (OP_FLUSH, 1, 0, 0, MS);
  layer->time.op_busy_ns[OP_FLUSH] = 4 * S;
}

static void
lie_flushes_failed (void)
{
  one_flush ();
  requests (OP_FLUSH, 9, 0, 0, MS);
  fail_requests (OP_FLUSH, 10, 399 * MS);
}

static void
lie_all_flushes_failed (void)
{
  one_flush ();
  no_requests (OP_FLUSH);
  fail_requests (OP_FLUSH, 1, 4 * S);
}

static void
lie_flush_in_flight (void)
{
  one_flush ();
  layer->time.in_flight[OP_FLUSH] = 1;
}

static void
lie_only_flush_in_flight (void)
{
  one_flush ();
  no_requests (OP_FLUSH);
  layer->time.in_flight[OP_FLUSH] = 2;
}

static void
lie_extents_failed (void)
{
  healthy ();
  apart ();
  no_requests (OP_EXTENTS);
  fail_requests (OP_EXTENTS, 20, 200 * MS);
  layer->time.op_busy_ns[OP_EXTENTS] = 4 * S;
}

/* Latency is of the size alone: 1 ms for 64 KiB, 16 ms for 1 MiB.  Deep
 * means that sixteen are in flight.
 */
static void
sixteen_deep (void)
{
  healthy ();
  no_requests (OP_READ);
  layer->time.in_flight_ns[OP_READ] = 16 * layer->time.op_busy_ns[OP_READ];
}

static void
lie_large_when_deep (void)
{
  sixteen_deep ();
  requests_at (OP_READ, 500, CLASS_64K, 0, MS);
  requests_at (OP_READ, 500, CLASS_1M, 4, 16 * MS);
}

/* Both sizes at both depths, but other shares of them. */
static void
lie_mostly_large_when_deep (void)
{
  sixteen_deep ();
  requests_at (OP_READ, 500, CLASS_64K, 0, MS);
  requests_at (OP_READ, 10, CLASS_1M, 0, 16 * MS);
  requests_at (OP_READ, 10, CLASS_64K, 4, MS);
  requests_at (OP_READ, 500, CLASS_1M, 4, 16 * MS);
}

/* Sizes of one class, the smaller shallow and the larger deep. */
static void
lie_one_class (void)
{
  sixteen_deep ();
  layer->time.in_flight_ns[OP_READ] = 8 * layer->time.op_busy_ns[OP_READ];
  requests_at (OP_READ, 500, CLASS_64K, 0, MS);
  requests_at (OP_READ, 500, CLASS_64K, 4, 2 * MS - 1);
}

/* All that were in flight waited for something once. */
static void
lie_one_stall (void)
{
  sixteen_deep ();
  requests_at (OP_READ, 100, CLASS_64K, 0, MS);
  requests_at (OP_READ, 500, CLASS_64K, 4, MS);
  requests_at (OP_READ, 16, CLASS_64K, 4, 1500 * MS);
}

/* The few of which there is a comparison speak for themselves only. */
static void
lie_few_saturate (void)
{
  sixteen_deep ();
  requests_at (OP_READ, 10, CLASS_4K, 0, 100 * US);
  requests_at (OP_READ, 10, CLASS_4K, 4, 16 * MS);
  requests_at (OP_READ, 500, CLASS_1M, 4, 16 * MS);
}

/* Saturated, with two sizes. */
static void
truth_two_sizes (void)
{
  sixteen_deep ();
  requests_at (OP_READ, 100, CLASS_64K, 1, MS);
  requests_at (OP_READ, 100, CLASS_1M, 0, 3 * MS);
  requests_at (OP_READ, 500, CLASS_64K, 4, 16 * MS);
  requests_at (OP_READ, 500, CLASS_1M, 4, 48 * MS);
}

/* Six clients, and an opening of 0.9 s for each. */
static void
lie_opening (void)
{
  healthy ();
  for (unsigned op = 0; op < NR_OPS; op++)
    layer->time.op_busy_ns[op] = 0;
  layer->time.open_busy_ns = 5400 * MS;
  layer->time.busy_ns = layer->time.op_busy_ns[OP_READ] = 6 * MS;
  layer->time.busy_ns += 5400 * MS;
  layer->connections.all = (struct opens) {
    .opened = 6, .ns = 5400 * MS, .longest_ns = 900 * MS,
  };
}

static void
lie_failed_opening (void)
{
  lie_opening ();
  layer->connections.all.opened = 1;
  layer->connections.all.failed = 5;
}

/* Half small, half sequential, but other ones. */
static void
lie_small_or_sequential (void)
{
  healthy ();
  no_requests (OP_READ);
  requests (OP_READ, 518, 0, 4 * KiB, 3 * MS);
  requests (OP_READ, 482, 0, 64 * KiB, 3 * MS);
  layer->time.sequential[OP_READ] = 518;
  layer->time.small_sequential[OP_READ] = 36;
}

/* Of what failed, sizes and offsets are not counted. */
static void
lie_small_succeeded (void)
{
  healthy ();
  no_requests (OP_READ);
  requests (OP_READ, 150, 512, 4 * KiB, 3 * MS);
  fail_requests (OP_READ, 1350, 3 * MS);
  layer->time.small_sequential[OP_READ] = 100;
}

static void
lie_refused (void)
{
  healthy ();
  requests (OP_WRITE, 1000, 512, 4 * KiB, 3 * MS);
  layer->ops[OP_WRITE].tally.flags[FLAG_FUA] = 2000;
  layer->ops[OP_WRITE].tally.fast_zero_refused.requests = 1;
}

static void
lie_off_in_both (void)
{
  healthy ();
  no_requests (OP_READ);
  for (unsigned i = 0; i < 60; i++)
    requests (OP_READ, 1, 512, 64 * KiB + 512, 3 * MS);
  requests (OP_READ, 940, 0, 64 * KiB, 3 * MS);
}

static void
truth_preferred (void)
{
  set_misaligned (100);
  layer->connections.block_sizes = (struct block_sizes) { 1, 65536, -1U };
}

static void
truth_several_preferred (void)
{
  truth_preferred ();
  layer->connections.block_sizes_differ = true;
}

static void
lie_off_in_either (void)
{
  healthy ();
  no_requests (OP_READ);
  for (unsigned i = 0; i < 60; i++)
    requests (OP_READ, 1, 0, 64 * KiB + 512, 3 * MS);
  for (unsigned i = 0; i < 60; i++)
    requests (OP_READ, 1, 512, 64 * KiB, 3 * MS);
  requests (OP_READ, 880, 0, 64 * KiB, 3 * MS);
}

/* A tenth do not fit; the others are of sixteen blocks. */
static void
lie_large_blocks (void)
{
  healthy ();
  snapshot.block = 64 * KiB;
  layer->ops[OP_READ].tally.blocks.aligned = 1000;
  no_requests (OP_WRITE);
  requests (OP_WRITE, 100, 4096, 64 * KiB, 3 * MS);
  requests (OP_WRITE, 900, 0, MiB, 3 * MS);
}

/* Half of the requests have no bytes. */
static void
lie_no_bytes (void)
{
  healthy ();
  snapshot.block = 64 * KiB;
  layer->ops[OP_READ].tally.blocks.aligned = 1000;
  no_requests (OP_WRITE);
  requests (OP_WRITE, 500, 0, 64 * KiB, 3 * MS);
  requests (OP_WRITE, 500, 0, 0, 3 * MS);
}

static void
lie_reads_failed (void)
{
  healthy ();
  no_requests (OP_EXTENTS);
  no_requests (OP_WRITE);
  requests (OP_EXTENTS, 1000, 0, GiB, MS);
  fail_requests (OP_READ, 4000, MS);
}

static void
lie_extents_failed_mostly (void)
{
  healthy ();
  no_requests (OP_EXTENTS);
  requests (OP_EXTENTS, 10, 0, GiB, MS);
  fail_requests (OP_EXTENTS, 2990, MS);
}

/* Half of the data is zero, and zero requests were in the run. */
static void
zeros_and_zeroing (unsigned n, uint64_t latency_ns)
{
  healthy ();
  set_zeros (50);
  requests (OP_ZERO, n, 0, 64 * KiB, latency_ns);
}

static void
truth_zeroing (void)
{
  zeros_and_zeroing (10, 2 * MS);
}

static void
lie_zeroing_is_slow (void)
{
  zeros_and_zeroing (10, 20 * MS);
}

static void
lie_zeroing_fails (void)
{
  zeros_and_zeroing (0, 0);
  fail_requests (OP_ZERO, 1, MS);
}

static void
lie_zeroing_is_refused (void)
{
  zeros_and_zeroing (0, 0);
  layer->ops[OP_ZERO].tally.fast_zero_refused.requests = 5;
}

/* Writes of 201 ns each, and a flush of 2 s. */
static void
lie_slow_flush (void)
{
  healthy ();
  no_requests (OP_WRITE);
  no_requests (OP_FLUSH);
  requests (OP_WRITE, 2000, 0, 64 * KiB, 201);
  requests (OP_FLUSH, 1, 0, 0, 2 * S);
  layer->time.op_busy_ns[OP_WRITE] = 402 * US;
  layer->time.op_busy_ns[OP_FLUSH] = 2 * S;
  layer->ops[OP_WRITE].tally.flags[FLAG_FUA] = 2000;
}

static void
lie_flush_fails (void)
{
  healthy ();
  set_fua (100);
  fail_requests (OP_FLUSH, 1, MS);
}

static void
lie_flush_hangs (void)
{
  healthy ();
  set_fua (100);
  layer->time.in_flight[OP_FLUSH] = 1;
}

static void
lie_one_in_a_hundred (void)
{
  healthy ();
  no_requests (OP_READ);
  requests (OP_READ, 99, 0, 64 * KiB, MS);
  requests (OP_READ, 1, 0, 64 * KiB, 3 * S);
}

static void
lie_tail_of_few (void)
{
  healthy ();
  no_requests (OP_READ);
  requests (OP_READ, 98, 0, 64 * KiB, MS);
  requests (OP_READ, 2, 0, 64 * KiB, 3 * S);
  fail_requests (OP_READ, 9900, MS);
}

/* What failed above had been moved below. */
static void
lie_failed_above (void)
{
  healthy ();
  add_layer ();
  fail_requests (OP_READ, 1000, MS);
  layers[1].ops[OP_READ].tally.bytes *= 2;
  layers[1].ops[OP_WRITE].tally.bytes *= 2;
}

/* It was large enough all the same. */
static void
truth_failed_above (void)
{
  healthy ();
  add_layer ();
  fail_requests (OP_READ, 1, MS);
  layers[1].ops[OP_READ].tally.bytes = 10 * GiB;
}

/* The layer below wrote what it was to zero, or read what it was to cache or
 * to trim.
 */
static void
lie_zeros_above (void)
{
  healthy ();
  add_layer ();
  requests (OP_ZERO, 10, 0, 100 * MiB, MS);
  layers[1].ops[OP_WRITE].tally.bytes += 1000 * MiB;
}

static void
lie_cached_above (void)
{
  healthy ();
  add_layer ();
  requests (OP_CACHE, 10, 0, 100 * MiB, MS);
  layers[1].ops[OP_READ].tally.bytes += 1000 * MiB;
}

static void
lie_trimmed_above (void)
{
  healthy ();
  add_layer ();
  requests (OP_TRIM, 10, 0, 100 * MiB, MS);
  layers[1].ops[OP_READ].tally.bytes += 1000 * MiB;
}

static void
lie_zero_failed_above (void)
{
  healthy ();
  add_layer ();
  fail_requests (OP_ZERO, 1, MS);
  layers[1].ops[OP_WRITE].tally.bytes += 1000 * MiB;
}

/* It zeroed them, so the writes are of the other layer's writes. */
static void
truth_zeros_above (void)
{
  healthy ();
  requests (OP_ZERO, 10, 0, 100 * MiB, MS);
  add_layer ();
  layers[1].ops[OP_WRITE].tally.bytes *= 3;
}

static void
lie_flushes_above (void)
{
  healthy ();
  no_requests (OP_READ);
  no_requests (OP_WRITE);
  requests (OP_READ, 1, 0, 512, MS);
  requests (OP_FLUSH, 200, 0, 0, MS);
  add_layer ();
  layers[1].ops[OP_READ].tally.bytes = 4 * KiB;
}

/* Zeroing takes most of the time, though there were few of them: a mean with
 * the writes would be that of neither.
 */
static void
truth_zeroing_dominates (void)
{
  reads_alone ();
  requests (OP_WRITE, 1000, 0, MiB, 2600 * US);
  requests (OP_ZERO, 29, 0, 64 * MiB, 303 * MS);
  snapshot.elapsed_ns = 13500 * MS;
  layer->time.op_busy_ns[OP_WRITE] = 2600 * MS;
  layer->time.op_busy_ns[OP_ZERO] = 8787 * MS;
  layer->time.busy_ns = 11387 * MS;
}

static void
truth_many_zeros_dominate (void)
{
  truth_zeroing_dominates ();
  requests (OP_ZERO, 71, 0, 64 * MiB, 1 * MS);
}

/* A byte takes 9 times as long to zero as to write; or less, or some fail. */
static void
lie_zeroing_is_slower (void)
{
  truth_zeroing_dominates ();
  no_requests (OP_ZERO);
  requests (OP_ZERO, 29, 0, MiB, 303 * MS);
}

static void
lie_zeroing_is_slower_but_fails (void)
{
  lie_zeroing_is_slower ();
  fail_requests (OP_ZERO, 1, MS);
}

static void
lie_few_are_slower_zeroed (void)
{
  lie_zeroing_is_slower ();
  no_requests (OP_ZERO);
  requests (OP_ZERO, 9, 0, MiB, 900 * MS);
}

/* Flushes while writes are in flight, longer than these alone. */
static void
lie_flushes_and_writes (void)
{
  healthy ();
  accounted = true;
  layer->time.op_busy_ns[OP_READ] = layer->time.op_busy_ns[OP_EXTENTS] = 0;
  layer->time.open_busy_ns = 0;
  layer->time.busy_ns = 6500 * MS;
  layer->time.op_busy_ns[OP_FLUSH] = 5 * S;
  layer->time.op_busy_ns[OP_WRITE] = 5500 * MS;
  layer->time.account[OP_FLUSH] = 1 * S;
  layer->time.account[OP_WRITE] = 1500 * MS;
  layer->time.account[ACCOUNT_SEVERAL] = 4 * S;
  layer->time.account[ACCOUNT_NO_CLIENT] = 200 * MS;
  layer->time.account[ACCOUNT_WAITING] = 3300 * MS;
}

static void
truth_many_flushes (void)
{
  one_flush ();
  requests (OP_FLUSH, 99, 0, 0, MS);
}

/* One that hung is not what each took. */
static void
lie_one_flush_hung (void)
{
  one_flush ();
  requests (OP_FLUSH, 99, 0, 0, MS);
  fail_requests (OP_FLUSH, 1, 3900 * MS);
}

/* A server that waited for its client for six seconds. */
static void
lie_no_client (void)
{
  healthy ();
  snapshot.elapsed_ns = 16 * S;
  layer->time.first_begin += 6 * S;
  layer->time.last_end += 6 * S;
  layer->time.account[ACCOUNT_NO_CLIENT] = 6200 * MS;
}

static void
lie_no_client_and_in_flight (void)
{
  lie_no_client ();
  layer->time.in_flight[OP_READ] = 1;
  layer->time.last_end = snapshot.start + snapshot.elapsed_ns;
}

static void
lie_nobody_came (void)
{
  healthy ();
  memset (layers, 0, sizeof layers);
  layer->time.account[ACCOUNT_NO_CLIENT] = snapshot.elapsed_ns;
}

/* The same share of waiting, for different reasons. */

static void
truth_stalls (void)
{
  healthy ();
  set_idle (60);
  no_gaps ();
  gaps (1000, 200 * US);
  gaps (3, 1800 * MS);
}

static void
truth_pauses (void)
{
  healthy ();
  set_idle (60);
  no_gaps ();
  gaps (1, 100 * US);
  gaps (3848, 1480 * US);
}

/* They are told as gaps, not as what is before each request. */
static void
lie_stalls_of_99_ms (void)
{
  truth_stalls ();
  no_gaps ();
  gaps (1000, 200 * US);
  gaps (50, 99 * MS);
}

static void
lie_more_stalls_than_known (void)
{
  truth_stalls ();
  no_gaps ();
  gaps (18, 300 * MS);
}

static void
truth_one_gap (void)
{
  truth_stalls ();
  no_gaps ();
  gaps (1, 99 * MS);
  snapshot.elapsed_ns = 300 * MS;
  layer->time.busy_ns = 50 * MS;
  layer->time.account[ACCOUNT_NO_CLIENT] = 150 * MS;
}

/* What was waited for did not come. */
static void
lie_no_gap (void)
{
  truth_stalls ();
  no_gaps ();
  gaps (1000, 200 * US);
}

/* Reads in flight: few and many, all of 64 KiB. */
static void
few_and_many (uint64_t few_ns, uint64_t many_ns)
{
  sixteen_deep ();
  layer->time.in_flight_ns[OP_WRITE] = 0;
  layer->time.in_flight_ns[OP_READ] = 4 * layer->time.busy_ns;
  layer->time.op_busy_ns[OP_READ] += 1;
  requests_at (OP_READ, 100, CLASS_64K, 0, few_ns);
  requests_at (OP_READ, 500, CLASS_64K, 2, many_ns);
}

static void
truth_flat (void)
{
  few_and_many (4 * MS, 5 * MS);
}

static void
lie_not_flat (void)
{
  few_and_many (4 * MS, 5 * MS + 1);
}

static void
truth_grows (void)
{
  few_and_many (4 * MS, 16 * MS);
}

static void
lie_hardly_grows (void)
{
  few_and_many (4 * MS, 16 * MS - 1);
}

/* A stall with few in flight. */
static void
lie_stall_when_few (void)
{
  few_and_many (1 * MS, 10 * MS);
  requests_at (OP_READ, 1, CLASS_64K, 0, 3 * S);
}

static void
lie_few_of_few (void)
{
  sixteen_deep ();
  layer->time.op_busy_ns[OP_READ] += 1;
  requests_at (OP_READ, 9, CLASS_64K, 0, MS);
  requests_at (OP_READ, 500, CLASS_64K, 2, MS);
}

/* The wait before the first request is the opening. */
static void
lie_late_because_opening (void)
{
  lie_opening ();
  layer->time.first_begin = snapshot.start + 5500 * MS;
}

static void
cut_and_fail (unsigned cut, unsigned failed)
{
  healthy ();
  for (unsigned i = 0; i < cut; i++)
    failures_count (&layer->ops[OP_READ].failures, ESHUTDOWN, MS);
  fail_requests (OP_READ, failed, MS);
}

static void
lie_cut_short (void)
{
  cut_and_fail (3, 0);
}

/* Three hundred reads of 1 ms, and five that time out. */
static void
truth_timeouts (void)
{
  reads_alone ();
  succeed_alone (300, MS);
  fail_alone (5, S);
}

/* Most of next to nothing. */
static void
lie_short_errors (void)
{
  reads_alone ();
  succeed_alone (100, 10 * US);
  fail_alone (100, 980 * US);
}

static void
lie_quick_errors (void)
{
  reads_alone ();
  succeed_alone (300, MS);
  fail_alone (299, MS);
}

/* What was cut short took most. */
static void
lie_long_cut_short (void)
{
  lie_quick_errors ();
  layer->ops[OP_READ].failures.by_errno[1] = (struct failure) {
    .error = ESHUTDOWN, .requests = 1, .ns = 4 * S, .longest_ns = 4 * S,
  };
}

static void
lie_cut_short_and_failed (void)
{
  cut_and_fail (3, 2);
}

static void
truth_cut_one (void)
{
  cut_and_fail (1, 0);
}

/* Nothing but extents, which clients do not ask for several at once. */
static void
truth_extents_alone (void)
{
  reads_alone ();
  requests (OP_EXTENTS, 1000, 0, GiB, 5 * MS);
  layer->time.busy_ns = layer->time.op_busy_ns[OP_EXTENTS] = 5 * S;
}

static const struct lie {
  void (*make) (void);
  const char *code, *op;
  const char *says;             /* NULL: it is silent */
  const char *never;            /* or NULL */
} lies[] = {
  { lie_mostly_failed, "one-at-a-time", "read",
    "One read took 2.52 ms on average, but for the few slowest: that gives "
    "396 a second, here 2.48 MiB/s.", NULL },
  { lie_one_outlier, "one-at-a-time", "read", NULL, NULL },
  { lie_failed_outlier, "one-at-a-time", "read", NULL, NULL },
  { lie_outlier_of_a_few_writes, "one-at-a-time", "read", NULL, NULL },
  { lie_outlier_of_many, "one-at-a-time", "read",
    "One read took 400 us on average, but for the few slowest: that gives "
    "2500 a second,", NULL },
  { lie_flushes_are_many, "one-at-a-time", "read", NULL, NULL },
  { lie_one_hangs, "one-at-a-time", "read", NULL, NULL },
  { lie_two_speeds, "one-at-a-time", "read", "that gives 50", "at most" },
  { lie_serialize_connections, "one-at-a-time", "read",
    "and one connection at a time, since the thread model is "
    "serialize_connections. One read took 2.00 ms on average, but for the few "
    "slowest: that gives 500 a second, here 31.2 MiB/s, however many the "
    "client sends.",
    "several" },
  { lie_serialize_all_requests, "one-at-a-time", "read",
    "since the thread model is serialize_all_requests.", "several" },
  { lie_serialize_requests, "one-at-a-time", "read",
    "MiB/s. Several connections may give more.", "several at once" },
  { lie_unknown_threads, "one-at-a-time", "read",
    "MiB/s. See whether the client can send several at once: qemu-img convert "
    "-W -m 16.", "thread model" },
  { lie_one_pair, "one-at-a-time", "read",
    "But for flushes, only 0.4% of the requests were in flight together with "
    "another. One read took 19.0 ms", "never more" },
  { lie_one_pair, "storage-bound", NULL, NULL, NULL },
  { lie_few_together, "one-at-a-time", "read", NULL, NULL },
  { lie_few_together, "storage-bound", NULL, "takes most of the time", NULL },
  { lie_flushes_together, "one-at-a-time", "read", "only 0% of", "never more" },
  { lie_flushes_failed, "flush", "flush",
    "20 requests of 200 ms on average, of which 10 failed.", NULL },
  { lie_all_flushes_failed, "flush", "flush",
    "1 request of 4.00 s, of which 1 failed.", NULL },
  { lie_flush_in_flight, "flush", "flush",
    "1 request of 1.00 ms, and 1 still in flight.", NULL },
  { lie_only_flush_in_flight, "flush", "flush", "time: 2 still in flight.",
    NULL },
  { lie_extents_failed, "extents-time", "extents",
    "20 requests of 200 ms on average, of which 20 failed.", NULL },
  { lie_large_when_deep, "saturated", "read", NULL, NULL },
  { lie_mostly_large_when_deep, "saturated", "read", NULL, NULL },
  { lie_one_class, "saturated", "read", NULL, NULL },
  { lie_one_stall, "saturated", "read", NULL, NULL },
  { lie_few_saturate, "saturated", "read", NULL, NULL },
  { truth_two_sizes, "saturated", "read",
    "of the same size, one took 2.00 ms on average with one or two requests "
    "in flight, and 32.0 ms with 9 or more.", NULL },
  { lie_opening, "client-bound", NULL, NULL, NULL },
  { lie_opening, "slow-open", NULL,
    "For 54.0% of the elapsed time the storage was only being opened: "
    "6 openings ended; the longest took 900 ms.", NULL },
  { lie_failed_opening, "slow-open", NULL,
    "6 openings ended, of which 5 failed;", NULL },
  { lie_small_or_sequential, "small-requests", "read", NULL, NULL },
  { lie_small_succeeded, "small-requests", "read",
    "66.7% of the reads that succeeded are", NULL },
  { lie_small_succeeded, "misaligned", "read",
    "100.0% of the reads that succeeded are", NULL },
  { lie_refused, "fua", NULL, "100.0% of the writes that succeeded asked",
    NULL },
  { lie_off_in_both, "misaligned", "read", NULL, NULL },
  { lie_off_in_either, "misaligned", "read", "12.0% of the reads are", NULL },
  { lie_off_in_either, "misaligned", "read", "not aligned to 4 KiB, in", NULL },
  { truth_preferred, "misaligned", "read",
    "to the blocks of 64.0 KiB that the storage prefers, in offset", NULL },
  { truth_several_preferred, "misaligned", "read",
    "to the blocks that the storage prefers, in offset", "KiB" },
  { lie_large_blocks, "block-misfit", "write", "all together touch 1.01 times",
    NULL },
  { lie_no_bytes, "block-misfit", "write", NULL, NULL },
  { lie_reads_failed, "extents-count", NULL, NULL, NULL },
  { lie_extents_failed_mostly, "extents-count", NULL,
    "asked 3000 times for extents, and 2000 times to read or write.", NULL },
  { truth_zeroing, "zeros-written", NULL,
    "is all zero: it may cost less to zero it", NULL },
  { lie_zeroing_is_slow, "zeros-written", NULL, "is all zero.", "cost" },
  { lie_zeroing_fails, "zeros-written", NULL, "is all zero.", "cost" },
  { lie_zeroing_is_refused, "zeros-written", NULL, "is all zero.", "cost" },
  { lie_slow_flush, "fua", NULL, "before it was answered.", "cost" },
  { lie_flush_fails, "fua", NULL, "before it was answered.", "cost" },
  { lie_flush_hangs, "fua", NULL, "before it was answered.", "cost" },
  { lie_one_in_a_hundred, "long-tail", "read", NULL, NULL },
  { lie_tail_of_few, "long-tail", "read", "Of the reads that succeeded, one",
    NULL },
  { lie_failed_above, "amplified", NULL, NULL, NULL },
  { truth_failed_above, "amplified", NULL, "moved at least 54.51.", NULL },
  { lie_zeros_above, "amplified", NULL, NULL, NULL },
  { lie_cached_above, "amplified", NULL, NULL, NULL },
  { lie_trimmed_above, "amplified", NULL, NULL, NULL },
  { lie_zero_failed_above, "amplified", NULL, NULL, NULL },
  { truth_zeros_above, "amplified", NULL, "moved 2.00.", "at least" },
  { lie_flushes_above, "amplified", NULL, NULL, NULL },
  { truth_zeroing_dominates, "zero-time", "zero",
    "Zeroing took 77.2% of the storage's busy time: 29 requests of 303 ms on "
    "average.", "nozero" },
  { truth_zeroing_dominates, "one-at-a-time", "zero", NULL, NULL },
  { truth_zeroing_dominates, "one-at-a-time", "write", NULL, NULL },
  { truth_zeroing_dominates, "write-time", "write", NULL, NULL },
  { truth_many_zeros_dominate, "one-at-a-time", "zero",
    "One zero request took 86.4 ms on average, but for the few slowest: that "
    "gives 11.6 a second, here 741 MiB/s. See whether", NULL },
  { truth_many_zeros_dominate, "zero-time", "zero", NULL, NULL },
  { lie_zeroing_is_slower, "zero-time", "zero",
    "A byte took longer to zero than to write: see nbdkit-nozero-filter(1).",
    NULL },
  { lie_zeroing_is_slower_but_fails, "zero-time", "zero", "failed.", "nozero" },
  { lie_few_are_slower_zeroed, "zero-time", "zero", "average.", "nozero" },
  { lie_flushes_and_writes, "several-kinds", NULL,
    "For 61.5% of the storage's busy time several kinds of work were in "
    "flight at once. Longest in flight were write, for 84.6% of it, and flush, "
    "for 76.9%.", NULL },
  { lie_flushes_and_writes, "flush", "flush", NULL, NULL },
  { lie_flushes_and_writes, "write-time", "write", NULL, NULL },
  { truth_many_flushes, "flush", "flush", "client needs each of them.", NULL },
  { lie_one_flush_hung, "flush", "flush",
    "101 requests of 39.6 ms on average (one took 3.90 s), of which 1 failed. "
    "See", NULL },
  { lie_no_client, "client-bound", NULL, NULL, NULL },
  { lie_no_client, "no-client", NULL,
    "No client was connected for 6.200 s, 38.8% of the elapsed time. The first "
    "request came 6.100 s after the start, and the last ended 0.100 s before "
    "the end.", NULL },
  { lie_no_client_and_in_flight, "no-client", NULL,
    "came 6.100 s after the start.", "last" },
  { lie_nobody_came, "client-bound", NULL, NULL, NULL },
  { lie_nobody_came, "no-client", NULL, "elapsed time.", "request" },
  { truth_stalls, "client-bound", NULL,
    "for 60.0% of the time with a client connected: 3 stalls of 1.80 s and "
    "more, together 5.40 s. Look at whatever sends the requests: the client, "
    "the way to it, or filters nearer to it.", "each" },
  { truth_stalls, "stalls", NULL, NULL, NULL },
  { truth_pauses, "client-bound", NULL,
    "for 60.0% of the time with a client connected: 3849 gaps, half of them "
    "1.47 ms or more: the time that the client and the way to it take for each "
    "request. Look", "stall" },
  { lie_stalls_of_99_ms, "client-bound", NULL,
    ": 1050 gaps, 4.90 ms on average, though at least half of them are "
    "shorter. Look", "each" },
  { lie_stalls_of_99_ms, "stalls", NULL, NULL, NULL },
  { lie_more_stalls_than_known, "client-bound", NULL,
    ": the longest 10 gaps of 300 ms and more, together 3.00 s. Look",
    "stalls" },
  { truth_one_gap, "client-bound", NULL, ": 1 gap of 99.0 ms. Look", "half" },
  { lie_no_gap, "client-bound", NULL,
    ": 5.680 s of it until the end, or until a client came or went. Look",
    "gaps" },
  { truth_flat, "storage-bound", NULL,
    "A read took 4.00 ms on average with one or two in flight, and 5.00 ms "
    "with 3 or more: more at once may give more.", NULL },
  { lie_not_flat, "storage-bound", NULL, "connected.", "more" },
  { truth_grows, "storage-bound", NULL,
    "and 16.0 ms with 3 or more: where they wait for one another, more at once "
    "would hardly help.", NULL },
  { lie_hardly_grows, "storage-bound", NULL, "connected.", "more" },
  { lie_stall_when_few, "storage-bound", NULL, "connected.", "more" },
  { lie_few_of_few, "storage-bound", NULL, "connected.", "more" },
  { lie_large_when_deep, "storage-bound", NULL, "connected.", "more" },
  { truth_two_sizes, "storage-bound", NULL, "connected.", "more" },
  { lie_late_because_opening, "no-client", NULL, NULL, NULL },
  { lie_late_because_opening, "slow-open", NULL, "For 54.0%", NULL },
  { lie_cut_short, "failures", NULL, NULL, NULL },
  { truth_timeouts, "failures", NULL,
    "output error. They took 94.3% of the time of all requests, added up.",
    NULL },
  { lie_short_errors, "failures", NULL, "output error.", "took" },
  { lie_quick_errors, "failures", NULL, "output error.", "took" },
  { lie_long_cut_short, "failures", NULL, "output error.", "took" },
  { lie_cut_short, "cut-short", NULL,
    "3 requests were cut short (ESHUTDOWN)", NULL },
  { truth_cut_one, "cut-short", NULL, "1 request was cut short", NULL },
  { lie_cut_short_and_failed, "failures", NULL,
    "2 requests failed: 2 read requests with Input/output error.", "others" },
  { truth_extents_alone, "one-at-a-time", "extents",
    "One extents request took 5.00 ms on", "MiB" },
  { truth_extents_alone, "one-at-a-time", "extents",
    "that gives 200 a second.", "convert" },
};

static void
check_lie (const struct lie *lie)
{
  const struct finding *finding;

  lie->make ();
  diagnose_now ();
  finding = find (lie->code, lie->op);
  if (lie->says == NULL && finding == NULL)
    return;
  if (lie->says == NULL)
    fail_msg ("%s", finding->text);
  if (finding == NULL)
    fail_msg ("%s does not say: %s", lie->code, lie->says);
  if (strstr (finding->text, lie->says) == NULL)
    fail_msg ("%s\ninstead of: %s", finding->text, lie->says);
  if (lie->never && strstr (finding->text, lie->never))
    fail_msg ("%s", finding->text);
}

static void
test_lies (void **state)
{
  (void) state;
  for (size_t i = 0; i < LENGTH (lies); i++)
    check_lie (&lies[i]);
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
  assert_int_equal (nr_findings, 2);
  assert_string_equal (findings[1].code, "storage-bound");
  assert_string_equal (findings[0].code, "not-recorded");
  assert_int_equal (findings[0].layer, 1);
}

/* The account in words. */

struct account {
  uint64_t no_client, waiting, read, zero, opening, several; /* in ms */
  const char *text, *op;
};

static void
set_account (const struct account *account)
{
  uint64_t *parts = layer->time.account;

  memset (layers, 0, sizeof layers);
  accounted = true;
  snapshot = (struct snapshot) { .nr_layers = 1, .layers = layers };
  parts[ACCOUNT_NO_CLIENT] = account->no_client * MS;
  parts[ACCOUNT_WAITING] = account->waiting * MS;
  parts[OP_READ] = account->read * MS;
  parts[OP_ZERO] = account->zero * MS;
  parts[ACCOUNT_OPENING] = account->opening * MS;
  parts[ACCOUNT_SEVERAL] = account->several * MS;
  for (unsigned state = 0; state < NR_STATES; state++)
    snapshot.elapsed_ns += parts[state];
  layer->time.busy_ns = snapshot.elapsed_ns - parts[ACCOUNT_NO_CLIENT]
    - parts[ACCOUNT_WAITING];
}

static const struct account accounts[] = {
  { 410, 1702, 2600, 8800, 0, 0,
    "13.512 s went by: 0.410 s (3.0%) without a client, 1.702 s (12.6%) "
    "waiting for requests, 11.400 s (84.4%) in the storage, of which zero "
    "8.800 s. All else being equal, storage that takes no time would leave "
    "2.112 s, and a client that never pauses 11.810 s.", "zero" },
  { 0, 250, 750, 0, 0, 0,
    "1.000 s went by: 0.250 s (25.0%) waiting for requests, 0.750 s (75.0%) "
    "in the storage, all of it read. All else being equal, storage that takes "
    "no time would leave 0.250 s, and a client that never pauses 0.750 s.",
    "read" },
  { 500, 0, 0, 0, 500, 0,
    "1.000 s went by: 0.500 s (50.0%) without a client, 0.500 s (50.0%) in "
    "the storage, all of it opening. All else being equal, storage that takes "
    "no time would leave 0.500 s, and a client that never pauses 1.000 s.",
    NULL },
  { 0, 0, 300, 200, 100, 400,
    "1.000 s went by: 1.000 s (100.0%) in the storage, of which several kinds "
    "at once 0.400 s. All else being equal, storage that takes no time would "
    "leave 0.000 s, and a client that never pauses 1.000 s.", NULL },
};

/* No request succeeded, or none was recorded: it is about time alone. */
static void
test_account (void **state)
{
  (void) state;
  for (size_t i = 0; i < LENGTH (accounts); i++) {
    const struct account *account = &accounts[i];

    set_account (account);
    diagnose_now ();
    assert_string_equal (all_findings[0].code, "account");
    assert_string_equal (all_findings[0].text, account->text);
    if (account->op)
      assert_string_equal (all_findings[0].op, account->op);
    else
      assert_null (all_findings[0].op);
  }
}

static void
test_account_of_layer (void **state)
{
  (void) state;
  set_account (&accounts[0]);
  snapshot.nr_layers = 2;
  diagnose_now ();
  assert_non_null (strstr (all_findings[0].text,
                           "Seen from layer 1, 13.512 s went by: 0.410 s"));
  assert_int_equal (all_findings[0].layer, 0);

  /* All but some nanoseconds. */
  set_account (&accounts[1]);
  layer->time.account[OP_READ] -= 100 * US;
  layer->time.account[OP_FLUSH] += 100 * US;
  diagnose_now ();
  assert_non_null (strstr (all_findings[0].text, "storage, nearly all of it "
                           "read. All"));

  /* A request of no time, and no time at all. */
  set_account (&(struct account) { .no_client = 0 });
  layer->time.first_begin = 1;
  diagnose_now ();
  assert_string_equal (all_findings[0].text,
                       "0.000 s went by. All else being equal, storage that "
                       "takes no time would leave 0.000 s, and a client that "
                       "never pauses 0.000 s.");
}

static void
test_account_numbers (void **state)
{
  static const struct finding_number expected[] = {
    { "no_client_ns", 410e6 }, { "waiting_ns", 1702e6 },
    { "storage_ns", 11400e6 }, { "largest_ns", 8800e6 },
    { "without_storage_ns", 2112e6 }, { "without_pauses_ns", 11810e6 },
  };

  (void) state;
  set_account (&accounts[0]);
  diagnose_now ();
  for (size_t i = 0; i < LENGTH (expected); i++) {
    const struct finding_number *number = &all_findings[0].numbers[i];

    assert_string_equal (number->name, expected[i].name);
    assert_true (fabs (number->value - expected[i].value) < 0.5);
  }
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
  assert_int_equal (nr_findings, 2);
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
  assert_string_equal (findings[0].numbers[2].name, "failed_ns");
  assert_int_equal ((int) findings[0].numbers[2].value, 0);
  assert_null (findings[0].numbers[3].name);
}

/* All that can be wrong at once: worst first, and none is too long. */
static void
make_all_wrong (void)
{
  healthy ();
  for (size_t i = 0; i < LENGTH (cases); i++) {
    if (cases[i].set != set_several)
      cases[i].set (cases[i].named * 1.5);
  }
  snapshot.elapsed_ns = 10 * S;
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
  assert_true (nr_findings > 10);
  assert_string_equal (findings[0].code, "failures");
  assert_string_equal (findings[1].code, "cut-short");
  assert_string_equal (findings[2].code, "failed-opens");
  assert_string_equal (findings[3].code, "not-recorded");
  assert_string_equal (findings[4].code, "unfinished");
}

/* Any account, with any requests: what took most of the time is told, and no
 * time is told twice.
 */

static uint64_t seed = 1;

static uint64_t
any_below (uint64_t n)
{
  return random_below (&seed, n);
}

/* Mostly nothing or little, and sometimes nearly all. */
static void
any_account (struct timeline_totals *time)
{
  uint64_t parts[NR_STATES], sum = 0;

  for (unsigned state = 0; state < NR_STATES; state++) {
    parts[state] = any_below (2) ? any_below (1000) : 0;
    if (any_below (NR_STATES) == 0)
      parts[state] = 10000;
    sum += parts[state];
  }
  for (unsigned state = 0; state < NR_STATES; state++)
    time->account[state] = sum ? snapshot.elapsed_ns / sum * parts[state] : 0;
}

/* What was in flight at once were two of the kinds, or more. */
static void
any_times (struct timeline_totals *time)
{
  const uint64_t several_ns = time->account[ACCOUNT_SEVERAL];
  const uint64_t first = any_below (NR_KINDS), second = any_below (NR_KINDS);

  for (unsigned kind = 0; kind < NR_KINDS; kind++) {
    uint64_t ns = time->account[kind];

    if (kind == first || kind == second)
      ns += several_ns;
    else if (several_ns)
      ns += any_below (several_ns);
    if (kind == KIND_OPENING)
      time->open_busy_ns = ns;
    else
      time->op_busy_ns[kind] = ns;
  }
  time->busy_ns = 0;
  for (unsigned state = 0; state <= ACCOUNT_SEVERAL; state++)
    time->busy_ns += time->account[state];
}

static void
any_requests (void)
{
  static const uint64_t latencies[] = { 1, 10 * US, MS, 50 * MS, 2 * S };

  for (unsigned op = 0; op < NR_OPS; op++) {
    const uint64_t busy_ns = layer->time.op_busy_ns[op];

    if (busy_ns == 0)
      continue;
    if (any_below (2))
      requests (op, (unsigned) any_below (300), any_below (9000),
                (uint32_t) any_below (MiB), latencies[any_below (5)]);
    if (any_below (4) == 0)
      fail_requests (op, (unsigned) any_below (300), latencies[any_below (5)]);
    if (op_ended (&layer->ops[op]) == 0 || any_below (9) == 0)
      layer->time.in_flight[op] = 1 + (unsigned) any_below (3);
    layer->time.in_flight_ns[op] = busy_ns * (1 + any_below (20));
    layer->time.overlapped[op] = any_below (2) ? any_below (100) : 0;
  }
}

static void
any_gaps (void)
{
  const uint64_t waiting_ns = layer->time.account[ACCOUNT_WAITING];
  const unsigned n = 1 + (unsigned) any_below (100);

  if (waiting_ns && any_below (4)) {
    gaps (n, waiting_ns / 4 / n + 1);
    gaps (1 + (unsigned) any_below (2), waiting_ns / 4);
  }
}

static void
any_run (void)
{
  static const uint64_t longest[] = { 1000, 200 * MS, 10 * S, 5000 * S };

  memset (layers, 0, sizeof layers);
  accounted = true;
  snapshot = (struct snapshot) {
    .start = 1000 * S, .threshold = 95000, .ended = any_below (2),
    .elapsed_ns = any_below (longest[any_below (LENGTH (longest))]) + 1,
    .nr_layers = 1, .layers = layers,
    .thread_model = (int) any_below (5) - 1,
  };
  any_account (&layer->time);
  any_times (&layer->time);
  layer->time.first_begin = snapshot.start + any_below (snapshot.elapsed_ns);
  layer->time.last_end = snapshot.start + snapshot.elapsed_ns;
  layer->time.most_in_flight = 1 + (unsigned) any_below (3);
  any_requests ();
  any_gaps ();
  layer->connections.all.opened = any_below (3);
  if (any_below (2))
    add_layer ();
}

/* Each part of the account that a finding is about, in percent. */
static double
told_percent (void)
{
  static const char *const parts[] = {
    "no-client", "client-bound", "stalls", "slow-open", "several-kinds",
    "one-at-a-time", "flush", "extents-time", "zero-time", "trim-time",
    "cache-time", "read-time", "write-time",
  };
  double sum = 0;

  for (size_t i = 0; i < nr_findings; i++) {
    for (size_t k = 0; k < LENGTH (parts); k++)
      sum += strcmp (findings[i].code, parts[k]) == 0 ? findings[i].weight : 0;
  }
  return sum;
}

/* The finding about a state of the account. */
static const struct finding *
find_state (unsigned state)
{
  static const char *const codes[] = {
    [OP_READ] = "read-time", [OP_WRITE] = "write-time",
    [OP_TRIM] = "trim-time", [OP_ZERO] = "zero-time",
    [OP_EXTENTS] = "extents-time", [OP_CACHE] = "cache-time",
    [OP_FLUSH] = "flush", [ACCOUNT_OPENING] = "slow-open",
    [ACCOUNT_SEVERAL] = "several-kinds", [ACCOUNT_WAITING] = "client-bound",
    [ACCOUNT_NO_CLIENT] = "no-client",
  };
  const char *op = state < NR_OPS ? op_name ((enum op) state) : NULL;
  const struct finding *finding = find (codes[state], op);

  return finding || op == NULL ? finding : find ("one-at-a-time", op);
}

static void
check_parts (void)
{
  for (unsigned state = 0; state < NR_STATES; state++) {
    const uint64_t ns = layer->time.account[state];

    if (snapshot.elapsed_ns >= 100 * MS && ns > snapshot.elapsed_ns / 2
        && find_state (state) == NULL)
      fail_msg ("%u took %llu of %llu ns: that is not told", state,
                (unsigned long long) ns,
                (unsigned long long) snapshot.elapsed_ns);
  }
  assert_true (told_percent () < 100.001);
}

/* One thing is the limit, at most. */
static void
check_limit (void)
{
  unsigned limits = 0;

  for (size_t i = 0; i < nr_findings; i++)
    limits += strcmp (findings[i].code, "client-bound") == 0
      || strcmp (findings[i].code, "storage-bound") == 0
      || strcmp (findings[i].code, "one-at-a-time") == 0;
  if (2 * layer->time.busy_ns == layer->time.busy_ns
      + layer->time.account[ACCOUNT_WAITING])
    return;
  assert_in_range (limits, 0, 1);
}

static void
test_any_run (void **state)
{
  unsigned long_runs = 0;

  (void) state;
  for (unsigned i = 0; i < 5000; i++) {
    any_run ();
    diagnose_now ();
    check_parts ();
    check_limit ();
    long_runs += snapshot.elapsed_ns > 100 * MS;
  }
  assert_in_range (long_runs, 1000, 5000);
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
    for (size_t i = 0; i < sizeof layer->time / sizeof (uint64_t); i++)
      ((uint64_t *) &layer->time)[i] = UINT64_MAX >> shift;
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
  assert_int_equal (findings + nr_findings - all_findings, MAX_FINDINGS);
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
    cmocka_unit_test (test_lies),
    cmocka_unit_test (test_lower_layer),
    cmocka_unit_test (test_account),
    cmocka_unit_test (test_account_of_layer),
    cmocka_unit_test (test_account_numbers),
    cmocka_unit_test (test_failures),
    cmocka_unit_test (test_all_wrong),
    cmocka_unit_test (test_any_run),
    cmocka_unit_test (test_huge),
    cmocka_unit_test (test_many_layers),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
