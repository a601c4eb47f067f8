/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The text report of snapshots made by hand, letter by letter.
 *
 * A report begins with lines that people's scripts look for.  Tables follow
 * them, each after an empty line, and then the diagnosis, whose findings
 * are looked at in unit-diagnosis.c.
 */

#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "diagnosis.h"
#include "ops.h"
#include "report.h"
#include "snapshot.h"
#include "unit.h"

/* To be freed. */
static char *
text_as (const struct snapshot *snapshot, bool full, bool headed)
{
  char *text = NULL;
  size_t size = 0;
  FILE *fp = open_memstream (&text, &size);

  assert_non_null (fp);
  text_write (fp, &(struct report) {
    .now = snapshot, .full = full, .headed = headed,
  });
  assert_false (ferror (fp));
  assert_int_equal (fclose (fp), 0);
  assert_int_equal (strlen (text), size);
  return text;
}

static char *
text_of (const struct snapshot *snapshot, bool headed)
{
  return text_as (snapshot, true, headed);
}

/* text begins with these lines, and no more follow but after an empty
 * line.  Returns what follows.
 */
static const char *
expect_lines (const char *text, const char *lines)
{
  const size_t length = strlen (lines);

  if (strncmp (text, lines, length) != 0) /* shows both */
    assert_string_equal (text, lines);
  if (text[length] != '\0')
    assert_int_equal (text[length], '\n');
  return text + length;
}

/* No line ends in a blank, and none is longer than a terminal is wide but
 * that of extents, which has much to say, and those of operations that
 * were still in flight.
 */
static void
check_lines (const char *text)
{
  for (size_t n; *text; text += n + 1) {
    n = strcspn (text, "\n");
    if (n > 80 && strncmp (text, "extents: ", 9) != 0
        && strncmp (text + n - 9, "in flight", 9) != 0)
      fail_msg ("this line is too long:\n%.*s", (int) n, text);
    if (n > 0 && text[n - 1] == ' ')
      fail_msg ("this line ends in a blank:\n%.*s", (int) n, text);
  }
}

static void
expect_report (const struct snapshot *snapshot, const char *lines)
{
  char *text = text_of (snapshot, false);

  check_lines (text);
  expect_lines (text, lines);
  free (text);
}

/* Every word and number is one that a person and a program can read. */
static void
check_sane (const char *text)
{
  static const char *const words[] = { "nan", "inf", "infinity", "null" };

  assert_int_equal (text[strlen (text) - 1], '\n');
  for (const char *p = text; *p; p++) {
    const bool begins = p == text || !isalnum ((unsigned char) p[-1]);
    const size_t length = strcspn (p, " \n\t,.:;()%-/=");

    assert_true (*p == '\n' || isprint ((unsigned char) *p));
    if (*p == '-')
      assert_false (begins && isdigit ((unsigned char) p[1]));
    for (size_t i = 0; begins && i < LENGTH (words); i++)
      assert_false (length == strlen (words[i])
                    && strncasecmp (p, words[i], length) == 0);
  }
}

/* A disk of 6 GiB was converted.  The storage worked for 1.39 s of 2.1 s,
 * and most of that was flush.
 */
static struct recorder_totals
conversion (void)
{
  return (struct recorder_totals) {
    .ops = {
      [OP_WRITE].tally = { .requests = 1271, .bytes = 1224065024 },
      [OP_ZERO].tally = { .requests = 1027, .bytes = 5218762752 },
      [OP_EXTENTS].tally = {
        .requests = 1, .bytes = 2 * GiB,
        .extents = { .count = 37, .data = 1224065024, .hole = 5218762752 },
      },
      [OP_FLUSH].tally = { .requests = 2 },
    },
    .time = {
      .busy_ns = 1390 * MS, .request_busy_ns = 1390 * MS,
      .op_busy_ns = {
        [OP_WRITE] = 356 * MS,
        [OP_ZERO] = 13 * MS,
        [OP_EXTENTS] = 17000,
        [OP_FLUSH] = 1021 * MS,
      },
    },
  };
}

static void
test_worked_example (void **state)
{
  struct recorder_totals layer = conversion ();
  const struct snapshot snapshot = {
    .elapsed_ns = 2107 * MS, .nr_layers = 1, .layers = &layer,
  };

  (void) state;
  expect_report (&snapshot,
    "elapsed time: 2.107 s\n"
    "busy time: 1.390 s, 66.0% of elapsed\n"
    "bytes: read 0, written 1224065024, zeroed 5218762752, trimmed 0\n"
    "total: 2301 ops, 1.390 s, 1.14 GiB, 840 MiB/s op, 554 MiB/s total\n"
    "write: 1271 ops, 0.356 s, 1.14 GiB, 3.20 GiB/s op, 554 MiB/s total\n"
    "zero: 1027 ops, 0.013 s, 4.86 GiB, 374 GiB/s op, 2.31 GiB/s total\n"
    "extents: 1 ops, 0.000017 s, 2.00 GiB, 6.00 GiB returned, 1.14 GiB data,"
    " 4.86 GiB hole, 37 extents\n"
    "flush: 2 ops, 1.021 s\n");
}

/* When the first request came, and from there to the end of the last. */
static void
test_active (void **state)
{
  struct recorder_totals layer = conversion ();
  const struct snapshot snapshot = {
    .elapsed_ns = 2107 * MS, .start = 5000 * S,
    .nr_layers = 1, .layers = &layer,
  };
  char *text;

  (void) state;
  layer.time.first_begin = 5000 * S + 250 * MS;
  layer.time.last_end = 5002 * S;
  text = text_of (&snapshot, false);
  assert_non_null (
    strstr (text, "\nactive time: 1.750 s, first request after 0.250 s\n"));
  free (text);
}

/* All seven, in their order; each shows what its bytes are.  Ranges that
 * were zeroed, trimmed, asked about or cached are no data that moved.
 */
static void
test_all_operations (void **state)
{
  struct recorder_totals layer = {
    .ops = {
      [OP_READ].tally = { .requests = 3, .bytes = 3 * MiB },
      [OP_WRITE].tally = { .requests = 16, .bytes = 64 * KiB },
      [OP_TRIM].tally = { .requests = 8, .bytes = 32 * GiB },
      [OP_ZERO].tally = { .requests = 1, .bytes = 512 },
      [OP_EXTENTS].tally = {
        .requests = 2, .bytes = 4 * GiB,
        .extents = { .count = 5, .data = 1 * GiB, .hole = 512 * MiB,
                     .zero = 1536 * MiB },
      },
      [OP_CACHE].tally = { .requests = 4, .bytes = 4 * MiB },
      [OP_FLUSH].tally = { .requests = 1 },
    },
    .time = {
      .busy_ns = 2 * S, .request_busy_ns = 2 * S,
      .op_busy_ns = {
        [OP_READ] = 500 * MS, [OP_WRITE] = 250 * MS, [OP_TRIM] = 100 * MS,
        [OP_ZERO] = 1 * S, [OP_EXTENTS] = 1, [OP_CACHE] = 100000,
        [OP_FLUSH] = 7 * MS,
      },
    },
  };
  const struct snapshot snapshot = {
    .elapsed_ns = 4 * S, .nr_layers = 1, .layers = &layer,
  };

  (void) state;
  expect_report (&snapshot,
    "elapsed time: 4.000 s\n"
    "busy time: 2.000 s, 50.0% of elapsed\n"
    "bytes: read 3145728, written 65536, zeroed 512, trimmed 34359738368\n"
    "total: 35 ops, 2.000 s, 3.06 MiB, 1.53 MiB/s op, 784 KiB/s total\n"
    "read: 3 ops, 0.500 s, 3.00 MiB, 6.00 MiB/s op, 768 KiB/s total\n"
    "write: 16 ops, 0.250 s, 64.0 KiB, 256 KiB/s op, 16.0 KiB/s total\n"
    "trim: 8 ops, 0.100 s, 32.0 GiB, 320 GiB/s op, 8.00 GiB/s total\n"
    "zero: 1 ops, 1.000 s, 512 B, 512 B/s op, 128 B/s total\n"
    "extents: 2 ops, 0.000000001 s, 4.00 GiB, 3.00 GiB returned,"
    " 1.00 GiB data, 512 MiB hole, 1.50 GiB zero, 5 extents\n"
    "cache: 4 ops, 0.00010 s, 4.00 MiB, 39.1 GiB/s op, 1.00 MiB/s total\n"
    "flush: 1 ops, 0.0070 s\n");
}

/* Failures stand on their operation's line and add up in the total.  An
 * operation of which every request failed has a line, too.
 */
static void
test_failures (void **state)
{
  struct recorder_totals layer = {
    .ops = {
      [OP_WRITE] = {
        .tally = { .requests = 10, .bytes = 10 * MiB },
        .failures.by_errno = {
          { .error = EIO, .requests = 2, .ns = 30 * MS,
            .longest_ns = 20 * MS },
          { .error = ENOSPC, .requests = 1, .ns = 5 * MS,
            .longest_ns = 5 * MS },
        },
      },
      [OP_TRIM].failures.by_errno[0] = {
        .error = EIO, .requests = 4, .ns = 40 * MS, .longest_ns = 10 * MS,
      },
      [OP_FLUSH] = {
        .tally = { .requests = 1 },
        .failures.by_errno[MAX_FAILURES - 1] = {
          .error = FAILURE_OTHER, .requests = 1, .ns = MS, .longest_ns = MS,
        },
      },
    },
    .time = {
      .busy_ns = 500 * MS, .request_busy_ns = 500 * MS,
      .op_busy_ns = {
        [OP_WRITE] = 400 * MS, [OP_TRIM] = 40 * MS, [OP_FLUSH] = 100 * MS,
      },
    },
  };
  const struct snapshot snapshot = {
    .elapsed_ns = 1 * S, .nr_layers = 1, .layers = &layer,
  };

  (void) state;
  expect_report (&snapshot,
    "elapsed time: 1.000 s\n"
    "busy time: 0.500 s, 50.0% of elapsed\n"
    "bytes: read 0, written 10485760, zeroed 0, trimmed 0\n"
    "total: 11 ops, 0.500 s, 10.0 MiB, 20.0 MiB/s op, 10.0 MiB/s total,"
    " 8 failed\n"
    "write: 10 ops, 0.400 s, 10.0 MiB, 25.0 MiB/s op, 10.0 MiB/s total,"
    " 3 failed\n"
    "trim: 0 ops, 0.040 s, 0 B, 0 B/s op, 0 B/s total, 4 failed\n"
    "flush: 1 ops, 0.100 s, 1 failed\n");
}

/* A fast zero that was refused is no failure, but it took its time. */
static void
test_refused (void **state)
{
  struct recorder_totals layer = {
    .ops[OP_ZERO].tally.fast_zero_refused = { .requests = 5, .ns = MS },
    .time = { .busy_ns = MS, .request_busy_ns = MS, .op_busy_ns[OP_ZERO] = MS },
  };
  const struct snapshot snapshot = {
    .elapsed_ns = 1 * S, .nr_layers = 1, .layers = &layer,
  };

  (void) state;
  expect_report (&snapshot,
    "elapsed time: 1.000 s\n"
    "busy time: 0.0010 s, 0.1% of elapsed\n"
    "bytes: read 0, written 0, zeroed 0, trimmed 0\n"
    "total: 0 ops, 0.0010 s, 0 B, 0 B/s op, 0 B/s total\n"
    "zero: 0 ops, 0.0010 s, 0 B, 0 B/s op, 0 B/s total,"
    " 5 fast zeros refused\n");
}

/* Nor is a request forgotten that is still in flight at the end. */
static void
test_in_flight (void **state)
{
  struct recorder_totals layer = {
    .ops = {
      [OP_READ] = {
        .tally = { .requests = 2, .bytes = 2 * KiB },
        .failures.by_errno[0] = { .error = EIO, .requests = 1 },
      },
    },
    .time = {
      .busy_ns = 3 * S, .request_busy_ns = 3 * S,
      .op_busy_ns = { [OP_READ] = 1 * S, [OP_FLUSH] = 2 * S },
      .in_flight = { [OP_READ] = 16, [OP_FLUSH] = 1 },
    },
  };
  const struct snapshot snapshot = {
    .elapsed_ns = 3 * S, .nr_layers = 1, .layers = &layer,
  };

  (void) state;
  expect_report (&snapshot,
    "elapsed time: 3.000 s\n"
    "busy time: 3.000 s, 100.0% of elapsed\n"
    "bytes: read 2048, written 0, zeroed 0, trimmed 0\n"
    "total: 2 ops, 3.000 s, 2.00 KiB, 683 B/s op, 683 B/s total,"
    " 1 failed, 17 still in flight\n"
    "read: 2 ops, 1.000 s, 2.00 KiB, 2.00 KiB/s op, 683 B/s total,"
    " 1 failed, 16 still in flight\n"
    "flush: 0 ops, 2.000 s, 1 still in flight\n");
}

static void
test_headed (void **state)
{
  struct recorder_totals layer = { 0 };
  struct snapshot snapshot = {
    .start_time = { .tv_sec = 951782399, .tv_nsec = 999999999 },
    .time = { .tv_sec = 951782400, .tv_nsec = 999999999 },
    .pid = 4194304,
    .elapsed_ns = 1 * S, .nr_layers = 1, .layers = &layer,
  };
  char *text = text_of (&snapshot, true);

  (void) state;
  expect_lines (text,
    "report: 2000-02-29T00:00:00Z, pid 4194304\n"
    "elapsed time: 1.000 s\n"
    "busy time: 0.000 s, 0.0% of elapsed\n"
    "bytes: read 0, written 0, zeroed 0, trimmed 0\n"
    "total: 0 ops, 0.000 s, 0 B, 0 B/s op, 0 B/s total\n");
  free (text);

  snapshot.label = "copy 1\n";
  text = text_of (&snapshot, true);
  expect_lines (strchr (text, ','), ", pid 4194304, run copy 1?\n"
    "elapsed time: 1.000 s\n"
    "busy time: 0.000 s, 0.0% of elapsed\n"
    "bytes: read 0, written 0, zeroed 0, trimmed 0\n"
    "total: 0 ops, 0.000 s, 0 B, 0 B/s op, 0 B/s total\n");
  free (text);
}

/* Each layer of a stack has its own figures under its own heading. */
static void
test_layers (void **state)
{
  struct recorder_totals layers[] = {
    {
      .ops[OP_READ].tally = { .requests = 1, .bytes = 1 * MiB },
      .time = {
        .busy_ns = 1 * S, .request_busy_ns = 1 * S,
        .op_busy_ns[OP_READ] = 1 * S,
      },
    },
    {
      .ops[OP_READ].tally = { .requests = 256, .bytes = 1 * MiB },
      .time = {
        .busy_ns = 500 * MS, .request_busy_ns = 500 * MS,
        .op_busy_ns[OP_READ] = 500 * MS,
      },
    },
    { .unrecorded = 7 },
  };
  static const char *const expected[] = {
    "\nlayer 1 of 3, nearest the client\n"
    "busy time: 1.000 s, 50.0% of elapsed\n"
    "bytes: read 1048576, written 0, zeroed 0, trimmed 0\n"
    "total: 1 ops, 1.000 s, 1.00 MiB, 1.00 MiB/s op, 512 KiB/s total\n"
    "read: 1 ops, 1.000 s, 1.00 MiB, 1.00 MiB/s op, 512 KiB/s total\n",
    "\nlayer 2 of 3\n"
    "busy time: 0.500 s, 25.0% of elapsed\n"
    "bytes: read 1048576, written 0, zeroed 0, trimmed 0\n"
    "total: 256 ops, 0.500 s, 1.00 MiB, 2.00 MiB/s op, 512 KiB/s total\n"
    "read: 256 ops, 0.500 s, 1.00 MiB, 2.00 MiB/s op, 512 KiB/s total\n",
    "\nlayer 3 of 3, nearest the plugin\n"
    "busy time: 0.000 s, 0.0% of elapsed\n"
    "bytes: read 0, written 0, zeroed 0, trimmed 0\n"
    "total: 0 ops, 0.000 s, 0 B, 0 B/s op, 0 B/s total\n"
    "not recorded: 7 ops, for want of memory\n",
  };
  const struct snapshot snapshot = {
    .elapsed_ns = 2 * S, .nr_layers = 3, .layers = layers,
  };
  char *text = text_of (&snapshot, false);
  const char *rest = expect_lines (text, "elapsed time: 2.000 s\n");

  (void) state;
  for (unsigned i = 0; i < 3; i++) {
    const char *layer = strstr (rest, expected[i]);

    if (layer == NULL)          /* shows both */
      assert_string_equal (rest, expected[i]);
    rest = expect_lines (layer, expected[i]);
  }
  free (text);
}

/* The first block, the tables, for a lower layer what it had more than the
 * one above, and at last the diagnosis, each after an empty line.
 */
static void
test_parts (void **state)
{
  struct recorder_totals layers[2] = { conversion (), conversion () };
  const struct snapshot snapshot = {
    .elapsed_ns = 2107 * MS, .threshold = 95000, .nr_layers = 2,
    .layers = layers,
  };
  static const char *const parts[] = {
    "elapsed time: ", "\n\nlayer 1 of 2, nearest the client\nbusy time: ",
    "\n\nlatency ", "\n\nrequests ",
    "\n\nlayer 2 of 2, nearest the plugin\nbusy time: ",
    "\n\nlatency ", "\n\nrequests ",
    "\n\nfor each of the layer above  requests     bytes\n"
    "write                           2.000     1.000\n"
    "zero                            1.000     1.000\n"
    "extents                         1.000     1.000\n"
    "flush                           1.000\n",
    "\ndiagnosis\n- ",
  };
  char *text;
  const char *rest;

  (void) state;
  for (unsigned i = 0; i < 2; i++) {
    layers[i].time.first_begin = 1;
    layers[i].time.last_end = 1 + 2 * S;
  }
  layers[1].ops[OP_WRITE].tally.requests *= 2;
  rest = text = text_of (&snapshot, false);
  check_lines (text);
  for (size_t i = 0; i < LENGTH (parts); i++) {
    rest = strstr (rest, parts[i]);
    if (rest == NULL)
      fail_msg ("part %zu is missing or out of place in:\n%s", i, text);
    rest += strlen (parts[i]);
  }
  assert_null (strstr (rest, "\n\n"));
  free (text);
}

/* A layer with something for each table. */
static struct recorder_totals
with_all_tables (void)
{
  struct recorder_totals layer = conversion ();

  layer.time.most_in_flight = layer.time.op_most_in_flight[OP_WRITE] = 2;
  layer.ops[OP_WRITE].failures.by_errno[0] = (struct failure) {
    .error = EIO, .requests = 1, .ns = MS, .longest_ns = MS,
  };
  layer.ops[OP_WRITE].extremes.slowest[0].latency_ns = MS;
  layer.ops[OP_WRITE].tally.sizes[10].requests = 1271;
  layer.ops[OP_WRITE].tally.offset_alignment[10] = 1271;
  layer.connections.all.opened = 1;
  return layer;
}

/* The first words of all that stands behind an empty line. */
static void
expect_headings (const char *text, const char *const *headings, size_t nr)
{
  for (size_t i = 0; i < nr; i++) {
    const char *heading = strstr (text, "\n\n");

    if (heading == NULL
        || strncmp (heading + 2, headings[i], strlen (headings[i])) != 0)
      fail_msg ("\"%s\" does not come next in:\n%s", headings[i], text);
    text = heading + 2;
  }
  if (strstr (text, "\n\n"))
    fail_msg ("there is more than that:\n%s", text);
}

static void
test_detail (void **state)
{
  struct recorder_totals layers[2] = { with_all_tables (), conversion () };
  const struct snapshot snapshot = {
    .elapsed_ns = 2107 * MS, .threshold = 95000, .block = 4096,
    .nr_layers = 2, .layers = layers,
  };
  static const char *const brief[] = {
    "layer 1", "latency", "where the time went", "failures", "layer 2",
    "latency", "diagnosis",
  };
  static const char *const full[] = {
    "layer 1", "latency", "where the time went", "in flight",
    "mean latency by", "sizes", "aligned to", "block fit", "requests",
    "failures", "slowest", "openings",
    "layer 2", "latency", "sizes", "aligned to", "block fit", "requests",
    "for each", "diagnosis",
  };
  char *text;

  (void) state;
  layers[1].ops[OP_WRITE].tally.requests *= 2;
  layers[0].time.first_begin = 1;
  layers[0].time.last_end = 1 + 2 * S;
  layers[0].time.account[ACCOUNT_WAITING] = snapshot.elapsed_ns;
  text = text_as (&snapshot, false, false);
  check_lines (text);
  expect_headings (text, brief, LENGTH (brief));
  free (text);
  text = text_as (&snapshot, true, false);
  check_lines (text);
  expect_headings (text, full, LENGTH (full));
  free (text);
}

/* A line was broken as late as it could be: the next word did not fit. */
static void
check_breaks (const char *text)
{
  const char *next;

  for (; (next = strchr (text, '\n')) != NULL; text = next + 1) {
    if (strncmp (next, "\n  ", 3) == 0)
      assert_true (next - text + 1 + (long) strcspn (next + 3, " \n") > 80);
  }
}

/* Findings are broken into lines at blanks, and all their words are there,
 * and their codes; but those that explain next to nothing are not.
 */
static void
check_diagnosis (const struct snapshot *snapshot)
{
  struct finding findings[MAX_FINDINGS];
  const size_t nr = diagnose (snapshot, findings);
  char *text = text_of (snapshot, false), *lines;
  char expected[MAX_FINDINGS * (sizeof findings[0].text + 40)]
    = "diagnosis\n";

  for (size_t i = 0; i < nr; i++) {
    if (findings[i].kind == TIME && findings[i].weight < 1)
      continue;
    strcat (expected, "- ");
    strcat (expected, findings[i].text);
    strcat (expected, " [");
    strcat (expected, findings[i].code);
    strcat (expected, "]\n");
  }
  lines = strstr (text, "\n\ndiagnosis\n");
  assert_non_null (lines);
  lines += 2;
  check_lines (lines);
  check_breaks (lines);

  for (char *p = lines; (p = strstr (p, "\n  ")) != NULL; *p = ' ')
    memmove (p, p + 2, strlen (p + 2) + 1);
  assert_string_equal (lines, expected);
  free (text);
}

/* With numbers of all lengths, so that it is broken in many places. */
static void
test_diagnosis (void **state)
{
  struct recorder_totals layer = conversion ();
  const struct snapshot snapshot = {
    .elapsed_ns = 2107 * MS, .nr_layers = 1, .layers = &layer,
  };
  char *text;

  (void) state;
  layer.time.first_begin = 1;
  layer.time.last_end = 1 + 2 * S;
  layer.time.busy_ns = layer.time.request_busy_ns = 2 * S;
  for (uint64_t n = 1; n < UINT64_MAX / 10; n *= 10) {
    layer.unrecorded = layer.connections.all.failed = n;
    layer.time.in_flight[OP_READ] = (unsigned) (n % UINT32_MAX);
    layer.ops[OP_WRITE].failures.by_errno[0] = (struct failure) {
      .error = EIO, .requests = n,
    };
    check_diagnosis (&snapshot);
  }

  /* A flush of 0.9 % of the time, and of 1.1 %. */
  layer.time.busy_ns = layer.time.request_busy_ns = 40 * MS;
  for (unsigned ms = 19; ms <= 23; ms += 4) {
    layer.time.op_busy_ns[OP_FLUSH] = ms * MS;
    layer.time.account[OP_FLUSH] = ms * MS;
    check_diagnosis (&snapshot);
    text = text_of (&snapshot, false);
    assert_int_equal (strstr (text, " [flush]\n") != NULL, ms == 23);
    free (text);
  }
}

/* Rows while the server runs: rates of the interval, the time of the run. */

static char *
row_of (const struct snapshot *interval, const struct snapshot *now,
        const struct report *how)
{
  struct report report = *how;
  char *text = NULL;
  size_t size = 0;
  FILE *fp = open_memstream (&text, &size);

  report.now = now;
  report.interval = interval;
  text_write_row (fp, &report);
  assert_int_equal (fclose (fp), 0);
  check_lines (text);
  return text;
}

static void
all_took (struct op_totals *op, uint64_t ns)
{
  op->tally.bins[histogram_bin (ns)] = op->tally.requests;
  op->extremes.min_ns = op->extremes.max_ns = ns;
}

static const char row_header[] =
  "UTC     seconds  read   B/s write   B/s  zero  trim flush fail busy depth"
  "    p99\n";

static void
test_rows (void **state)
{
  static const char head[] = "report: 2000-02-29T12:34:56Z, pid 77\n";
  static const char busy_row[] =
    "12:34:56 123.46 1.50k 93.8M    50 1.00G  0.50     0  3.50    3   75   3.0"
    " 5.00ms\n";
  static const char idle_row[] =
    "12:34:56   0.50     0    0B     0    0B     0     0     0    0    0   0.0"
    "      -\n";
  struct recorder_totals layer = {
    .ops = {
      [OP_READ].tally = { .requests = 3000, .bytes = 3000 * 64 * KiB },
      [OP_WRITE].tally = { .requests = 100, .bytes = 2 * GiB },
      [OP_ZERO].tally = { .requests = 1, .bytes = 1 * KiB },
      [OP_FLUSH].tally = { .requests = 7 },
      [OP_WRITE].failures.by_errno[0] = { .error = EIO, .requests = 1 },
      [OP_CACHE].failures.by_errno[0] = { .error = EIO, .requests = 2 },
    },
    .time = { .busy_ns = 1500 * MS, .request_busy_ns = 1500 * MS,
              .in_flight_ns = { [OP_READ] = 4 * S, [OP_FLUSH] = 500 * MS } },
  };
  struct recorder_totals nothing = { .unrecorded = 0 };
  struct snapshot interval = {
    .elapsed_ns = 2 * S, .nr_layers = 1, .layers = &layer,
  };
  struct snapshot now = {
    .elapsed_ns = 123456 * MS, .time = { .tv_sec = 951782400 + 45296 },
    .pid = 77, .nr_layers = 1, .layers = &layer,
  };
  char *text, expected[300];

  (void) state;
  all_took (&layer.ops[OP_READ], MS);
  all_took (&layer.ops[OP_WRITE], 5 * MS);
  all_took (&layer.ops[OP_ZERO], 2 * MS);
  all_took (&layer.ops[OP_FLUSH], MS);
  for (unsigned row = 0; row <= 40; row++) {
    text = row_of (&interval, &now, &(struct report) {
      .intervals = row, .headed = row >= 33, .at_top = row == 33,
    });
    snprintf (expected, sizeof expected, "%s%s%s",
              row == 33 || row == 40 ? head : "",
              row % 20 == 0 || row == 33 ? row_header : "", busy_row);
    assert_string_equal (text, expected);
    free (text);
  }

  /* Nothing happened, and in no time at all. */
  interval.layers = &nothing;
  now.elapsed_ns = 500 * MS;
  for (unsigned stopped = 0; stopped <= 1; stopped++) {
    interval.elapsed_ns = stopped ? 0 : 2 * S;
    text = row_of (&interval, &now, &(struct report) { .intervals = 1 });
    assert_string_equal (text, idle_row);
    free (text);
  }
}

/* As wide as ever, and no two figures touch: as many words as columns. */
static void
expect_columns (const struct snapshot *interval, const struct snapshot *now)
{
  char *text = row_of (interval, now, &(struct report) { .intervals = 1 });
  unsigned words = 0;

  assert_int_equal (strlen (text), 81);
  for (char *word = strtok (text, " \n"); word; word = strtok (NULL, " \n"))
    words++;
  assert_int_equal (words, 13);
  free (text);
}

/* A layer in which all that a row tells is as large as this. */
static void
fill_layer (struct recorder_totals *layer, uint64_t count, uint64_t ns,
            uint64_t depth)
{
  layer->time.busy_ns = layer->time.request_busy_ns = ns;
  for (unsigned op = 0; op < NR_OPS; op++) {
    struct op_totals *totals = &layer->ops[op];

    totals->tally.requests = totals->tally.bytes = count;
    totals->tally.bins[HISTOGRAM_ALL - 1] = count;
    totals->extremes.min_ns = totals->extremes.max_ns = ns;
    layer->time.in_flight_ns[op] = 0;
  }
  layer->ops[OP_READ].failures.by_errno[0].requests = count;
  layer->time.in_flight_ns[OP_READ] = ns < 1000 * S ? ns * depth : ns;
}

/* Each column at its largest value, and its smallest. */
static void
test_rows_extreme (void **state)
{
  static const struct { uint64_t elapsed_ns; const char *seconds; } times[] = {
    { 0, "   0.00" }, { 999990 * MS, " 999.99" }, { 999996 * MS, " 1000.0" },
    { 9999940 * MS, " 9999.9" }, { 9999960 * MS, "  10000" },
    { 999999 * S, " 999999" }, { 1000000 * S, "  1.00M" },
    { UINT64_MAX, "  18.4G" },
  };
  static const time_t clocks[] = { 0, -1, INT64_MIN, INT64_MAX };
  static const uint64_t counts[] = {
    1, 99, 1000, 9999, 10000, 999999, 1023 * KiB, UINT64_MAX / 1000,
    UINT64_MAX,
  };
  static const uint64_t spans[] = {
    1, 1023, MS, S, 3600 * S, 99999 * S, 1000000 * S, UINT64_MAX,
  };
  static const uint64_t depths[] = { 1, 99, 999, 1000, 9999, 99999, 1000000 };
  struct recorder_totals layer = { .unrecorded = 0 };
  struct snapshot interval = { .nr_layers = 1, .layers = &layer };
  struct snapshot now = { .nr_layers = 1, .layers = &layer };

  (void) state;
  assert_int_equal (strlen (row_header), 81);
  for (size_t i = 0; i < LENGTH (times); i++) {
    char *text;

    now.elapsed_ns = times[i].elapsed_ns;
    text = row_of (&interval, &now, &(struct report) { .intervals = 1 });
    assert_int_equal (strncmp (text + 8, times[i].seconds, 7), 0);
    free (text);
    expect_columns (&interval, &now);
  }
  for (size_t i = 0; i < LENGTH (clocks); i++) {
    now.time.tv_sec = clocks[i];
    expect_columns (&interval, &now);
  }
  for (size_t i = 0; i < LENGTH (counts); i++) {
    for (size_t j = 0; j < LENGTH (spans); j++) {
      for (size_t k = 0; k < LENGTH (depths); k++) {
        interval.elapsed_ns = spans[j];
        fill_layer (&layer, counts[i], spans[j], depths[k]);
        expect_columns (&interval, &now);
      }
    }
  }
}

/* The extremes.  Nothing is divided by 0, and what no longer fits is
 * still written as a number.
 */

static void
test_no_time (void **state)
{
  struct recorder_totals layer = {
    .ops = {
      [OP_READ].tally = { .requests = 1, .bytes = 4096 },
      [OP_FLUSH].tally = { .requests = 1 },
    },
  };
  const struct snapshot snapshot = { .nr_layers = 1, .layers = &layer };
  char *text = text_of (&snapshot, true);

  (void) state;
  check_sane (text);
  free (text);
  expect_report (&snapshot,
    "elapsed time: 0.000 s\n"
    "busy time: 0.000 s, 0.0% of elapsed\n"
    "bytes: read 4096, written 0, zeroed 0, trimmed 0\n"
    "total: 2 ops, 0.000 s, 4.00 KiB, 0 B/s op, 0 B/s total\n"
    "read: 1 ops, 0.000 s, 4.00 KiB, 0 B/s op, 0 B/s total\n"
    "flush: 1 ops, 0.000 s\n");
}

/* Nothing at all happened: a report all the same. */
static void
test_nothing (void **state)
{
  struct recorder_totals layers[2] = { 0 };
  struct snapshot snapshot = { .nr_layers = 1, .layers = layers };
  char *text;

  (void) state;
  expect_report (&snapshot,
    "elapsed time: 0.000 s\n"
    "busy time: 0.000 s, 0.0% of elapsed\n"
    "bytes: read 0, written 0, zeroed 0, trimmed 0\n"
    "total: 0 ops, 0.000 s, 0 B, 0 B/s op, 0 B/s total\n");
  for (snapshot.nr_layers = 0; snapshot.nr_layers <= 2;
       snapshot.nr_layers++) {
    text = text_of (&snapshot, true);
    check_sane (text);
    assert_null (strstr (text, "diagnosis"));
    free (text);
  }
}

static struct recorder_totals
all_at_most (void)
{
  struct recorder_totals layer = {
    .time = {
      .first_begin = 1, .last_end = UINT64_MAX, .busy_ns = UINT64_MAX,
      .request_busy_ns = UINT64_MAX,
    },
    .unrecorded = UINT64_MAX,
  };

  for (unsigned op = 0; op < NR_OPS; op++) {
    layer.ops[op] = (struct op_totals) {
      .tally = {
        .requests = UINT64_MAX, .bytes = UINT64_MAX,
        .latency_ns = UINT64_MAX,
        .extents = { .count = UINT64_MAX, .data = UINT64_MAX,
                     .hole = UINT64_MAX, .zero = UINT64_MAX },
      },
    };
    for (unsigned i = 0; i < MAX_FAILURES; i++)
      layer.ops[op].failures.by_errno[i] = (struct failure) {
        .error = i + 1, .requests = UINT64_MAX, .ns = UINT64_MAX,
        .longest_ns = UINT64_MAX,
      };
    layer.time.op_busy_ns[op] = UINT64_MAX;
    layer.time.in_flight[op] = UINT_MAX;
  }
  return layer;
}

/* The lines of operations may be long, all that follow them not. */
static void
check_tables (const char *text)
{
  for (text = strstr (text, "\n\n"); text; text = strstr (text, "\n\n")) {
    text += 2;
    if (strncmp (text, "layer ", 6) == 0)
      continue;
    for (size_t n; *text && *text != '\n'; text += n + 1) {
      n = strcspn (text, "\n");
      if (n > 80)
        fail_msg ("this line is too long:\n%.*s", (int) n, text);
    }
    text--;
  }
}

static void
test_huge (void **state)
{
  struct recorder_totals layers[] = { all_at_most (), all_at_most () };
  struct snapshot snapshot = {
    .elapsed_ns = UINT64_MAX, .nr_layers = 2, .layers = layers,
  };
  char *text;

  (void) state;
  text = text_of (&snapshot, true);
  check_sane (text);
  check_tables (text);
  assert_non_null (strstr (text, "elapsed time: 18446744073.710 s\n"));
  assert_non_null (
    strstr (text, "\nwrite: 18446744073709551615 ops, 18446744073.710 s, "
                  "16.0 EiB, 954 MiB/s op, 954 MiB/s total, "));
  free (text);

  /* The same in next to no time: rates beyond any unit. */
  for (unsigned i = 0; i < 2; i++) {
    layers[i].time.busy_ns = layers[i].time.request_busy_ns = 1;
    for (unsigned op = 0; op < NR_OPS; op++)
      layers[i].time.op_busy_ns[op] = 1;
  }
  snapshot.elapsed_ns = 1;
  text = text_of (&snapshot, false);
  check_sane (text);
  assert_non_null (
    strstr (text, "\nread: 18446744073709551615 ops, 0.000000001 s, "
                  "16.0 EiB, 14.9 RiB/s op, "));
  free (text);
}

/* Times that contradict each other, as no run would give them, do not turn
 * into ages.
 */
static void
test_odd_times (void **state)
{
  struct recorder_totals layer = conversion ();
  const struct snapshot snapshot = {
    .elapsed_ns = 1, .start = 5000 * S, .nr_layers = 1, .layers = &layer,
  };
  char *text;

  (void) state;
  layer.time.first_begin = 4999 * S;
  layer.time.last_end = 4998 * S;
  text = text_of (&snapshot, false);
  check_sane (text);
  assert_non_null (
    strstr (text, "\nactive time: 0.000 s, first request after 0.000 s\n"));
  free (text);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_worked_example),
    cmocka_unit_test (test_active),
    cmocka_unit_test (test_all_operations),
    cmocka_unit_test (test_failures),
    cmocka_unit_test (test_refused),
    cmocka_unit_test (test_in_flight),
    cmocka_unit_test (test_headed),
    cmocka_unit_test (test_layers),
    cmocka_unit_test (test_parts),
    cmocka_unit_test (test_detail),
    cmocka_unit_test (test_diagnosis),
    cmocka_unit_test (test_rows),
    cmocka_unit_test (test_rows_extreme),
    cmocka_unit_test (test_no_time),
    cmocka_unit_test (test_nothing),
    cmocka_unit_test (test_huge),
    cmocka_unit_test (test_odd_times),
  };

  /* Times are UTC, wherever one is. */
  setenv ("TZ", "XXX5", 1);
  tzset ();
  return cmocka_run_group_tests (tests, NULL, NULL);
}
