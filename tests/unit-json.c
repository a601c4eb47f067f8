/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The JSON report of snapshots made by hand, read back by json-c.
 *
 * Each report is one line of strict JSON in UTF-8.  They are appended to
 * the file $UNIT_JSON_REPORTS, if there is that variable, for
 * test-json-schema.sh to validate.
 */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json.h>
#include <json_pointer.h>

#include "diagnosis.h"
#include "fail-alloc.h"
#include "ops.h"
#include "report.h"
#include "snapshot.h"
#include "unit.h"

/* Reports. */

/* The final report where there is no interval. */
static void
write_to (FILE *fp, const struct snapshot *snapshot,
          const struct snapshot *interval)
{
  const struct report report = { .now = snapshot, .interval = interval };

  if (interval)
    json_write_interval (fp, &report);
  else
    json_write (fp, &report);
}

/* To be freed. */
static char *
text_of (const struct snapshot *snapshot, const struct snapshot *interval)
{
  char *text = NULL;
  size_t size = 0;
  FILE *fp = open_memstream (&text, &size);

  assert_non_null (fp);
  write_to (fp, snapshot, interval);
  assert_false (ferror (fp));
  assert_int_equal (fclose (fp), 0);
  assert_int_equal (strlen (text), size);
  return text;
}

static void
keep_for_schema (const char *text)
{
  const char *file = getenv ("UNIT_JSON_REPORTS");
  FILE *fp;

  if (file == NULL)
    return;
  fp = fopen (file, "a");
  assert_non_null (fp);
  assert_true (fputs (text, fp) >= 0);
  assert_int_equal (fclose (fp), 0);
}

static bool
is_ascii (const char *text)
{
  while (*text && (*text & 0x80) == 0)
    text++;
  return *text == '\0';
}

/* Whole numbers that may have more than 64 bits as real ones, which are as
 * strictly read.  2^64 - 1 has 20 digits, and none of our texts has more.
 */
static char *
widen (const char *text)
{
  char *wide = malloc (2 * strlen (text) + 1), *end = wide;

  assert_non_null (wide);
  for (size_t n; *text; text += n) {
    const size_t digits = strspn (text, "0123456789");

    n = digits ? digits : 1;
    end = mempcpy (end, text, n);
    if (digits > 20 && text[digits] != '.')
      end = stpcpy (end, ".0");
  }
  *end = '\0';
  return wide;
}

/* Read one line of JSON as strictly as json-c can.  It takes "1,5" in no
 * locale, but NaN and Infinity unless it is strict.  Where that is, version
 * 0.18 takes all bytes beyond ASCII for control characters, and no whole
 * number of more than 64 bits.
 */
static struct json_object *
parse (const char *report_text)
{
  char *text = widen (report_text);
  const size_t length = strlen (text);
  const int strict = is_ascii (text) ? JSON_TOKENER_STRICT : 0;
  struct json_tokener *tokener = json_tokener_new ();
  struct json_object *report;

  assert_non_null (tokener);
  assert_ptr_equal (strchr (text, '\n'), text + length - 1);
  json_tokener_set_flags (tokener, strict | JSON_TOKENER_VALIDATE_UTF8);
  report = json_tokener_parse_ex (tokener, text, (int) length - 1);
  if (json_tokener_get_error (tokener) != json_tokener_success)
    fail_msg ("%s after %zu bytes: %s",
              json_tokener_error_desc (json_tokener_get_error (tokener)),
              json_tokener_get_parse_end (tokener), text);
  assert_int_equal (json_tokener_get_parse_end (tokener), length - 1);
  json_tokener_free (tokener);
  free (text);
  return report;
}

static struct json_object *
report_of (const struct snapshot *snapshot, const struct snapshot *interval)
{
  char *text = text_of (snapshot, interval);
  struct json_object *report = parse (text);

  keep_for_schema (text);
  free (text);
  return report;
}

/* What stands at a path, which is a JSON pointer such as "/layers/0". */

static struct json_object *
at (struct json_object *report, const char *path)
{
  struct json_object *value = NULL;

  if (json_pointer_get (report, path, &value) != 0)
    fail_msg ("the report has no %s", path);
  return value;
}

static bool
has (struct json_object *report, const char *path)
{
  struct json_object *value;

  return json_pointer_get (report, path, &value) == 0;
}

static void
expect_count (struct json_object *report, const char *path, uint64_t expected)
{
  struct json_object *value = at (report, path);

  if (!json_object_is_type (value, json_type_int)
      || json_object_get_uint64 (value) != expected)
    fail_msg ("%s is %s, not %" PRIu64, path,
              json_object_to_json_string (value), expected);
}

static void
expect_real (struct json_object *report, const char *path, double expected)
{
  struct json_object *value = at (report, path);

  if (!(json_object_is_type (value, json_type_int)
        || json_object_is_type (value, json_type_double))
      || !(fabs (json_object_get_double (value) - expected)
           <= fabs (expected) * 1e-15))
    fail_msg ("%s is %s, not %.17g", path,
              json_object_to_json_string (value), expected);
}

static void
expect_text (struct json_object *report, const char *path,
             const char *expected)
{
  struct json_object *value = at (report, path);

  assert_true (json_object_is_type (value, json_type_string));
  assert_string_equal (json_object_get_string (value), expected);
}

/* Any value, in json-c's plain form. */
static void
expect_json (struct json_object *report, const char *path,
             const char *expected)
{
  assert_string_equal (json_object_to_json_string_ext
                         (at (report, path), JSON_C_TO_STRING_PLAIN),
                       expected);
}

static void
expect_null (struct json_object *report, const char *path)
{
  expect_json (report, path, "null");
}

/* The keys of an object, in their order, with a space before each. */
static void
expect_keys (struct json_object *report, const char *path,
             const char *expected)
{
  char keys[1000] = "";
  size_t length = 0;

  json_object_object_foreach (at (report, path), key, value) {
    (void) value;
    length += (size_t) snprintf (keys + length, sizeof keys - length,
                                 " %s", key);
    assert_true (length < sizeof keys);
  }
  assert_string_equal (keys, expected);
}

/* Snapshots. */

static struct snapshot
snapshot_of (struct recorder_totals *layers, size_t nr_layers)
{
  return (struct snapshot) {
    .nbdkit_version = "1.32.5", .label = "a \"run\"",
    .start_time = { 1796040000, 5000 },
    .time = { 1796040002, 107999999 },
    .pid = 1234,
    .elapsed_ns = 2107 * MS,
    .start = 100 * S,
    .threshold = 95000,
    .nr_layers = nr_layers,
    .layers = layers,
  };
}

/* A disk of 6 GiB was converted.  The storage worked for 1.39 s of 2.1 s,
 * and most of that was flush.
 */
static struct recorder_totals
conversion (void)
{
  return (struct recorder_totals) {
    .ops = {
      [OP_WRITE].tally = { .requests = 1271, .bytes = 1224065024,
                           .latency_ns = 712 * MS },
      [OP_ZERO].tally = { .requests = 1027, .bytes = 5218762752 },
      [OP_EXTENTS].tally = {
        .requests = 1, .bytes = 2 * GiB,
        .extents = { .count = 37, .data = 1224065024, .hole = 5218762752,
                     .zero = 512 },
      },
      [OP_FLUSH].tally = { .requests = 2 },
    },
    .time = {
      .first_begin = 100 * S + 10 * MS,
      .last_end = 102 * S,
      .busy_ns = 1390 * MS, .request_busy_ns = 1390 * MS,
      .op_busy_ns = {
        [OP_WRITE] = 356 * MS,
        [OP_ZERO] = 13 * MS,
        [OP_EXTENTS] = 17000,
        [OP_FLUSH] = 1021 * MS,
      },
      .in_flight = { [OP_WRITE] = 1, [OP_FLUSH] = 2 },
      .in_flight_ns = { [OP_WRITE] = 712 * MS, [OP_FLUSH] = 1200 * MS },
      .depths = { [OP_WRITE] = {
        [0] = { 1000, 1000 * MS }, [3] = { 200, 100 * MS },
        [DEPTH_CLASSES - 1] = { 71, 7 * MS },
      } },
      .most_in_flight = 16,
      .op_most_in_flight = { [OP_WRITE] = 15 },
      .sequential = { [OP_WRITE] = 1200 },
    },
    .connections = {
      .clients = 9,
      .all = { .opened = 3, .failed = 1, .ns = 8 * MS, .longest_ns = 5 * MS },
      .now = 1, .most = 2, .recent_most = 2, .nr_exports = 1,
      .exports[0] = {
        .name = (char *) "disk",
        .opens = { .opened = 3, .ns = 6 * MS, .longest_ns = 5 * MS },
      },
      .block_sizes = { 512, 65536, UINT32_MAX }, .block_sizes_differ = true,
    },
    .unrecorded = 7,
  };
}

/* Record a request as the recorder does. */
static void
record (struct op_totals *op, const struct record *request,
        uint64_t latency_ns, uint64_t block)
{
  extremes_record (&op->extremes, request, latency_ns, op->tally.requests);
  tally_record (&op->tally, request, latency_ns, block);
}

static void
record_latencies (struct op_totals *op, unsigned n)
{
  for (unsigned i = 1; i <= n; i++)
    record (op, &(struct record) {
      .begin = 100 * S + i * MS, .offset = i * 4096, .count = 4096,
    }, i * 1000, 0);
}

/* One of everything, and several where that makes a list. */
static void
make_rich (struct recorder_totals *layer)
{
  *layer = conversion ();
  for (unsigned op = 0; op < NR_OPS; op++) {
    record_latencies (&layer->ops[op], 12);
    failures_count (&layer->ops[op].failures, EIO, 1000);
    failures_count (&layer->ops[op].failures, ENOSPC, 2000);
  }
  layer->connections.nr_exports = 2;
  layer->connections.exports[1].name = (char *) "\x01\"\\\xff\xc3\xa4";
}

/* Tests. */

static void
test_head (void **state)
{
  struct recorder_totals layer = conversion ();
  struct snapshot snapshot = snapshot_of (&layer, 1);
  struct json_object *report = report_of (&snapshot, NULL);

  (void) state;
  expect_keys (report, "",
               " schema type filter_version nbdkit_version plugin label"
               " pid start_time time headed start_time_ns thread_model"
               " parameters elapsed_ns active_ns busy_ns layers diagnosis");
  expect_count (report, "/schema", 2);
  expect_text (report, "/type", "final");
  expect_text (report, "/filter_version", PACKAGE_VERSION);
  expect_text (report, "/nbdkit_version", "1.32.5");
  expect_json (report, "/plugin", "null");
  expect_text (report, "/label", "a \"run\"");
  expect_count (report, "/pid", 1234);
  expect_json (report, "/headed", "false");
  expect_count (report, "/start_time_ns", UINT64_C (1796040000000005000));
  expect_text (report, "/thread_model", "serialize_connections");
  expect_json (report, "/parameters",
               "{\"threshold_percent\":95,\"block\":0,\"zero\":false,"
               "\"detail\":\"brief\"}");
  expect_text (report, "/start_time", "2026-11-30T12:00:00.000005Z");
  expect_text (report, "/time", "2026-11-30T12:00:02.107999Z");
  expect_count (report, "/elapsed_ns", 2107 * MS);
  expect_count (report, "/active_ns", 1990 * MS);
  expect_count (report, "/busy_ns", 1390 * MS);
  json_object_put (report);
}

static void
test_layer (void **state)
{
  struct recorder_totals layer = conversion ();
  struct snapshot snapshot = snapshot_of (&layer, 1);
  struct json_object *report = report_of (&snapshot, NULL);

  (void) state;
  expect_keys (report, "/layers/0",
               " layer busy_ns request_busy_ns open_busy_ns waiting_ns"
               " active_ns first_begin_ns account gaps in_flight connections"
               " exports other_exports block_size ops unrecorded");
  expect_json (report, "/layers/0/block_size",
               "{\"minimum\":512,\"preferred\":65536,"
               "\"maximum\":4294967295,\"differ\":true}");
  expect_count (report, "/layers/0/layer", 1);
  expect_count (report, "/layers/0/busy_ns", 1390 * MS);
  expect_count (report, "/layers/0/active_ns", 1990 * MS);
  expect_real (report, "/layers/0/in_flight/mean", 1912. / 1390);
  expect_count (report, "/layers/0/in_flight/max", 16);
  expect_count (report, "/layers/0/in_flight/now", 3);
  expect_json (report, "/layers/0/connections",
               "{\"clients\":9,\"opened\":3,\"failed\":1,"
               "\"open_ns\":{\"sum\":8000000,\"mean\":2000000,"
               "\"max\":5000000},\"max_at_once\":2,\"now\":1}");
  expect_keys (report, "/layers/0/exports/0",
               " name cut opened failed open_ns ops");
  expect_text (report, "/layers/0/exports/0/name", "disk");
  expect_json (report, "/layers/0/exports/0/cut", "false");
  expect_count (report, "/layers/0/exports/0/opened", 3);
  expect_count (report, "/layers/0/exports/0/failed", 0);
  expect_json (report, "/layers/0/exports/0/open_ns",
               "{\"sum\":6000000,\"mean\":2000000,\"max\":5000000}");
  expect_keys (report, "/layers/0/exports/0/ops",
               " write zero extents flush");
  expect_keys (report, "/layers/0/ops",
               " read write trim zero extents cache flush");
  expect_count (report, "/layers/0/unrecorded", 7);
  json_object_put (report);
}

static void
test_worked_example (void **state)
{
  struct recorder_totals layer = conversion ();
  struct snapshot snapshot = snapshot_of (&layer, 1);
  struct json_object *report = report_of (&snapshot, NULL);

  (void) state;
  expect_keys (report, "/layers/0/ops/write",
               " total_ios io_bytes busy_ns bw_bytes active_bw_bytes"
               " busy_bw_bytes iops active_iops failed lat_ns in_flight depths"
               " sizes alignment block_fit sequential_ios"
               " small_sequential_ios overlapped_ios flags"
               " fast_zero_refused zero_bytes slowest");
  expect_count (report, "/layers/0/ops/write/total_ios", 1271);
  expect_count (report, "/layers/0/ops/write/io_bytes", 1224065024);
  expect_count (report, "/layers/0/ops/write/busy_ns", 356 * MS);
  expect_real (report, "/layers/0/ops/write/bw_bytes", 1224065024 / 2.107);
  expect_real (report, "/layers/0/ops/write/busy_bw_bytes",
               1224065024 / 0.356);
  expect_real (report, "/layers/0/ops/write/iops", 1271 / 2.107);
  expect_real (report, "/layers/0/ops/write/active_bw_bytes",
               1224065024 / 1.99);
  expect_real (report, "/layers/0/ops/write/active_iops", 1271 / 1.99);
  expect_json (report, "/layers/0/ops/write/in_flight",
               "{\"mean\":2,\"max\":15,\"now\":1,\"ns\":712000000}");
  expect_json (report, "/layers/0/ops/write/depths",
               "[{\"from\":1,\"to\":1,\"requests\":1000,"
               "\"lat_ns_mean\":1000000,\"lat_ns_sum\":1000000000},"
               "{\"from\":5,\"to\":8,\"requests\":200,"
               "\"lat_ns_mean\":500000,\"lat_ns_sum\":100000000},"
               "{\"from\":65,\"to\":null,\"requests\":71,"
               "\"lat_ns_mean\":98591.54929577465,\"lat_ns_sum\":7000000}]");
  expect_count (report, "/layers/0/ops/write/sequential_ios", 1200);
  expect_count (report, "/layers/0/ops/flush/busy_ns", 1021 * MS);
  expect_count (report, "/layers/0/ops/flush/in_flight/now", 2);
  expect_json (report, "/layers/0/ops/extents/returned",
               "{\"extents\":37,\"data_bytes\":1224065024,"
               "\"hole_bytes\":5218762752,\"zero_bytes\":512}");
  assert_false (has (report, "/layers/0/ops/read/returned"));
  json_object_put (report);
}

static void
test_nothing_measured (void **state)
{
  struct recorder_totals layer = { .unrecorded = 0 };
  struct snapshot snapshot = {
    .nbdkit_version = "", .nr_layers = 1, .layers = &layer,
  };
  struct json_object *report = report_of (&snapshot, NULL);
  char path[100];

  (void) state;
  expect_text (report, "/time", "1970-01-01T00:00:00.000000Z");
  expect_count (report, "/elapsed_ns", 0);
  expect_json (report, "/layers/0/in_flight",
               "{\"mean\":null,\"max\":0,\"now\":0,\"ns\":0}");
  expect_json (report, "/layers/0/connections/open_ns",
               "{\"sum\":0,\"mean\":null,\"max\":null}");
  expect_json (report, "/layers/0/exports", "[]");
  expect_json (report, "/diagnosis", "[]");
  expect_json (report, "/layers/0/gaps",
               "{\"sum\":0,\"min\":null,\"max\":null,\"mean\":null,"
               "\"stddev\":null,\"count\":0,\"percentile\":{},"
               "\"bins\":{},\"overflow\":0,\"sum_squares\":0,"
               "\"longest\":[]}");
  for (unsigned op = 0; op < NR_OPS; op++) {
    snprintf (path, sizeof path, "/layers/0/ops/%s", op_name (op));
    if (op == OP_EXTENTS)
      json_object_object_del (at (report, path), "returned");
    expect_json (report, path,
      "{\"total_ios\":0,\"io_bytes\":0,\"busy_ns\":0,\"bw_bytes\":null,"
      "\"active_bw_bytes\":null,\"busy_bw_bytes\":null,\"iops\":null,"
      "\"active_iops\":null,"
      "\"failed\":{\"total\":0,\"ns\":0,\"longest_ns\":null,"
      "\"by_errno\":{}},"
      "\"lat_ns\":{\"min\":null,\"max\":null,\"mean\":null,\"stddev\":null,"
      "\"N\":0,\"percentile\":{},\"bins\":{},\"overflow\":0,"
      "\"sum_squares\":0,\"sum\":0},"
      "\"in_flight\":{\"mean\":null,\"max\":0,\"now\":0,\"ns\":0},"
      "\"depths\":[],\"sizes\":[],"
      "\"alignment\":{\"offset\":[],\"length\":[],\"misaligned\":0},"
      "\"block_fit\":null,"
      "\"sequential_ios\":0,\"small_sequential_ios\":0,"
      "\"overlapped_ios\":0,\"flags\":{\"fua\":0,\"may_trim\":0,"
      "\"fast_zero\":0,\"req_one\":0},"
      "\"fast_zero_refused\":{\"total\":0,\"ns\":0},\"zero_bytes\":null,"
      "\"slowest\":[]}");
  }
  json_object_put (report);
}

static void
test_no_layer (void **state)
{
  struct snapshot snapshot = snapshot_of (NULL, 0);
  struct json_object *report = report_of (&snapshot, NULL);

  (void) state;
  expect_json (report, "/layers", "[]");
  expect_count (report, "/busy_ns", 0);
  json_object_put (report);
}

/* All that can be 2^64 - 1 is: no figure is negative, or a power of ten
 * that is no number of requests.
 */
static void
test_largest (void **state)
{
  struct recorder_totals layer = conversion ();
  struct snapshot snapshot = snapshot_of (&layer, 1);
  struct json_object *report;
  char *text;

  (void) state;
  snapshot.elapsed_ns = UINT64_MAX;
  snapshot.block = UINT64_MAX;
  snapshot.zero = true;
  layer.unrecorded = UINT64_MAX;
  memset (layer.time.op_busy_ns, 0xff, sizeof layer.time.op_busy_ns);
  memset (layer.time.in_flight, 0xff, sizeof layer.time.in_flight);
  memset (layer.time.depths, 0xff, sizeof layer.time.depths);
  for (unsigned op = 0; op < NR_OPS; op++) {
    memset (&layer.ops[op].tally, 0xff, sizeof layer.ops[op].tally);
    memset (&layer.ops[op].extremes, 0xff, sizeof layer.ops[op].extremes);
    layer.ops[op].failures.by_errno[0] = (struct failure) {
      UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
    };
  }

  text = text_of (&snapshot, NULL);
  assert_null (strstr (text, ":-"));
  free (text);
  report = report_of (&snapshot, NULL);
  expect_count (report, "/elapsed_ns", UINT64_MAX);
  expect_count (report, "/layers/0/unrecorded", UINT64_MAX);
  expect_count (report, "/layers/0/ops/read/total_ios", UINT64_MAX);
  expect_count (report, "/layers/0/ops/read/lat_ns/max", UINT64_MAX);
  expect_count (report, "/layers/0/ops/read/lat_ns/overflow", UINT64_MAX);
  expect_count (report, "/layers/0/ops/read/lat_ns/bins/0", UINT64_MAX);
  expect_count (report, "/layers/0/ops/read/lat_ns/bins/4363686772736",
                UINT64_MAX);
  expect_real (report, "/layers/0/ops/read/lat_ns/mean", 1);
  expect_count (report, "/layers/0/ops/read/block_fit/by_touched/more",
                UINT64_MAX);
  expect_count (report, "/layers/0/ops/write/zero_bytes", UINT64_MAX);
  expect_real (report, "/layers/0/ops/write/busy_bw_bytes", 1e9);
  expect_count (report, "/layers/0/ops/write/in_flight/now", UINT32_MAX);
  expect_count (report, "/layers/0/ops/zero/failed/by_errno/"
                        "18446744073709551615/ns", UINT64_MAX);
  expect_count (report, "/layers/0/ops/trim/alignment/offset/63/align",
                UINT64_C (1) << 63);
  expect_count (report, "/layers/0/ops/trim/alignment/offset/64/align", 0);
  expect_count (report, "/layers/0/ops/trim/alignment/length/31/align",
                UINT64_C (1) << 31);
  expect_count (report, "/layers/0/ops/trim/alignment/length/32/align", 0);
  expect_count (report, "/layers/0/ops/trim/sizes/32/from",
                UINT64_C (1) << 31);
  expect_count (report, "/layers/0/ops/trim/sizes/32/to", UINT32_MAX);
  expect_count (report, "/layers/0/ops/read/slowest/9/offset", UINT64_MAX);
  json_object_put (report);
}

static void
test_only_failures (void **state)
{
  struct recorder_totals layer = { .time.request_busy_ns = 3 * S };
  struct snapshot snapshot = snapshot_of (&layer, 1);
  struct failures *failures = &layer.ops[OP_READ].failures;
  struct json_object *report;

  (void) state;
  layer.time.op_busy_ns[OP_READ] = 2 * S;
  layer.time.in_flight_ns[OP_READ] = 6 * S;
  failures_count (failures, EIO, 1 * S);
  failures_count (failures, ENOSPC, 2 * S);
  failures_count (failures, EIO, 3 * S);
  failures->by_errno[2].error = EPERM;  /* as where an interval had none */
  report = report_of (&snapshot, NULL);
  expect_json (report, "/layers/0/ops/read/failed",
               "{\"total\":3,\"ns\":6000000000,\"longest_ns\":3000000000,"
               "\"by_errno\":{"
               "\"EIO\":{\"total\":2,\"ns\":4000000000,"
               "\"longest_ns\":3000000000},"
               "\"ENOSPC\":{\"total\":1,\"ns\":2000000000,"
               "\"longest_ns\":2000000000}}}");
  expect_count (report, "/layers/0/ops/read/total_ios", 0);
  expect_json (report, "/layers/0/ops/read/bw_bytes", "0");
  expect_json (report, "/layers/0/ops/read/iops", "0");
  expect_null (report, "/layers/0/ops/read/lat_ns/mean");
  expect_json (report, "/layers/0/ops/read/lat_ns/percentile", "{}");
  expect_json (report, "/layers/0/ops/read/in_flight/mean", "3");
  expect_json (report, "/layers/0/in_flight/mean", "2");
  json_object_put (report);
}

/* All errnos that there can be, some without a name, and what is none. */
static void
test_many_errors (void **state)
{
  struct recorder_totals layer = { .unrecorded = 0 };
  struct snapshot snapshot = snapshot_of (&layer, 1);
  struct json_object *report;

  (void) state;
  for (unsigned error = 0; error < NR_ERRNOS; error++)
    failures_count (&layer.ops[OP_TRIM].failures, error, 1);
  report = report_of (&snapshot, NULL);
  expect_count (report, "/layers/0/ops/trim/failed/total",
                NR_ERRNOS);
  expect_count (report, "/layers/0/ops/trim/failed/by_errno/250/total", 1);
  expect_count (report, "/layers/0/ops/trim/failed/by_errno/EPERM/total", 1);
  expect_count (report, "/layers/0/ops/trim/failed/by_errno/other/total", 1);
  json_object_put (report);
}

static void
test_latency (void **state)
{
  struct recorder_totals layer = { .unrecorded = 0 };
  struct snapshot snapshot = snapshot_of (&layer, 1);
  struct op_totals *op = &layer.ops[OP_READ];
  struct json_object *report;

  (void) state;
  record_latencies (op, 100);
  record (op, &(struct record) { .begin = 101 * S }, UINT64_C (1) << 42, 0);
  report = report_of (&snapshot, NULL);
  expect_keys (report, "/layers/0/ops/read/lat_ns",
               " min max mean stddev N percentile bins overflow"
               " sum_squares sum");
  expect_count (report, "/layers/0/ops/read/lat_ns/min", 1000);
  expect_count (report, "/layers/0/ops/read/lat_ns/max",
                UINT64_C (1) << 42);
  expect_count (report, "/layers/0/ops/read/lat_ns/N", 101);
  expect_count (report, "/layers/0/ops/read/lat_ns/overflow", 1);
  expect_count (report, "/layers/0/ops/read/lat_ns/bins/1000", 1);
  expect_real (report, "/layers/0/ops/read/lat_ns/mean",
               (5050000 + 4398046511104.) / 101);
  expect_real (report, "/layers/0/ops/read/lat_ns/stddev",
               extremes_stddev (&op->extremes, 101, op->tally.latency_ns));
  expect_keys (report, "/layers/0/ops/read/lat_ns/percentile",
               " 1.000000 5.000000 10.000000 20.000000 30.000000 40.000000"
               " 50.000000 60.000000 70.000000 80.000000 90.000000 95.000000"
               " 99.000000 99.500000 99.900000 99.950000 99.990000");
  expect_count (report, "/layers/0/ops/read/lat_ns/percentile/99.500000",
                UINT64_C (1) << 42);
  expect_count (report, "/layers/0/ops/read/lat_ns/percentile/90.000000",
                op_percentile (op, 90000));
  json_object_put (report);
}

static void
test_slowest (void **state)
{
  struct recorder_totals layer = { .unrecorded = 0 };
  struct snapshot snapshot = snapshot_of (&layer, 1);
  struct json_object *report;

  (void) state;
  record_latencies (&layer.ops[OP_CACHE], 2);
  report = report_of (&snapshot, NULL);
  expect_json (report, "/layers/0/ops/cache/slowest",
               "[{\"size\":4096,\"offset\":8192,\"latency_ns\":2000,"
               "\"begin_ns\":2000000},"
               "{\"size\":4096,\"offset\":4096,\"latency_ns\":1000,"
               "\"begin_ns\":1000000}]");
  json_object_put (report);
}

static void
test_account (void **state)
{
  struct recorder_totals layer = { .time.account = {
    [OP_READ] = 1, [OP_FLUSH] = 1021 * MS, [ACCOUNT_OPENING] = 3,
    [ACCOUNT_SEVERAL] = 4, [ACCOUNT_WAITING] = UINT64_MAX,
    [ACCOUNT_NO_CLIENT] = 6,
  } };
  struct snapshot snapshot = snapshot_of (&layer, 1);
  struct json_object *report = report_of (&snapshot, NULL);

  (void) state;
  expect_json (report, "/layers/0/account",
               "{\"read\":1,\"write\":0,\"trim\":0,\"zero\":0,"
               "\"extents\":0,\"cache\":0,\"flush\":1021000000,"
               "\"opening\":3,\"several\":4,"
               "\"waiting\":18446744073709551615,\"no_client\":6}");
  json_object_put (report);
}

/* Three stalls and many short pauses. */
static void
test_gaps (void **state)
{
  struct recorder_totals layer = { .unrecorded = 0 };
  struct snapshot snapshot = snapshot_of (&layer, 1);
  struct op_totals *gaps = &layer.time.gaps;
  struct json_object *report;

  (void) state;
  for (unsigned i = 0; i < 97; i++)
    record (gaps, &(struct record) { .begin = 100 * S }, 100, 0);
  for (unsigned i = 1; i <= 3; i++)
    record (gaps, &(struct record) { .begin = 100 * S + i * MS }, i * S, 0);
  report = report_of (&snapshot, NULL);
  expect_keys (report, "/layers/0/gaps",
               " sum min max mean stddev count percentile bins overflow"
               " sum_squares longest");
  expect_count (report, "/layers/0/gaps/count", 100);
  expect_count (report, "/layers/0/gaps/sum", 6 * S + 9700);
  expect_count (report, "/layers/0/gaps/min", 100);
  expect_count (report, "/layers/0/gaps/max", 3 * S);
  expect_real (report, "/layers/0/gaps/mean", (6e9 + 9700) / 100);
  expect_count (report, "/layers/0/gaps/percentile/50.000000", 100);
  expect_count (report, "/layers/0/gaps/bins/100", 97);
  assert_int_equal (json_object_array_length (at (report,
                                                  "/layers/0/gaps/longest")),
                    NR_SLOWEST);
  expect_json (report, "/layers/0/gaps/longest/0",
               "{\"begin_ns\":3000000,\"ns\":3000000000}");
  expect_json (report, "/layers/0/gaps/longest/2",
               "{\"begin_ns\":1000000,\"ns\":1000000000}");
  json_object_put (report);
}

static void
test_breakdowns (void **state)
{
  struct recorder_totals layer = { .unrecorded = 0 };
  struct snapshot snapshot = snapshot_of (&layer, 1);
  struct op_totals *write = &layer.ops[OP_WRITE];
  struct json_object *report;

  (void) state;
  snapshot.block = 4096;
  snapshot.zero = true;
  record (write, &(struct record) { .count = 4096, .flags = 1 << FLAG_FUA },
          10, 4096);
  record (write, &(struct record) { .offset = 4096, .count = 5000,
                                     .zero_bytes = 99 }, 20, 4096);
  record (write, &(struct record) { .offset = 4095, .count = 2 }, 50, 4096);
  record (write, &(struct record) { .count = 0 }, 50, 4096);
  write->tally.misaligned = 2;
  layer.time.size_depths[OP_WRITE][2][1] = (struct depth_class) { 1, 50 };
  report = report_of (&snapshot, NULL);
  expect_json (report, "/layers/0/ops/write/sizes",
               "[{\"from\":0,\"to\":0,\"requests\":1,\"bytes\":0,"
               "\"lat_ns_mean\":50,\"lat_ns_sum\":50,\"depths\":[]},"
               "{\"from\":2,\"to\":3,\"requests\":1,\"bytes\":2,"
               "\"lat_ns_mean\":50,\"lat_ns_sum\":50,"
               "\"depths\":[{\"from\":2,\"to\":2,\"requests\":1,"
               "\"lat_ns_mean\":50,\"lat_ns_sum\":50}]},"
               "{\"from\":4096,\"to\":8191,\"requests\":2,\"bytes\":9096,"
               "\"lat_ns_mean\":15,\"lat_ns_sum\":30,\"depths\":[]}]");
  expect_json (report, "/layers/0/ops/write/alignment",
               "{\"offset\":[{\"align\":1,\"requests\":1},"
               "{\"align\":4096,\"requests\":1},"
               "{\"align\":0,\"requests\":2}],"
               "\"length\":[{\"align\":2,\"requests\":1},"
               "{\"align\":8,\"requests\":1},"
               "{\"align\":4096,\"requests\":1},"
               "{\"align\":0,\"requests\":1}],\"misaligned\":2}");
  expect_json (report, "/layers/0/ops/write/block_fit",
               "{\"block\":4096,\"aligned\":1,\"smaller\":1,\"touched\":5,"
               "\"by_touched\":{\"1\":1,\"2\":2,\"3\":0,\"more\":0}}");
  expect_json (report, "/layers/0/ops/write/flags",
               "{\"fua\":1,\"may_trim\":0,\"fast_zero\":0,\"req_one\":0}");
  expect_count (report, "/layers/0/ops/write/zero_bytes", 99);
  expect_null (report, "/layers/0/ops/read/zero_bytes");
  json_object_put (report);
}

/* A flush has no size and no place, so it is aligned to nothing. */
static void
test_flush_has_no_size (void **state)
{
  struct recorder_totals layer = { .unrecorded = 0 };
  struct snapshot snapshot = snapshot_of (&layer, 1);
  struct json_object *report;

  (void) state;
  snapshot.block = 4096;
  record (&layer.ops[OP_FLUSH], &(struct record) { .count = 0 }, 9, 4096);
  report = report_of (&snapshot, NULL);
  expect_count (report, "/layers/0/ops/flush/total_ios", 1);
  expect_json (report, "/layers/0/ops/flush/sizes", "[]");
  expect_json (report, "/layers/0/ops/flush/alignment",
               "{\"offset\":[],\"length\":[],\"misaligned\":0}");
  expect_null (report, "/layers/0/ops/flush/block_fit");
  json_object_put (report);
}

static void
test_flags (void **state)
{
  struct recorder_totals layer = { .unrecorded = 0 };
  struct snapshot snapshot = snapshot_of (&layer, 1);
  struct tally *tally = &layer.ops[OP_ZERO].tally;
  struct json_object *report;

  (void) state;
  tally->flags[FLAG_MAY_TRIM] = 1;
  tally->flags[FLAG_FUA] = 2;
  tally->flags[FLAG_REQ_ONE] = 3;
  tally->flags[FLAG_FAST_ZERO] = 4;
  tally->fast_zero_refused.requests = 5;
  tally->fast_zero_refused.ns = 6;
  report = report_of (&snapshot, NULL);
  expect_json (report, "/layers/0/ops/zero/flags",
               "{\"fua\":2,\"may_trim\":1,\"fast_zero\":4,\"req_one\":3}");
  expect_json (report, "/layers/0/ops/zero/fast_zero_refused",
               "{\"total\":5,\"ns\":6}");
  json_object_put (report);
}

static void
test_two_layers (void **state)
{
  static struct recorder_totals layers[2];
  struct snapshot snapshot = snapshot_of (layers, 2);
  struct json_object *report;

  (void) state;
  layers[0] = conversion ();
  layers[1] = conversion ();
  layers[1].ops[OP_WRITE].tally.requests = 2542;
  layers[1].time.busy_ns = layers[1].time.request_busy_ns = 1000 * MS;
  report = report_of (&snapshot, NULL);
  expect_count (report, "/busy_ns", 1390 * MS); /* nearest the client */
  expect_count (report, "/layers/0/layer", 1);
  expect_count (report, "/layers/1/layer", 2);
  expect_count (report, "/layers/1/busy_ns", 1000 * MS);
  expect_count (report, "/layers/0/ops/write/total_ios", 1271);
  expect_count (report, "/layers/1/ops/write/total_ios", 2542);
  assert_false (has (report, "/layers/2"));
  json_object_put (report);
}

/* What is cumulative has the values of a final report. */
static void
expect_part_of (struct json_object *part, struct json_object *whole)
{
  json_object_object_foreach (part, key, value) {
    struct json_object *in_whole;

    assert_true (json_object_object_get_ex (whole, key, &in_whole));
    if (strcmp (key, "layers") == 0) {
      assert_int_equal (json_object_array_length (value),
                        json_object_array_length (in_whole));
      for (size_t i = 0; i < json_object_array_length (value); i++)
        expect_part_of (json_object_array_get_idx (value, i),
                        json_object_array_get_idx (in_whole, i));
    }
    else if (json_object_is_type (value, json_type_object)
             && strcmp (key, "failed") != 0)
      expect_part_of (value, in_whole);
    else
      assert_true (json_object_equal (value, in_whole));
  }
}

/* An interval has what happened in it, and of that what there is so far. */
static void
test_interval (void **state)
{
  static struct recorder_totals now[2], in_between[2];
  struct snapshot snapshot = snapshot_of (now, 2);
  struct snapshot interval = snapshot_of (in_between, 2);
  struct json_object *report, *final;

  (void) state;
  make_rich (&now[0]);
  make_rich (&now[1]);
  interval.elapsed_ns = 100 * MS;
  in_between[0].time.busy_ns = in_between[0].time.request_busy_ns = 5 * MS;
  in_between[0].ops[OP_WRITE].tally = (struct tally) { .requests = 4,
                                                       .bytes = 4000 };
  now[0].time.account[OP_WRITE] = 9 * MS;
  now[0].time.account[OP_READ] = 9 * MS;
  now[0].time.account[ACCOUNT_WAITING] = 90 * MS;
  in_between[0].time.account[OP_WRITE] = 5 * MS;
  in_between[0].time.account[ACCOUNT_WAITING] = 95 * MS;
  in_between[0].time.gaps.tally.requests = 2;
  in_between[0].connections = now[0].connections;
  in_between[0].connections.exports[0].opens = (struct opens) { 0 };
  in_between[0].connections.exports[1].opens = (struct opens) { .failed = 1 };
  in_between[0].connections.other_exports = (struct opens) { .failed = 2 };
  in_between[0].by_export.only = 1;
  report = report_of (&snapshot, &interval);
  expect_keys (report, "",
               " schema type filter_version nbdkit_version plugin label"
               " pid start_time time headed elapsed_ns active_ns busy_ns layers"
               " cumulative");
  expect_text (report, "/type", "interval");
  expect_count (report, "/elapsed_ns", 100 * MS);
  expect_count (report, "/busy_ns", 5 * MS);
  expect_keys (report, "/layers/0/ops", " write");
  expect_count (report, "/layers/0/ops/write/total_ios", 4);
  expect_real (report, "/layers/0/ops/write/bw_bytes", 40000);
  expect_count (report, "/layers/0/exports/0/failed", 1);
  expect_count (report, "/layers/0/exports/0/ops/write/total_ios", 4);
  expect_json (report, "/layers/0/exports/0/ops/write/lat_ns/percentile",
               "{}");
  assert_false (has (report, "/layers/0/exports/1"));
  expect_json (report, "/layers/1/ops", "{}");
  expect_json (report, "/layers/1/exports", "[]");
  expect_count (report, "/layers/0/other_exports/failed", 2);
  assert_false (has (report, "/layers/1/other_exports"));
  expect_json (report, "/layers/0/account",
               "{\"write\":5000000,\"waiting\":95000000}");
  expect_count (report, "/layers/0/gaps/count", 2);
  expect_json (report, "/layers/1/account", "{}");
  assert_false (has (report, "/layers/1/gaps"));

  expect_keys (report, "/cumulative",
               " elapsed_ns active_ns busy_ns layers");
  expect_keys (report, "/cumulative/layers/0",
               " layer busy_ns request_busy_ns open_busy_ns waiting_ns"
               " active_ns account ops");
  expect_keys (report, "/cumulative/layers/0/ops", " write");
  expect_json (report, "/cumulative/layers/0/account",
               "{\"write\":9000000,\"waiting\":90000000}");
  expect_keys (report, "/cumulative/layers/0/ops/write",
               " total_ios io_bytes busy_ns failed");
  expect_json (report, "/cumulative/layers/1/ops", "{}");
  final = report_of (&snapshot, NULL);
  expect_part_of (at (report, "/cumulative"), final);
  json_object_put (final);
  json_object_put (report);
}

/* Requests by export: of the only one what the layer has, and of several what
 * each has; what is not known is empty.
 */
static void
test_by_export (void **state)
{
  static struct recorder_totals layer;
  struct snapshot snapshot = snapshot_of (&layer, 1);
  struct json_object *report;

  (void) state;
  make_rich (&layer);
  report = report_of (&snapshot, NULL);
  expect_count (report, "/layers/0/exports/0/ops/read/total_ios", 12);
  expect_json (report, "/layers/0/exports/1/ops", "{}");
  expect_json (report, "/layers/0/other_exports/ops", "{}");
  expect_count (report, "/layers/0/exports/0/ops/read/lat_ns/percentile/"
                "99.000000", op_percentile (&layer.ops[OP_READ], 99000));
  json_object_put (report);

  layer.by_export.only = PLACE_OF_SEVERAL;
  layer.by_export.ops[1][OP_FLUSH] = (struct export_op) {
    .requests = 3, .bytes = 4, .latency_ns = 6, .failed = 7, .busy_ns = 8,
    .p99_ns = 9,
  };
  layer.by_export.ops[PLACE_OF_OTHERS][OP_READ] = (struct export_op) {
    .failed = 1, .busy_ns = 5,
  };
  report = report_of (&snapshot, NULL);
  expect_json (report, "/layers/0/exports/0/ops", "{}");
  expect_json (report, "/layers/0/exports/1/ops",
               "{\"flush\":{\"total_ios\":3,\"io_bytes\":4,\"busy_ns\":8,"
               "\"failed\":7,\"lat_ns\":{\"sum\":6,\"mean\":2,"
               "\"percentile\":{\"99.000000\":9}}}}");
  expect_json (report, "/layers/0/other_exports/ops",
               "{\"read\":{\"total_ios\":0,\"io_bytes\":0,\"busy_ns\":5,"
               "\"failed\":1,\"lat_ns\":{\"sum\":0,\"mean\":null,"
               "\"percentile\":{}}}}");
  json_object_put (report);
}

/* Whatever there was before, where nothing happens little is told. */
static void
test_idle_interval (void **state)
{
  static struct recorder_totals now, nothing;
  struct snapshot snapshot = snapshot_of (&now, 1);
  struct snapshot interval = snapshot_of (&nothing, 1);
  char *text;

  (void) state;
  make_rich (&now);
  nothing.connections = now.connections;
  for (unsigned i = 0; i < now.connections.nr_exports; i++)
    nothing.connections.exports[i].opens = (struct opens) { 0 };
  text = text_of (&snapshot, &interval);
  assert_in_range (strlen (text), 500, 1000);
  free (text);
  json_object_put (report_of (&snapshot, &interval));
}

static void
test_export_names (void **state)
{
  static struct recorder_totals layer;
  static char longest[4096 + 1], bad[4096 + 1], control[4096 + 1];
  char replaced[3 * 4096 + 1];
  const struct {
    const char *name, *expected;
  } table[] = {
    { "", NULL },
    { "say \"disk\"", NULL },
    { "C:\\disks\\a", NULL },
    { "a/b", NULL },
    { "two\nlines\r\n\ttab\b\f\x1b[31m\x7f", NULL },
    { "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xe2\x80\xa8", NULL },
    { "\xff\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
    { "cut \xe2\x82", "cut \xef\xbf\xbd" },
    { longest, NULL },
    { control, NULL },
    { bad, replaced },
  };
  const unsigned n = LENGTH (table);
  struct snapshot snapshot = snapshot_of (&layer, 1);
  struct json_object *report;
  char path[64];

  (void) state;
  memset (longest, 'x', sizeof longest - 1);
  memset (control, '\x1f', sizeof control - 1);
  memset (bad, 0xff, sizeof bad - 1);
  for (size_t i = 0; i < sizeof replaced - 1; i++)
    replaced[i] = "\xef\xbf\xbd"[i % 3];
  replaced[sizeof replaced - 1] = '\0';
  layer.connections.nr_exports = n;
  for (unsigned i = 0; i < n; i++)
    layer.connections.exports[i].name = (char *) table[i].name;

  report = report_of (&snapshot, NULL);
  for (unsigned i = 0; i < n; i++) {
    snprintf (path, sizeof path, "/layers/0/exports/%u/name", i);
    expect_text (report, path, table[i].expected ? table[i].expected
                                                   : table[i].name);
  }
  json_object_put (report);
}

/* Whatever is found, the JSON tells the same. */
static void
test_diagnosis (void **state)
{
  struct recorder_totals layer = conversion ();
  struct snapshot snapshot = snapshot_of (&layer, 1);
  struct finding findings[MAX_FINDINGS] = { { .code = NULL } };
  const size_t n = diagnose (&snapshot, findings);
  struct json_object *report = report_of (&snapshot, NULL);
  char path[100];

  (void) state;
  assert_int_not_equal (n, 0);
  assert_int_equal (json_object_array_length (at (report, "/diagnosis")), n);
  for (size_t i = 0; i < n; i++) {
    snprintf (path, sizeof path, "/diagnosis/%zu", i);
    expect_keys (report, path, " code text layer op numbers");
    snprintf (path, sizeof path, "/diagnosis/%zu/code", i);
    expect_text (report, path, findings[i].code);
    snprintf (path, sizeof path, "/diagnosis/%zu/text", i);
    expect_text (report, path, findings[i].text);
    snprintf (path, sizeof path, "/diagnosis/%zu/layer", i);
    expect_count (report, path, 1);
    snprintf (path, sizeof path, "/diagnosis/%zu/op", i);
    if (findings[i].op)
      expect_text (report, path, findings[i].op);
    else
      expect_null (report, path);
    for (unsigned k = 0; k < FINDING_NUMBERS; k++) {
      if (findings[i].numbers[k].name == NULL)
        continue;
      snprintf (path, sizeof path, "/diagnosis/%zu/numbers/%s", i,
                findings[i].numbers[k].name);
      expect_real (report, path, findings[i].numbers[k].value);
    }
  }
  json_object_put (report);
}

/* It needs no memory of its own, so it says all without.  In the C locale,
 * as reports are: in another the C library looks for translations.
 */
static void
test_no_memory (void **state)
{
  const locale_t c_locale = newlocale (LC_ALL_MASK, "C", (locale_t) 0);
  const locale_t old_locale = uselocale (c_locale);
  static struct recorder_totals layer;
  static char room[1 << 20], buffer[1 << 20];
  struct snapshot snapshot = snapshot_of (&layer, 1);
  FILE *fp = fmemopen (room, sizeof room, "w");
  char *text;

  (void) state;
  assert_non_null (fp);
  assert_int_equal (setvbuf (fp, buffer, _IOFBF, sizeof buffer), 0);
  make_rich (&layer);
  text = text_of (&snapshot, &snapshot);        /* once, for the time zone */
  number_allocations (1, ULONG_MAX);
  write_to (fp, &snapshot, &snapshot);
  assert_int_equal (stop_numbering (), 0);
  assert_int_equal (fclose (fp), 0);
  assert_string_equal (room, text);
  free (text);
  uselocale (old_locale);
  freelocale (c_locale);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_head),
    cmocka_unit_test (test_layer),
    cmocka_unit_test (test_worked_example),
    cmocka_unit_test (test_nothing_measured),
    cmocka_unit_test (test_no_layer),
    cmocka_unit_test (test_largest),
    cmocka_unit_test (test_only_failures),
    cmocka_unit_test (test_many_errors),
    cmocka_unit_test (test_latency),
    cmocka_unit_test (test_slowest),
    cmocka_unit_test (test_account),
    cmocka_unit_test (test_gaps),
    cmocka_unit_test (test_breakdowns),
    cmocka_unit_test (test_flush_has_no_size),
    cmocka_unit_test (test_flags),
    cmocka_unit_test (test_two_layers),
    cmocka_unit_test (test_interval),
    cmocka_unit_test (test_idle_interval),
    cmocka_unit_test (test_by_export),
    cmocka_unit_test (test_export_names),
    cmocka_unit_test (test_diagnosis),
    cmocka_unit_test (test_no_memory),
  };

  setlocale (LC_ALL, "");
  setenv ("TZ", "FAR-12:45", 1);        /* far from UTC, which reports have */
  return cmocka_run_group_tests (tests, NULL, NULL);
}
