/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Snapshots written as JSON and read back: text, Prometheus and JSON made of
 * what was read are, byte for byte, those of the snapshot itself.
 *
 * Small ones are appended to the file $UNIT_JSON_REPORTS, if there is that
 * variable: libFuzzer starts from them.
 */

#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "report_reader.h"
#include "snapshot.h"
#include "unit.h"

/* What a snapshot looks like in a format.  To be freed. */
static char *
form_of (const struct snapshot *now, const struct snapshot *interval,
         report_write_fn write, unsigned intervals, bool headed, bool full)
{
  const struct report report = {
    .now = now, .interval = interval, .intervals = intervals,
    .headed = headed, .full = full,
  };
  char *text = NULL;
  size_t size = 0;
  FILE *fp = open_memstream (&text, &size);

  assert_non_null (fp);
  write (fp, &report);
  assert_int_equal (fclose (fp), 0);
  return text;
}

/* Read one report out of text, which lives on. */
struct reading {
  char name[32];
  struct report_reader reader;
  struct stored_report stored;
};

static void
start_reading (struct reading *reading, const char *text)
{
  int fd;

  *reading = (struct reading) { .name = "/tmp/unit-reader.XXXXXX" };
  fd = mkstemp (reading->name);
  assert_true (fd >= 0);
  assert_int_equal (write (fd, text, strlen (text)), strlen (text));
  close (fd);
  assert_int_equal (report_reader_open (&reading->reader, reading->name), 0);
  unlink (reading->name);
  assert_int_equal (report_reader_next (&reading->reader, &reading->stored),
                    NEXT_OBJECT);
}

static void
stop_reading (struct reading *reading)
{
  assert_int_equal (report_reader_next (&reading->reader, &reading->stored),
                    NEXT_END);
  stored_report_free (&reading->stored);
  report_reader_close (&reading->reader);
}

static void
assert_same (const char *a, const char *b)
{
  size_t i = 0, line = 0;

  if (strcmp (a, b) == 0)
    return;
  for (; a[i] == b[i]; i++) {
    if (a[i] == '\n')
      line = i + 1;
  }
  fail_msg ("\n%.300s\nbecame\n%.300s", a + line, b + line);
}

static void
compare (const struct snapshot *snapshot, const struct snapshot *read,
         report_write_fn write, bool headed, bool full)
{
  char *a = form_of (snapshot, NULL, write, 0, headed, full);
  char *b = form_of (read, NULL, write, 0, headed, full);

  assert_same (a, b);
  free (a);
  free (b);
}

static void
check_final (const struct snapshot *snapshot, bool headed, bool full)
{
  char *json = form_of (snapshot, NULL, json_write, 0, headed, full);
  struct reading reading;
  const struct stored_report *stored = &reading.stored;

  start_reading (&reading, json);
  assert_true (stored->final);
  assert_int_equal (stored->headed, headed);
  assert_int_equal (stored->full, full);
  compare (snapshot, &stored->snapshot, text_write, headed, full);
  compare (snapshot, &stored->snapshot, prometheus_write, headed, full);
  compare (snapshot, &stored->snapshot, json_write, headed, full);
  stop_reading (&reading);
  free (json);
}

/* A row, which is made of an interval and of how long it was since the
 * start.
 */
static void
check_interval (const struct snapshot *now, const struct snapshot *interval,
                unsigned intervals)
{
  char *json = form_of (now, interval, json_write_interval, 0, true, false);
  char *row = form_of (now, interval, text_write_row, intervals, true,
                       false);
  struct reading reading;
  const struct stored_report *stored = &reading.stored;
  struct snapshot read;
  char *again;

  start_reading (&reading, json);
  assert_false (stored->final);
  read = stored->snapshot;
  read.elapsed_ns = stored->now_ns;
  again = form_of (&read, &stored->snapshot, text_write_row, intervals,
                   stored->headed, false);
  assert_same (row, again);
  stop_reading (&reading);
  free (json);
  free (row);
  free (again);
}

static void
keep_for_fuzzer (const char *json)
{
  const char *file = getenv ("UNIT_JSON_REPORTS");
  FILE *fp = file ? fopen (file, "a") : NULL;

  if (fp) {
    assert_true (fputs (json, fp) >= 0);
    assert_int_equal (fclose (fp), 0);
  }
}

/* Random snapshots, as far as a filter can have them: what is counted of a
 * request is counted by the filter's own code.
 */

/* Numbers of all sizes. */
static uint64_t
any (uint64_t *state, unsigned bits)
{
  return random_64 (state) >> (64 - random_below (state, bits) - 1);
}

static void
record_random (uint64_t *state, struct recorder_totals *layer, enum op op,
               const struct snapshot *snapshot)
{
  struct op_totals *totals = &layer->ops[op];
  const struct record record = {
    .begin = snapshot->start + any (state, 40),
    .offset = op_kind (op) == KIND_NONE ? 0
      : any (state, 63) & ~UINT64_C (0) << random_below (state, 63),
    .count = op_kind (op) == KIND_NONE ? 0 : (uint32_t) any (state, 32),
    .flags = (uint8_t) random_below (state, 1 << NR_FLAGS),
    .zero_bytes = op == OP_WRITE && snapshot->zero
      ? (uint32_t) any (state, 20) : 0,
    .kind = (uint8_t) op,
    .nr_extents = op == OP_EXTENTS ? (uint32_t) any (state, 20) : 0,
    .data = op == OP_EXTENTS ? any (state, 64) : 0,
    .hole = op == OP_EXTENTS ? any (state, 64) : 0,
    .zero = op == OP_EXTENTS ? any (state, 64) : 0,
  };
  const uint64_t ns = 1 + any (state, 44);
  const unsigned depth = (unsigned) random_below (state, DEPTH_CLASSES);

  extremes_record (&totals->extremes, &record, ns, totals->tally.requests);
  tally_record (&totals->tally, &record, ns, snapshot->block);
  layer->time.size_depths[op][size_class (record.count)][depth].requests++;
  layer->time.size_depths[op][size_class (record.count)][depth].latency_ns
    += ns;
  layer->time.depths[op][depth].requests++;
  layer->time.depths[op][depth].latency_ns += ns;
}

static void
random_op (uint64_t *state, struct recorder_totals *layer, enum op op,
           const struct snapshot *snapshot, unsigned requests)
{
  struct timeline_totals *time = &layer->time;

  for (uint64_t n = random_below (state, requests); n > 0; n--)
    record_random (state, layer, op, snapshot);
  for (uint64_t n = random_below (state, 5); n > 0; n--)
    failures_count (&layer->ops[op].failures,
                    (unsigned) random_below (state, NR_ERRNOS),
                    any (state, 40));
  layer->ops[op].tally.misaligned = random_below (state, 300);
  layer->ops[op].tally.fast_zero_refused.requests = any (state, 10);
  layer->ops[op].tally.fast_zero_refused.ns = any (state, 40);
  time->op_busy_ns[op] = any (state, 40);
  time->in_flight[op] = (unsigned) any (state, 8);
  time->in_flight_ns[op] = any (state, 44);
  time->op_most_in_flight[op] = (unsigned) any (state, 32);
  time->sequential[op] = random_below (state, 100);
  time->small_sequential[op] = random_below (state, 100);
  time->overlapped[op] = random_below (state, 300);
}

static struct opens
random_opens (uint64_t *state)
{
  const struct opens opens = {
    .opened = any (state, 10), .failed = any (state, 3),
    .ns = any (state, 40), .longest_ns = any (state, 40),
  };

  return opens.opened + opens.failed ? opens : (struct opens) { 0 };
}

static void
random_connections (uint64_t *state, struct connections_totals *totals)
{
  static const char *const names[] = {
    "", "disk", "a\"b\\c", "\xc3\xa4\n\t\x01", "/dev/sda",
  };

  totals->clients = any (state, 64);
  totals->all = random_opens (state);
  totals->now = any (state, 64);
  totals->most = any (state, 64);
  totals->nr_exports = (unsigned) random_below (state, MAX_EXPORTS + 1);
  for (unsigned i = 0; i < totals->nr_exports; i++)
    totals->exports[i] = (struct export_opens) {
      .name = (char *) names[random_below (state, LENGTH (names))],
      .cut = random_below (state, 2), .opens = random_opens (state),
    };
  totals->other_exports = random_opens (state);
}

/* Kept as latencies are. */
static void
random_gaps (uint64_t *state, struct op_totals *gaps,
             const struct snapshot *snapshot)
{
  for (uint64_t n = random_below (state, 100); n > 0; n--) {
    const struct record record = { .begin = snapshot->start
                                            + any (state, 40) };
    const uint64_t ns = 1 + any (state, 44);

    extremes_record (&gaps->extremes, &record, ns, gaps->tally.requests);
    gaps->tally.requests++;
    gaps->tally.latency_ns += ns;
    gaps->tally.bins[histogram_bin (ns)]++;
  }
}

static void
random_block_sizes (uint64_t *state, struct connections_totals *totals)
{
  if (random_below (state, 2) == 0)
    return;
  totals->block_sizes.minimum = (uint32_t) any (state, 32);
  totals->block_sizes.preferred = 1 + (uint32_t) any (state, 31);
  totals->block_sizes.maximum = (uint32_t) any (state, 32);
  totals->block_sizes_differ = random_below (state, 2);
}

static void
random_layer (uint64_t *state, struct recorder_totals *layer,
              const struct snapshot *snapshot, unsigned requests)
{
  struct timeline_totals *time = &layer->time;

  for (unsigned op = 0; op < NR_OPS; op++) {
    if (random_below (state, 3) > 0)
      random_op (state, layer, op, snapshot, requests);
  }
  if (random_below (state, 4) > 0) {
    time->first_begin = snapshot->start + any (state, 40);
    time->last_end = time->first_begin + any (state, 40);
  }
  time->busy_ns = any (state, 40);
  time->request_busy_ns = any (state, 40);
  time->open_busy_ns = any (state, 40);
  time->waiting_ns = any (state, 40);
  time->most_in_flight = (unsigned) any (state, 32);
  for (unsigned i = 0; i < NR_STATES; i++)
    time->account[i] = random_below (state, 2)
      * random_below (state, snapshot->elapsed_ns + 1);
  random_gaps (state, &time->gaps, snapshot);
  random_connections (state, &layer->connections);
  random_block_sizes (state, &layer->connections);
  layer->unrecorded = random_below (state, 3);
}

/* With fewer requests than that of an operation. */
static struct snapshot
random_snapshot (uint64_t *state, unsigned requests, unsigned layers)
{
  const uint64_t nr_layers = 1 + random_below (state, layers);
  struct snapshot snapshot = {
    .nbdkit_version = "1.32.5",
    .plugin = random_below (state, 2) ? "file" : NULL,
    .label = random_below (state, 2) ? "a \"run\" of \xc3\xa4" : NULL,
    .start_time = { (time_t) any (state, 33),
                    (long) random_below (state, S) },
    .time = { (time_t) any (state, 33),
              (long) (random_below (state, S) / 1000 * 1000) },
    .pid = (pid_t) any (state, 31),
    .ended = true,
    .elapsed_ns = any (state, 44),
    .start = 1 + any (state, 60),
    .threshold = random_below (state, 100001),
    .block = random_below (state, 2) ? UINT64_C (1) << random_below (state, 32)
      : 0,
    .zero = random_below (state, 2),
    .thread_model = (int) random_below (state, 5) - 1,
  };

  for (uint64_t i = 0; i < nr_layers; i++) {
    assert_int_equal (snapshot_add_layer (&snapshot), 0);
    random_layer (state, &snapshot.layers[i], &snapshot, requests);
  }
  return snapshot;
}

static void
test_random (void **state)
{
  uint64_t seed = 20;

  (void) state;
  for (unsigned i = 0; i < 200; i++) {
    struct snapshot snapshot = random_snapshot (&seed, 300, 3);

    check_final (&snapshot, i % 2, i % 3);
    snapshot_free (&snapshot);
  }
}

static void
test_random_intervals (void **state)
{
  uint64_t seed = 21;

  (void) state;
  for (unsigned i = 0; i < 200; i++) {
    struct snapshot interval = random_snapshot (&seed, 300, 3);
    struct snapshot now = interval;

    now.elapsed_ns += any (&seed, 44);
    check_interval (&now, &interval, i % 21);
    snapshot_free (&interval);
  }
}

static void
test_small (void **state)
{
  uint64_t seed = 22;

  (void) state;
  for (unsigned i = 0; i < 50; i++) {
    struct snapshot snapshot = random_snapshot (&seed, 4, 1);
    char *json;

    snapshot.layers[0].connections.nr_exports %= 4;
    json = form_of (&snapshot, NULL, json_write, 0, false, true);
    keep_for_fuzzer (json);
    free (json);
    check_final (&snapshot, false, true);
    snapshot_free (&snapshot);
  }
}

/* Nothing was asked for. */
static void
test_empty (void **state)
{
  struct snapshot snapshot = {
    .nbdkit_version = "", .ended = true, .start = 1,
    .thread_model = THREADS_UNKNOWN,
  };

  (void) state;
  assert_int_equal (snapshot_add_layer (&snapshot), 0);
  check_final (&snapshot, false, true);
  snapshot_free (&snapshot);
}

/* The largest counts there are, which json-c would cut, of one request. */
static void
test_largest (void **state)
{
  struct snapshot snapshot = {
    .nbdkit_version = "", .ended = true, .start = 1,
    .elapsed_ns = UINT64_MAX,
  };
  struct tally *tally;

  (void) state;
  assert_int_equal (snapshot_add_layer (&snapshot), 0);
  tally = &snapshot.layers[0].ops[OP_EXTENTS].tally;
  tally->requests = tally->bins[0] = 1;
  tally->offset_alignment[0] = tally->length_alignment[0] = 1;
  tally->sizes[32] = (struct size_class) { .requests = 1,
                                           .bytes = UINT64_MAX };
  tally->bytes = UINT64_MAX;
  tally->extents.count = UINT64_MAX;
  tally->extents.data = ~(unsigned __int128) 0;
  tally->extents.hole = (unsigned __int128) UINT64_MAX + 1;
  tally->extents.zero = UINT64_MAX;
  snapshot.layers[0].unrecorded = UINT64_C (10000000000000000001);
  check_final (&snapshot, false, true);
  snapshot_free (&snapshot);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_random),
    cmocka_unit_test (test_random_intervals),
    cmocka_unit_test (test_small),
    cmocka_unit_test (test_empty),
    cmocka_unit_test (test_largest),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
