/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The Prometheus report of snapshots made by hand: that it has the format,
 * that nothing is missing, and that the figures are exact.
 */

#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "histogram.h"
#include "ops.h"
#include "report.h"
#include "snapshot.h"
#include "unit.h"
#include "wrap-alloc.h"

#define P "nbdkit_stats_"

/* Zeroed before each test; too large for the stack. */
static struct recorder_totals layers[2];
static struct snapshot snapshot;
static char *text;              /* of the last report_now */

static int
set_up (void **state)
{
  (void) state;
  memset (layers, 0, sizeof layers);
  snapshot = (struct snapshot) {
    .nbdkit_version = "1.32.5", .nr_layers = 2, .layers = layers,
  };
  return 0;
}

static int
tear_down (void **state)
{
  (void) state;
  free (text);
  text = NULL;
  return 0;
}

/* Is the text in the format?  Each line is looked at letter by letter. */

struct family {
  char name[80];
  char type[16];
};

/* Step over a name of a metric or a label. */
static const char *
skip_name (const char *p)
{
  assert_true (isalpha ((unsigned char) *p) || *p == '_');
  while (isalnum ((unsigned char) *p) || *p == '_')
    p++;
  return p;
}

static const char *
skip_text (const char *p, const char *expected)
{
  const size_t length = strlen (expected);

  if (strncmp (p, expected, length) != 0)       /* shows both */
    assert_string_equal (p, expected);
  return p + length;
}

static const char *
skip_label (const char *p)
{
  p = skip_name (p);
  p = skip_text (p, "=\"");
  while (*p != '"') {
    assert_true (isprint ((unsigned char) *p) || *p & 0x80);
    if (*p == '\\') {
      p++;
      assert_true (*p == '\\' || *p == '"' || *p == 'n');
    }
    p++;
  }
  return p + 1;
}

static const char *
skip_labels (const char *p)
{
  if (*p != '{')
    return p;
  do
    p = skip_label (p + 1);
  while (*p == ',');
  return skip_text (p, "}");
}

/* A number of digits alone, perhaps with nine decimals; nothing follows,
 * so there is no time stamp.
 */
static const char *
skip_value (const char *p)
{
  size_t digits = strspn (p, "0123456789");

  assert_in_range (digits, 1, 20);
  p += digits;
  if (*p == '.') {
    digits = strspn (p + 1, "0123456789");
    assert_int_equal (digits, 9);
    p += 1 + digits;
  }
  return p;
}

/* # HELP and # TYPE begin a family. */
static const char *
skip_head (const char *p, struct family *family)
{
  const char *name = skip_text (p, "# HELP " P) - strlen (P);
  const char *end = skip_name (name);
  const char *type;
  char type_line[120];

  snprintf (family->name, sizeof family->name, "%.*s", (int) (end - name),
            name);
  p = skip_text (end, " ");
  assert_true (isupper ((unsigned char) *p));
  for (; *p != '\n'; p++)
    assert_true (isprint ((unsigned char) *p) && *p != '\\');

  snprintf (type_line, sizeof type_line, "\n# TYPE %s ", family->name);
  type = skip_text (p, type_line);
  end = skip_name (type);
  snprintf (family->type, sizeof family->type, "%.*s", (int) (end - type),
            type);
  return skip_text (end, "\n");
}

/* The name of the family itself, or with what a histogram adds to it. */
static bool
belongs_to (const char *name, size_t length, const struct family *family)
{
  static const char *const suffixes[] = { "_bucket", "_sum", "_count" };
  const size_t family_length = strlen (family->name);

  if (strncmp (name, family->name, family_length) != 0)
    return false;
  if (strcmp (family->type, "histogram") != 0)
    return length == family_length;
  for (unsigned i = 0; i < 3; i++) {
    if (length == family_length + strlen (suffixes[i])
        && strncmp (name + family_length, suffixes[i],
                    strlen (suffixes[i])) == 0)
      return true;
  }
  return false;
}

static const char *
skip_sample (const char *p, const struct family *family)
{
  const char *const end = skip_name (p);

  assert_true (belongs_to (p, (size_t) (end - p), family));
  p = skip_labels (end);
  p = skip_text (p, " ");
  p = skip_value (p);
  return skip_text (p, "\n");
}

static void
check_type (const struct family *family)
{
  const size_t length = strlen (family->name);
  const bool is_total = length > 6
    && strcmp (family->name + length - 6, "_total") == 0;

  if (is_total)
    assert_string_equal (family->type, "counter");
  else if (strcmp (family->type, "histogram") != 0)
    assert_string_equal (family->type, "gauge");
}

/* Every family once, with its samples behind its head, and every sample
 * once.
 */
static void
check_format (void)
{
  struct family family = { 0 };
  const char *p = text;

  while (*p) {
    const char *line = p;
    char key[400];

    if (*p == '#') {
      p = skip_head (p, &family);
      check_type (&family);
      snprintf (key, sizeof key, "\n# HELP %s ", family.name);
    }
    else {
      p = skip_sample (p, &family);
      snprintf (key, sizeof key, "\n%.*s ", (int) strcspn (line, " "), line);
    }
    assert_null (strstr (p - 1, key));
  }
}

static void
report_now (void)
{
  size_t size = 0;
  FILE *fp;

  free (text);
  text = NULL;
  fp = open_memstream (&text, &size);
  assert_non_null (fp);
  prometheus_write (fp, &(struct report) { .now = &snapshot });
  assert_false (ferror (fp));
  assert_int_equal (fclose (fp), 0);
  assert_int_equal (strlen (text), size);
  check_format ();
}

/* Single samples. */

/* The value of a sample as it is written, NULL if it is not there.  The
 * next call overwrites it.
 */
static const char *
find (const char *sample)
{
  static char value[40];
  char key[200];
  const char *p;

  snprintf (key, sizeof key, "\n" P "%s ", sample);
  p = strstr (text, key);
  if (p == NULL)
    return NULL;
  p += strlen (key);
  snprintf (value, sizeof value, "%.*s", (int) strcspn (p, "\n"), p);
  return value;
}

static void
expect (const char *sample, const char *value)
{
  const char *found = find (sample);

  if (found == NULL)
    fail_msg ("there is no %s", sample);
  if (strcmp (found, value) != 0)
    fail_msg ("%s is %s, not %s", sample, found, value);
}

static void
expect_none (const char *sample)
{
  if (find (sample))
    fail_msg ("there is a %s", sample);
}

/* A sample of a layer, from 1, and an operation, with more labels. */
static uint64_t
count_of (const char *name, unsigned layer, enum op op, const char *labels)
{
  char sample[160];
  const char *value;

  snprintf (sample, sizeof sample, "%s{layer=\"%u\",op=\"%s\"%s}", name,
            layer, op_name (op), labels);
  value = find (sample);
  if (value == NULL)
    fail_msg ("there is no %s", sample);
  assert_null (strchr (value, '.'));
  return strtoull (value, NULL, 10);
}

/* Layers. */

/* A disk of 6 GiB was converted, in two layers. */
static void
conversion (void)
{
  struct recorder_totals *layer = &layers[0];

  snapshot.start_time = (struct timespec) { 951782399, 7 };
  snapshot.elapsed_ns = 2107000001;
  layer->ops[OP_WRITE].tally.requests = 1271;
  layer->ops[OP_WRITE].tally.bytes = 1224065024;
  layer->ops[OP_WRITE].tally.latency_ns = 5000000123;
  layer->ops[OP_WRITE].tally.bins[histogram_bin (4000000)] = 1271;
  layer->ops[OP_FLUSH].tally.requests = 2;
  layer->ops[OP_FLUSH].tally.latency_ns = 1021000000;
  layer->ops[OP_FLUSH].tally.bins[histogram_bin (510500000)] = 2;
  layer->time.busy_ns = 1390000000;
  layer->time.op_busy_ns[OP_WRITE] = 356000000;
  layer->time.op_busy_ns[OP_FLUSH] = 1021000000;
  layer->time.in_flight[OP_ZERO] = 16;
  layer->time.in_flight_ns[OP_ZERO] = 16 * UINT64_C (2000000001);
  layer->ops[OP_ZERO].tally.fast_zero_refused.requests = 39;
  layer->connections.all.opened = 4;
  layer->connections.all.failed = 1;
  layer->connections.now = 3;
  layers[1].ops[OP_WRITE].tally.requests = 318;
  layers[1].ops[OP_WRITE].tally.bins[histogram_bin (90000)] = 318;
  layers[1].unrecorded = 5;
}

static void
test_figures (void **state)
{
  (void) state;
  conversion ();
  report_now ();
  expect ("start_time_seconds", "951782399.000000007");
  expect ("elapsed_seconds_total", "2.107000001");
  expect ("build_info{version=\"" PACKAGE_VERSION "\","
          "nbdkit_version=\"1.32.5\"}", "1");

  expect ("requests_total{layer=\"1\",op=\"write\"}", "1271");
  expect ("requests_total{layer=\"1\",op=\"flush\"}", "2");
  expect ("requests_total{layer=\"2\",op=\"write\"}", "318");
  expect ("bytes_total{layer=\"1\",op=\"write\"}", "1224065024");
  expect ("busy_seconds_total{layer=\"1\",op=\"write\"}", "0.356000000");
  expect ("busy_seconds_total{layer=\"1\",op=\"flush\"}", "1.021000000");
  expect ("layer_busy_seconds_total{layer=\"1\"}", "1.390000000");
  expect ("layer_busy_seconds_total{layer=\"2\"}", "0.000000000");
  expect ("in_flight{layer=\"1\",op=\"zero\"}", "16");
  expect ("in_flight_seconds_total{layer=\"1\",op=\"zero\"}", "32.000000016");
  expect ("refused_requests_total{layer=\"1\",op=\"zero\"}", "39");
  expect ("connections_total{layer=\"1\"}", "4");
  expect ("failed_connections_total{layer=\"1\"}", "1");
  expect ("open_connections{layer=\"1\"}", "3");
  expect ("unrecorded_requests_total{layer=\"1\"}", "0");
  expect ("unrecorded_requests_total{layer=\"2\"}", "5");
  expect ("request_duration_seconds_sum{layer=\"1\",op=\"write\"}",
          "5.000000123");
  expect ("request_duration_seconds_count{layer=\"1\",op=\"write\"}",
          "1271");
  expect_none ("connections_total{layer=\"0\"}");
  expect_none ("connections_total{layer=\"3\"}");
}

/* All states, also those that never were. */
static void
test_account (void **state)
{
  uint64_t *account = layers[1].time.account;

  (void) state;
  account[OP_FLUSH] = 1021000001;
  account[ACCOUNT_OPENING] = 5;
  account[ACCOUNT_SEVERAL] = 6;
  account[ACCOUNT_WAITING] = UINT64_MAX;
  account[ACCOUNT_NO_CLIENT] = 8 * S;
  report_now ();
  expect ("state_seconds_total{layer=\"1\",state=\"waiting\"}",
          "0.000000000");
  expect ("state_seconds_total{layer=\"2\",state=\"read\"}",
          "0.000000000");
  expect ("state_seconds_total{layer=\"2\",state=\"flush\"}",
          "1.021000001");
  expect ("state_seconds_total{layer=\"2\",state=\"opening\"}",
          "0.000000005");
  expect ("state_seconds_total{layer=\"2\",state=\"several\"}",
          "0.000000006");
  expect ("state_seconds_total{layer=\"2\",state=\"waiting\"}",
          "18446744073.709551615");
  expect ("state_seconds_total{layer=\"2\",state=\"no_client\"}",
          "8.000000000");
}

static void
test_gaps (void **state)
{
  (void) state;
  tally_latency (&layers[1].time.gaps.tally, 1023);
  tally_latency (&layers[1].time.gaps.tally, 1024);
  tally_latency (&layers[1].time.gaps.tally, UINT64_C (1) << 40);
  report_now ();
  expect ("gap_duration_seconds_bucket{layer=\"2\",le=\"0.000001023\"}",
          "1");
  expect ("gap_duration_seconds_bucket{layer=\"2\",le=\"0.000002047\"}",
          "2");
  expect ("gap_duration_seconds_bucket{layer=\"2\",le=\"68.719476735\"}",
          "2");
  expect ("gap_duration_seconds_bucket{layer=\"2\",le=\"+Inf\"}", "3");
  expect ("gap_duration_seconds_count{layer=\"2\"}", "3");
  expect ("gap_duration_seconds_sum{layer=\"2\"}", "1099.511629823");
  expect ("gap_duration_seconds_count{layer=\"1\"}", "0");
}

/* A program's columns do not move: what was not used is there with 0. */
static void
test_all_operations (void **state)
{
  static const char *const names[] = {
    "requests_total", "bytes_total", "in_flight", "refused_requests_total",
    "request_duration_seconds_count",
  };

  (void) state;
  report_now ();
  for (unsigned layer = 1; layer <= 2; layer++) {
    for (unsigned op = 0; op < NR_OPS; op++) {
      char busy[80];

      for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal (count_of (names[i], layer, op, ""), 0);
      assert_int_equal (count_of ("failed_requests_total", layer, op,
                                  ",errno=\"EIO\""), 0);
      assert_int_equal (count_of ("request_duration_seconds_bucket", layer,
                                  op, ",le=\"+Inf\""), 0);
      snprintf (busy, sizeof busy,
                "busy_seconds_total{layer=\"%u\",op=\"%s\"}", layer,
                op_name (op));
      expect (busy, "0.000000000");
    }
  }
}

static void
test_failures (void **state)
{
  struct failure *failures = layers[1].ops[OP_TRIM].failures.by_errno;

  (void) state;
  failures[0] = (struct failure) { .error = ENOSPC, .requests = 3 };
  failures[1] = (struct failure) { .error = EIO, .requests = 2 };
  failures[2] = (struct failure) { .error = 5000, .requests = 6 };
  failures[MAX_FAILURES - 1] = (struct failure) {
    .error = FAILURE_OTHER, .requests = 1,
  };
  layers[1].ops[OP_READ].failures.by_errno[0] = (struct failure) {
    .error = ESHUTDOWN, .requests = UINT64_MAX,
  };
  report_now ();
  expect ("failed_requests_total{layer=\"2\",op=\"trim\",errno=\"ENOSPC\"}",
          "3");
  expect ("failed_requests_total{layer=\"2\",op=\"trim\",errno=\"EIO\"}",
          "2");
  expect ("failed_requests_total{layer=\"2\",op=\"read\","
          "errno=\"ESHUTDOWN\"}", "18446744073709551615");
  expect ("failed_requests_total{layer=\"2\",op=\"trim\",errno=\"5000\"}",
          "6");
  expect ("failed_requests_total{layer=\"2\",op=\"trim\",errno=\"other\"}",
          "1");
  expect ("failed_requests_total{layer=\"1\",op=\"trim\",errno=\"EIO\"}",
          "0");
  expect ("requests_total{layer=\"2\",op=\"trim\"}", "0");
}

/* Durations. */

#define MAX_BUCKETS 40

struct buckets {
  unsigned nr;
  uint64_t bounds[MAX_BUCKETS]; /* nanoseconds, the last UINT64_MAX: +Inf */
  uint64_t counts[MAX_BUCKETS];
};

/* Nanoseconds of a number of seconds with nine decimals, or +Inf. */
static uint64_t
parse_bound (const char *p)
{
  uint64_t seconds;
  char *end;

  if (strncmp (p, "+Inf\"", 5) == 0)
    return UINT64_MAX;
  seconds = strtoull (p, &end, 10);
  assert_int_equal (*end, '.');
  return seconds * NS_PER_S + strtoull (end + 1, NULL, 10);
}

static struct buckets
buckets_of (unsigned layer, enum op op)
{
  struct buckets buckets = { 0 };
  const char *p = text;
  char key[120];

  snprintf (key, sizeof key,
            "\n" P "request_duration_seconds_bucket{layer=\"%u\",op=\"%s\","
            "le=\"", layer, op_name (op));
  while ((p = strstr (p, key)) != NULL) {
    p += strlen (key);
    assert_true (buckets.nr < MAX_BUCKETS);
    buckets.bounds[buckets.nr] = parse_bound (p);
    p = strchr (p, ' ');
    buckets.counts[buckets.nr++] = strtoull (p, NULL, 10);
  }
  return buckets;
}

/* Bounds and counts ascend, and the last says the same as all others that
 * count the requests.
 */
static void
check_buckets (unsigned layer, enum op op)
{
  const struct buckets buckets = buckets_of (layer, op);
  const unsigned last = buckets.nr - 1;

  assert_in_range (buckets.nr, 20, MAX_BUCKETS);
  for (unsigned i = 1; i < buckets.nr; i++) {
    assert_true (buckets.bounds[i] > buckets.bounds[i - 1]);
    assert_true (buckets.counts[i] >= buckets.counts[i - 1]);
  }
  assert_true (buckets.bounds[last] == UINT64_MAX);
  assert_int_equal (buckets.counts[last],
                    count_of ("request_duration_seconds_count", layer, op,
                              ""));
  assert_int_equal (buckets.counts[last],
                    count_of ("requests_total", layer, op, ""));
}

static void
add_latency (struct tally *tally, uint64_t ns)
{
  tally->requests++;
  tally->latency_ns += ns;
  tally->bins[histogram_bin (ns)]++;
}

/* No bound lies within a bin: what is up to it and what is above it have
 * bins of their own.
 */
static void
test_bounds_are_edges (void **state)
{
  struct buckets buckets;

  (void) state;
  report_now ();
  for (unsigned op = 0; op < NR_OPS; op++) {
    buckets = buckets_of (1, op);
    for (unsigned i = 0; i < buckets.nr - 1; i++)
      assert_int_not_equal (histogram_bin (buckets.bounds[i]),
                            histogram_bin (buckets.bounds[i] + 1));
  }
  assert_true (buckets.bounds[0] < 2000);
  assert_true (buckets.bounds[buckets.nr - 2] > 60 * NS_PER_S);
}

/* Against the latencies themselves, most of them close to a power of two
 * or on it.
 */
static void
test_buckets_are_exact (void **state)
{
  static uint64_t latencies[4096];
  const size_t nr = sizeof latencies / sizeof latencies[0];
  uint64_t seed = 1;
  struct buckets buckets;

  (void) state;
  for (size_t i = 0; i < nr; i++) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    latencies[i] = (UINT64_C (1) << (1 + i % 43)) + (seed >> 62) - 2;
    if (i % 4 == 0)
      latencies[i] = seed >> (20 + i % 44);
    add_latency (&layers[1].ops[OP_CACHE].tally, latencies[i]);
  }
  report_now ();
  check_buckets (2, OP_CACHE);
  buckets = buckets_of (2, OP_CACHE);
  for (unsigned b = 0; b < buckets.nr; b++) {
    uint64_t count = 0;

    for (size_t i = 0; i < nr; i++)
      count += latencies[i] <= buckets.bounds[b];
    assert_int_equal (buckets.counts[b], count);
  }
}

/* One that took longer than the histogram can hold is in the last. */
static void
test_overflow (void **state)
{
  struct buckets buckets;

  (void) state;
  add_latency (&layers[0].ops[OP_READ].tally, UINT64_C (1) << 42);
  report_now ();
  check_buckets (1, OP_READ);
  buckets = buckets_of (1, OP_READ);
  assert_int_equal (buckets.counts[buckets.nr - 2], 0);
  assert_int_equal (buckets.counts[buckets.nr - 1], 1);
}

static void
test_buckets_agree (void **state)
{
  (void) state;
  conversion ();
  report_now ();
  for (unsigned layer = 1; layer <= 2; layer++) {
    for (unsigned op = 0; op < NR_OPS; op++)
      check_buckets (layer, op);
  }
}

/* The extremes. */

static void
test_huge (void **state)
{
  struct recorder_totals *layer = &layers[0];

  (void) state;
  snapshot.elapsed_ns = UINT64_MAX;
  layer->time.busy_ns = UINT64_MAX;
  layer->unrecorded = UINT64_MAX;
  layer->time.op_busy_ns[OP_READ] = UINT64_MAX;
  layer->time.in_flight[OP_READ] = UINT_MAX;
  layer->ops[OP_READ].tally.requests = UINT64_MAX;
  layer->ops[OP_READ].tally.bytes = UINT64_MAX;
  layer->ops[OP_READ].tally.latency_ns = UINT64_MAX;
  layer->ops[OP_READ].tally.bins[HISTOGRAM_OVERFLOW] = UINT64_MAX;
  report_now ();
  check_buckets (1, OP_READ);
  expect ("elapsed_seconds_total", "18446744073.709551615");
  expect ("requests_total{layer=\"1\",op=\"read\"}",
          "18446744073709551615");
  expect ("bytes_total{layer=\"1\",op=\"read\"}", "18446744073709551615");
  expect ("in_flight{layer=\"1\",op=\"read\"}", "4294967295");
  expect ("request_duration_seconds_sum{layer=\"1\",op=\"read\"}",
          "18446744073.709551615");
}

static void
test_no_layers (void **state)
{
  (void) state;
  snapshot.nr_layers = 0;
  report_now ();
  assert_null (strstr (text, "layer="));
}

/* What would end a label early is escaped. */
static void
test_escapes (void **state)
{
  (void) state;
  snapshot.nbdkit_version = "1.\"0\\\n";
  report_now ();
  expect ("build_info{version=\"" PACKAGE_VERSION "\","
          "nbdkit_version=\"1.\\\"0\\\\\\n\"}", "1");
  snapshot.nbdkit_version = NULL;
  report_now ();
  expect ("build_info{version=\"" PACKAGE_VERSION "\","
          "nbdkit_version=\"\"}", "1");
}

/* A label of the user's is in each series, whatever it is. */
static void
test_run (void **state)
{
  static const char run[] = "{run=\"a\\\"\\\\\\n\xef\xbf\xbd\xc3\xa4\"";
  unsigned nr_series = 0;

  (void) state;
  conversion ();
  snapshot.label = "a\"\\\n\xff\xc3\xa4";
  report_now ();
  expect ("elapsed_seconds_total{run=\"a\\\"\\\\\\n\xef\xbf\xbd\xc3\xa4\"}",
          "2.107000001");
  for (const char *line = text; *line; line = strchr (line, '\n') + 1) {
    if (*line == '#')
      continue;
    nr_series++;
    if (strncmp (line + strcspn (line, "{ "), run, sizeof run - 1) != 0)
      fail_msg ("no label: %.80s", line);
  }
  assert_true (nr_series > 100);
}

/* It needs no memory of its own, so it says all without. */
static void
test_no_memory (void **state)
{
  static char room[200000];
  FILE *fp = fmemopen (room, sizeof room, "w");
  unsigned long before;

  (void) state;
  assert_non_null (fp);
  conversion ();
  report_now ();
  before = allocations;
  allocations_left = 0;
  prometheus_write (fp, &(struct report) { .now = &snapshot });
  allocations_left = -1;
  assert_int_equal (allocations, before);
  assert_int_equal (fclose (fp), 0);
  assert_string_equal (room, text);
}

static void
test_full_disk (void **state)
{
  FILE *fp = fopen ("/dev/full", "w");

  (void) state;
  if (fp == NULL)
    skip ();
  prometheus_write (fp, &(struct report) { .now = &snapshot });
  fflush (fp);
  assert_true (ferror (fp));
  fclose (fp);
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, set_up, tear_down)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_figures),
    TEST (test_account),
    TEST (test_gaps),
    TEST (test_all_operations),
    TEST (test_failures),
    TEST (test_bounds_are_edges),
    TEST (test_buckets_are_exact),
    TEST (test_overflow),
    TEST (test_buckets_agree),
    TEST (test_huge),
    TEST (test_no_layers),
    TEST (test_escapes),
    TEST (test_run),
    TEST (test_no_memory),
    TEST (test_full_disk),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
