/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The tables of the text report, letter by letter: requests go in, and out
 * comes what is written here.  Tables are 80 columns wide, so lines here
 * that quote them are a little wider.
 */

#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extremes.h"
#include "ops.h"
#include "report.h"
#include "snapshot.h"
#include "tables.h"
#include "tally.h"
#include "unit.h"

#define FLAG(name) (1u << FLAG_##name)

static struct recorder_totals layer;
static struct snapshot snapshot;

static int
start (void **state)
{
  (void) state;
  memset (&layer, 0, sizeof layer);
  snapshot = (struct snapshot) {
    .start = 1000 * S, .elapsed_ns = 10 * S, .threshold = 95000,
    .nr_layers = 1, .layers = &layer,
  };
  return 0;
}

/* What happens in the layer. */

/* So many requests, one behind the other on the disk and in time. */
static void
requests (enum op op, unsigned n, uint64_t offset, uint32_t count,
          uint64_t latency_ns, uint32_t flags)
{
  struct op_totals *totals = &layer.ops[op];
  struct record request = {
    .kind = op, .count = count, .offset = offset, .flags = flags,
    .begin = snapshot.start + 250 * MS,
  };

  for (unsigned i = 0; i < n; i++) {
    extremes_record (&totals->extremes, &request, latency_ns,
                     totals->tally.requests);
    tally_record (&totals->tally, &request, latency_ns, snapshot.block);
    request.offset += count;
    request.begin += latency_ns;
  }
  layer.time.op_busy_ns[op] += n * latency_ns;
  layer.time.in_flight_ns[op] += n * latency_ns;
  layer.time.busy_ns += n * latency_ns;
  layer.time.request_busy_ns += n * latency_ns;
}

/* So many gaps, one behind the other in time. */
static void
pauses (unsigned n, uint64_t ns)
{
  struct op_totals *gaps = &layer.time.gaps;
  struct record gap = { .begin = snapshot.start + 500 * MS };

  for (unsigned i = 0; i < n; i++) {
    extremes_record (&gaps->extremes, &gap, ns, gaps->tally.requests);
    tally_latency (&gaps->tally, ns);
    gap.begin += ns;
  }
}

/* What is written. */

/* A report without its first lines and the diagnosis.  To be freed. */
static char *
tables (void)
{
  char *text = NULL, *from, *to;
  size_t size = 0;
  FILE *fp = open_memstream (&text, &size);

  assert_non_null (fp);
  text_write (fp, &(struct report) { .now = &snapshot, .full = true });
  assert_false (ferror (fp));
  assert_int_equal (fclose (fp), 0);
  from = strstr (text, "\n\n");
  from = from ? from + 1 : text + size;
  to = strstr (from, "\ndiagnosis\n");
  if (to)
    *to = '\0';
  memmove (text, from, strlen (from) + 1);
  return text;
}

/* One table alone, of a lower layer.  To be freed. */
static char *
amplification (const struct recorder_totals *lower)
{
  static struct recorder_totals layers[2];
  char *text = NULL;
  size_t size = 0;
  FILE *fp = open_memstream (&text, &size);

  layers[0] = layer;
  layers[1] = *lower;
  snapshot.layers = layers;
  snapshot.nr_layers = 2;
  table_amplification (fp, &snapshot, 1);
  assert_int_equal (fclose (fp), 0);
  return text;
}

/* No line is too long, or has blanks at its end. */
static void
check_lines (const char *text)
{
  for (size_t n; *text; text += n + 1) {
    n = strcspn (text, "\n");
    if (n > 80 || (n > 0 && text[n - 1] == ' '))
      fail_msg ("this line is too long or ends in a blank:\n%.*s", (int) n,
                text);
    assert_int_equal (text[n], '\n');
  }
}

/* Where a table begins, after its empty line, or NULL. */
static char *
find_table (char *text, const char *heading)
{
  const size_t n = strlen (heading);

  while (*text == '\n') {
    if (strncmp (text + 1, heading, n) == 0)
      return text + 1;
    text = strstr (text + 1, "\n\n");
    if (text == NULL)
      return NULL;
    text++;
  }
  return NULL;
}

/* The table that begins with this word is there, and it is this one. */
static void
expect_table (const char *expected)
{
  char *text = tables (), *table, *end, heading[32];

  snprintf (heading, sizeof heading, "%.*s", (int) strcspn (expected, " \n"),
            expected);
  check_lines (text);
  table = find_table (text, heading);
  if (table == NULL)
    fail_msg ("there is no table \"%s\" in:\n%s", heading, text);
  end = strstr (table, "\n\n");
  if (end)
    end[1] = '\0';
  assert_string_equal (table, expected);
  free (text);
}

static void
expect_no_table (const char *heading)
{
  char *text = tables ();

  check_lines (text);
  if (find_table (text, heading))
    fail_msg ("there is a table \"%s\" in:\n%s", heading, text);
  free (text);
}

static void
test_nothing (void **state)
{
  char *text;

  (void) state;
  snapshot.block = 4096;
  snapshot.zero = true;
  text = tables ();
  assert_string_equal (text, "");
  free (text);
}

/* A layer in which there was a bit of everything. */
static int
start_rich (void **state)
{
  start (state);
  snapshot.block = 64 * KiB;
  snapshot.zero = true;
  requests (OP_READ, 90, 0, 4 * KiB, 100 * US, 0);
  requests (OP_READ, 9, GiB + 512, 64 * KiB, 2 * MS, 0);
  requests (OP_READ, 1, 3, 1000000, 50 * MS, 0);
  requests (OP_WRITE, 7, 0, 128 * KiB, 1 * MS, 0);
  requests (OP_WRITE, 3, 4 * KiB, 128 * KiB, 3 * MS, FLAG (FUA));
  layer.ops[OP_WRITE].tally.zero_bytes = 300000;
  requests (OP_TRIM, 2, 0, 3 * GiB, 10 * US, 0);
  requests (OP_ZERO, 4, 0, MiB, 10 * US, FLAG (MAY_TRIM) | FLAG (FAST_ZERO));
  layer.ops[OP_ZERO].tally.fast_zero_refused.requests = 5;
  requests (OP_EXTENTS, 1, 0, 2 * GiB, 17 * US, FLAG (REQ_ONE));
  requests (OP_FLUSH, 2, 0, 0, 300 * MS, 0);
  layer.time.sequential[OP_READ] = 97;
  layer.time.sequential[OP_WRITE] = 7;
  return 0;
}

static void
test_latency (void **state)
{
  (void) state;
  expect_table (
"latency      mean      min      p50      p90      p99    p99.9      max   stddev\n"
"read       770 us   100 us   100 us   100 us  2.01 ms  50.0 ms  50.0 ms  4.98 ms\n"
"write     1.60 ms  1.00 ms  1.00 ms  3.00 ms  3.00 ms  3.00 ms  3.00 ms   917 us\n"
"trim      10.0 us  10.0 us  10.0 us  10.0 us  10.0 us  10.0 us  10.0 us     0 ns\n"
"zero      10.0 us  10.0 us  10.0 us  10.0 us  10.0 us  10.0 us  10.0 us     0 ns\n"
"extents   17.0 us  17.0 us  17.0 us  17.0 us  17.0 us  17.0 us  17.0 us     0 ns\n"
"flush      300 ms   300 ms   300 ms   300 ms   300 ms   300 ms   300 ms     0 ns\n"
  );
}

/* What was waited stands beneath, even where no request succeeded. */
static void
test_latency_waiting (void **state)
{
  (void) state;
  pauses (98, 1 * MS);
  pauses (2, 1 * S);
  expect_table (
"latency      mean      min      p50      p90      p99    p99.9      max   stddev\n"
"waiting   21.0 ms  1.00 ms  1.00 ms  1.00 ms   1.00 s   1.00 s   1.00 s   140 ms\n"
  );
  requests (OP_FLUSH, 1, 0, 0, 300 * MS, 0);
  expect_table (
"latency      mean      min      p50      p90      p99    p99.9      max   stddev\n"
"flush      300 ms   300 ms   300 ms   300 ms   300 ms   300 ms   300 ms     0 ns\n"
"waiting   21.0 ms  1.00 ms  1.00 ms  1.00 ms   1.00 s   1.00 s   1.00 s   140 ms\n"
  );
}

/* The account: the longest first, bars of at most 36, what is rounded to 0
 * left out, and where two are as long the operations first.
 */
static void
test_account (void **state)
{
  uint64_t *account = layer.time.account;

  (void) state;
  expect_no_table ("where");
  account[ACCOUNT_WAITING] = 6370 * MS;
  account[ACCOUNT_NO_CLIENT] = 1500 * MS;
  account[OP_FLUSH] = 1500 * MS;
  account[OP_WRITE] = 240 * MS;
  account[ACCOUNT_SEVERAL] = 387 * MS;
  account[OP_READ] = 1 * MS;
  account[ACCOUNT_OPENING] = 500 * US;
  account[OP_CACHE] = 500 * US - 1;
  expect_table (
"where the time went         seconds      %\n"
"  waiting for requests        6.370  63.7%  #######################\n"
"  flush                       1.500  15.0%  #####\n"
"  no client connected         1.500  15.0%  #####\n"
"  several kinds at once       0.387   3.9%  #\n"
"  write                       0.240   2.4%  #\n"
"  read                        0.001   0.0%\n"
"  opening exports             0.001   0.0%\n"
  );
}

/* One state alone, in a run of any length. */
static void
test_account_alone (void **state)
{
  static const struct {
    uint64_t ns;
    const char *seconds;
  } table[] = {
    { 1, "     0.000" }, { 999999 * S, "999999.000" },
    { 1000000 * S, "1000000.00" }, { UINT64_MAX, "     18.4G" },
  };
  char expected[300];

  (void) state;
  for (size_t i = 0; i < LENGTH (table); i++) {
    snapshot.elapsed_ns = layer.time.account[OP_ZERO] = table[i].ns;
    snprintf (expected, sizeof expected,
"where the time went         seconds      %%\n"
"  zero                   %s 100.0%%"
"  ####################################\n", table[i].seconds);
    expect_table (expected);
  }
}

/* Requests in flight: the mean is the time of all / the time of any.  If
 * there was never more than one, there is nothing to tell.
 */
static void
test_in_flight (void **state)
{
  (void) state;
  expect_no_table ("in flight");
  layer.time.most_in_flight = layer.time.op_most_in_flight[OP_FLUSH] = 1;
  layer.time.request_busy_ns = layer.time.op_busy_ns[OP_FLUSH] = S;
  layer.time.in_flight_ns[OP_FLUSH] = S;
  expect_no_table ("in flight");
  layer.time.busy_ns = layer.time.request_busy_ns = 2 * S;
  layer.time.op_busy_ns[OP_READ] = 1 * S;
  layer.time.in_flight_ns[OP_READ] = 12345 * MS;
  layer.time.op_busy_ns[OP_FLUSH] = 500 * MS;
  layer.time.in_flight_ns[OP_FLUSH] = 500 * MS;
  layer.time.most_in_flight = 16;
  layer.time.op_most_in_flight[OP_READ] = 16;
  layer.time.op_most_in_flight[OP_FLUSH] = 1;
  expect_table ("in flight    mean     most\n"
                "all          6.42       16\n"
                "read        12.35       16\n"
                "flush        1.00        1\n");
}

static void
test_depths (void **state)
{
  struct depth_class *depths = layer.time.depths[OP_READ];

  (void) state;
  requests (OP_READ, 1, 0, 512, 1, 0);
  requests (OP_FLUSH, 1, 0, 0, 1, 0);
  for (unsigned i = 0; i < DEPTH_CLASSES; i++)
    depths[i] = (struct depth_class) { i + 1, (i + 1) * (i + 1) * MS };
  depths[3].requests = 0;
  layer.time.depths[OP_FLUSH][1] = (struct depth_class) { 3, 1000 };

  /* With never more than one there is nothing to compare. */
  layer.time.most_in_flight = 1;
  expect_no_table ("mean latency by");
  layer.time.most_in_flight = 2;
  expect_table (
"mean latency by requests in flight at the begin\n"
"                1        2      3-4      5-8     9-16    17-32    33-64      >64\n"
"read      1.00 ms  2.00 ms  3.00 ms        -  5.00 ms  6.00 ms  7.00 ms  8.00 ms\n"
"flush           -   333 ns        -        -        -        -        -        -\n"
  );
}

/* Sizes: all bytes and requests, ranked, and the true bounds. */
static void
test_sizes (void **state)
{
  (void) state;
  expect_table (
"sizes                               requests      %     bytes  latency\n"
"read\n"
"  4096 (4.00 KiB)                         90  90.0%   360 KiB   100 us ########\n"
"  65536 (64.0 KiB)                         9   9.0%   576 KiB  2.00 ms #\n"
"  524288-1048575 (512 KiB)                 1   1.0%   977 KiB  50.0 ms\n"
"write\n"
"  131072 (128 KiB)                        10 100.0%  1.25 MiB  1.60 ms #########\n"
"trim\n"
"  2147483648-4294967295 (2.00 GiB)         2 100.0%  6.00 GiB  10.0 us #########\n"
"zero\n"
"  1048576 (1.00 MiB)                       4 100.0%  4.00 MiB  10.0 us #########\n"
"extents\n"
"  2147483648 (2.00 GiB)                    1 100.0%  2.00 GiB  17.0 us #########\n"
  );
}

/* Three that have the same count stand each in its own row, small ones
 * have no unit, and a single request is a row of its own.
 */
static void
test_sizes_equal (void **state)
{
  (void) state;
  requests (OP_READ, 3, 0, 64 * KiB, 64 * US, 0);
  requests (OP_READ, 3, 0, 4 * KiB, 4 * US, 0);
  requests (OP_READ, 3, 0, MiB, MS, 0);
  requests (OP_WRITE, 1, 0, 700, 5, 0);
  requests (OP_CACHE, 1, 0, 1, 5, 0);
  requests (OP_CACHE, 1, 0, 0, 5, 0);
  expect_table (
"sizes                               requests      %     bytes  latency\n"
"read\n"
"  4096 (4.00 KiB)                          3  33.3%  12.0 KiB  4.00 us ###\n"
"  65536 (64.0 KiB)                         3  33.3%   192 KiB  64.0 us ###\n"
"  1048576 (1.00 MiB)                       3  33.3%  3.00 MiB  1.00 ms ###\n"
"write\n"
"  512-1023 B                               1 100.0%     700 B     5 ns #########\n"
"cache\n"
"  0 B                                      1  50.0%       0 B     5 ns #####\n"
"  1 B                                      1  50.0%       1 B     5 ns #####\n"
  );
}

/* What is not needed to reach the threshold is in one row, with exactly
 * its requests, bytes and times; a row for one class names it instead.
 */

static void
start_cut (uint64_t threshold)
{
  start (NULL);
  snapshot.threshold = threshold;
  requests (OP_READ, 80, 0, 4096, 10 * US, 0);
  requests (OP_READ, 10, 0, 8192, 20 * US, 0);
  requests (OP_READ, 7, 0, 16384, 30 * US, 0);
  requests (OP_READ, 3, 0, 32768, 130 * US, 0);
}

static void
test_sizes_cut (void **state)
{
  static const char rows[] =
"  4096 (4.00 KiB)                         80  80.0%   320 KiB  10.0 us #######\n"
"  8192 (8.00 KiB)                         10  10.0%  80.0 KiB  20.0 us #\n"
"  16384 (16.0 KiB)                         7   7.0%   112 KiB  30.0 us #\n"
"  32768 (32.0 KiB)                         3   3.0%  96.0 KiB   130 us\n";
  static const char others2[] =
"  2 others                                10  10.0%   208 KiB  60.0 us #\n";
  static const char others3[] =
"  3 others                                20  20.0%   288 KiB  40.0 us ##\n";
  static const struct {
    uint64_t threshold;
    unsigned rows;
    const char *others;
  } table[] = {
    { 100000, 4, "" }, { 97001, 4, "" }, { 97000, 4, "" }, { 90001, 4, "" },
    { 90000, 2, others2 }, { 80001, 2, others2 }, { 80000, 1, others3 },
    { 1, 1, others3 },
  };
  char expected[1000];

  (void) state;
  for (size_t i = 0; i < LENGTH (table); i++) {
    const char *end = rows;

    for (unsigned row = 0; row < table[i].rows; row++)
      end = strchr (end, '\n') + 1;
    start_cut (table[i].threshold);
    snprintf (expected, sizeof expected,
"sizes                               requests      %%     bytes  latency\n"
"read\n%.*s%s", (int) (end - rows), rows, table[i].others);
    expect_table (expected);
  }
}

static void
test_threshold_0 (void **state)
{
  (void) state;
  start_cut (0);
  expect_no_table ("sizes");
  expect_no_table ("aligned");
}

/* A flush has no size. */
static void
test_no_sizes (void **state)
{
  (void) state;
  snapshot.block = 4096;
  requests (OP_FLUSH, 5, 0, 0, 5 * MS, 0);
  expect_no_table ("sizes");
  expect_no_table ("aligned");
  expect_no_table ("block fit");
  expect_no_table ("requests");
}

/* Offsets and lengths by the largest power of two that divides them; 0 is
 * divided by all.
 */
static void
test_alignments (void **state)
{
  (void) state;
  expect_table (
"aligned to, and not to twice that   offsets      %   lengths      %\n"
"read\n"
"  4096 (4.00 KiB)                       45  45.0%        90  90.0%\n"
"  8192 (8.00 KiB)                       22  22.0%         0   0.0%\n"
"  65536 (64.0 KiB)                       3   3.0%         9   9.0%\n"
"  16384 (16.0 KiB)                      11  11.0%         0   0.0%\n"
"  512 B                                  9   9.0%         0   0.0%\n"
"  32768 (32.0 KiB)                       6   6.0%         0   0.0%\n"
"  5 others                               4   4.0%         1   1.0%\n"
"write\n"
"  131072 (128 KiB)                       3  30.0%        10 100.0%\n"
"  4096 (4.00 KiB)                        3  30.0%         0   0.0%\n"
"  262144 (256 KiB)                       2  20.0%         0   0.0%\n"
"  524288 (512 KiB)                       1  10.0%         0   0.0%\n"
"  0, aligned to everything               1  10.0%         0   0.0%\n"
"trim\n"
"  1073741824 (1.00 GiB)                  1  50.0%         2 100.0%\n"
"  0, aligned to everything               1  50.0%         0   0.0%\n"
"zero\n"
"  1048576 (1.00 MiB)                     2  50.0%         4 100.0%\n"
"  2097152 (2.00 MiB)                     1  25.0%         0   0.0%\n"
"  0, aligned to everything               1  25.0%         0   0.0%\n"
"extents\n"
"  2147483648 (2.00 GiB)                  0   0.0%         1 100.0%\n"
"  0, aligned to everything               1 100.0%         0   0.0%\n"
  );
}

/* The highest there are: an offset of 2^63 and more than any length. */
static void
test_alignments_high (void **state)
{
  (void) state;
  requests (OP_READ, 1, UINT64_C (1) << 63, UINT32_C (1) << 31, 5, 0);
  requests (OP_READ, 1, UINT64_C (1) << 32, 0, 5, 0);
  expect_table (
"aligned to, and not to twice that   offsets      %   lengths      %\n"
"read\n"
"  2147483648 (2.00 GiB)                  0   0.0%         1  50.0%\n"
"  4294967296 (4.00 GiB)                  1  50.0%         0   0.0%\n"
"  9223372036854775808 (8.00 EiB)         1  50.0%         0   0.0%\n"
"  0, aligned to everything               0   0.0%         1  50.0%\n"
  );
}

/* A rest that has lengths only. */
static void
test_alignments_cut (void **state)
{
  (void) state;
  for (unsigned i = 0; i < 97; i++)
    requests (OP_READ, 1, 4096, 4096, 5, 0);
  requests (OP_READ, 1, 4096, 512, 5, 0);
  requests (OP_READ, 1, 4096, 1024, 5, 0);
  requests (OP_READ, 1, 4096, 2048, 5, 0);
  expect_table (
"aligned to, and not to twice that   offsets      %   lengths      %\n"
"read\n"
"  4096 (4.00 KiB)                      100 100.0%        97  97.0%\n"
"  3 others                               0   0.0%         3   3.0%\n"
  );
}

static void
test_block_fit (void **state)
{
  (void) state;
  expect_table (
"block fit, blocks of 65536 bytes (64.0 KiB)\n"
"           aligned   smaller blocks each   touch 1         2         3      more\n"
"read             0        90        1.24        90         9         0         1\n"
"write            7         0        2.30         0         7         3         0\n"
"trim             2         0    49152.00         0         0         0         2\n"
"zero             4         0       16.00         0         0         0         4\n"
"extents          1         0    32768.00         0         0         0         1\n"
  );
  snapshot.block = 0;
  expect_no_table ("block fit");
}

/* Flags, and data that was looked through where that was asked for. */
static void
test_kinds (void **state)
{
  (void) state;
  expect_table (
"requests sequential      FUA  may-trim  fast-zero   refused  one-ext zeros sent\n"
"read          97.0%        0         0          0         0        0\n"
"write         70.0%        3         0          0         0        0    293 KiB\n"
"trim           0.0%        0         0          0         0        0\n"
"zero           0.0%        0         4          4         5        0\n"
"extents        0.0%        0         0          0         0        1\n"
  );
}

/* Not asked for; and all that there was were refused fast zeros. */
static void
test_kinds_refused (void **state)
{
  (void) state;
  layer.ops[OP_ZERO].tally.fast_zero_refused.requests = 7;
  expect_no_table ("latency");
  expect_no_table ("sizes");
  requests (OP_WRITE, 1, 0, 512, 5, 0);
  expect_table (
"requests sequential      FUA  may-trim  fast-zero   refused  one-ext\n"
"write          0.0%        0         0          0         0        0\n"
"zero           0.0%        0         0          0         7        0\n"
  );
}

/* By errno, in words that fit. */
static void
test_failures (void **state)
{
  (void) state;
  failures_count (&layer.ops[OP_WRITE].failures, EIO, 30 * MS);
  failures_count (&layer.ops[OP_WRITE].failures, ENOSPC, 0);
  failures_count (&layer.ops[OP_WRITE].failures, EIO, 10 * MS);
  failures_count (&layer.ops[OP_EXTENTS].failures, EOPNOTSUPP, 17);
  failures_count (&layer.ops[OP_CACHE].failures, EILSEQ, 17);
  layer.ops[OP_FLUSH].failures.by_errno[MAX_FAILURES - 1]
    = (struct failure) { FAILURE_OTHER, 12, 24 * S, 9 * S };
  expect_table (
"failures                                          requests      mean   longest\n"
"write   EIO          Input/output error                  2   20.0 ms   30.0 ms\n"
"write   ENOSPC       No space left on device             1      0 ns      0 ns\n"
"extents EOPNOTSUPP   Operation not supported             1     17 ns     17 ns\n"
"cache   EILSEQ       Invalid or incomplete mult          1     17 ns     17 ns\n"
"flush   other                                           12    2.00 s    9.00 s\n"
  );
  expect_no_table ("latency");
}

/* The slowest three of each, and where they were. */
static void
test_slowest (void **state)
{
  (void) state;
  requests (OP_READ, 1, 4096, 512, 5 * MS, 0);
  requests (OP_READ, 1, INT64_MAX - 511, 512, 15 * S, 0);
  requests (OP_READ, 1, 0, 64 * MiB, 7 * MS, 0);
  requests (OP_READ, 1, 8192, 512, 6 * MS, 0);
  requests (OP_FLUSH, 2, 0, 0, 300 * MS, 0);
  pauses (5, 2 * S);
  expect_table (
"slowest      latency        size                offset     begun after\n"
"read          15.0 s       512 B   9223372036854775296         0.250 s\n"
"read         7.00 ms    64.0 MiB                     0         0.250 s\n"
"read         6.00 ms       512 B                  8192         0.250 s\n"
"flush         300 ms                                           0.250 s\n"
"flush         300 ms                                           0.550 s\n"
"waiting       2.00 s                                           0.500 s\n"
"waiting       2.00 s                                           2.500 s\n"
"waiting       2.00 s                                           4.500 s\n"
  );
}

/* Connections, and the exports where there were several.  Clients choose
 * the names.
 */
static void
test_connections (void **state)
{
  static char names[][64] = {
    "", "disk1", "tab\there and \x1b[31m red \xc3\xa9",
    "a name that is much too long for the column",
  };
  struct connections_totals *c = &layer.connections;

  (void) state;
  expect_no_table ("openings");
  c->all = (struct opens) { .opened = 12, .failed = 1, .ns = 3 * S,
                            .longest_ns = 1 * S };
  c->clients = 5;
  c->most = 3;
  c->nr_exports = 1;
  c->exports[0] = (struct export_opens) {
    .name = names[0], .opens = c->all,
  };
  expect_table (
"openings, by 5 connections      opened  failed  took on average  longest at once\n"
"all                                 12       1           231 ms   1.00 s       3\n"
  );
  c->clients = 1;
  expect_table (
"openings, by 1 connection       opened  failed  took on average  longest at once\n"
"all                                 12       1           231 ms   1.00 s       3\n"
  );
  c->clients = 5;
  c->nr_exports = LENGTH (names);
  for (unsigned i = 0; i < LENGTH (names); i++) {
    c->exports[i].name = names[i];
    c->exports[i].opens = (struct opens) {
      .opened = i, .failed = 1, .ns = (i + 1) * MS, .longest_ns = 2 * MS,
    };
  }
  expect_table (
"openings, by 5 connections      opened  failed  took on average  longest at once\n"
"all                                 12       1           231 ms   1.00 s       3\n"
"  (default export)                   0       1          1.00 ms  2.00 ms\n"
"  disk1                              1       1          1.00 ms  2.00 ms\n"
"  tab?here and ?[31m red ?           2       1          1.00 ms  2.00 ms\n"
"  a name that is much too long       3       1          1.00 ms  2.00 ms\n"
  );
  c->other_exports = (struct opens) {
    .opened = 6, .failed = 2, .ns = 8 * S, .longest_ns = 2 * S,
  };
  c->clients = 12345;
  expect_table (
"openings, by 12.3k connections  opened  failed  took on average  longest at once\n"
"all                                 12       1           231 ms   1.00 s       3\n"
"  (default export)                   0       1          1.00 ms  2.00 ms\n"
"  disk1                              1       1          1.00 ms  2.00 ms\n"
"  tab?here and ?[31m red ?           2       1          1.00 ms  2.00 ms\n"
"  a name that is much too long       3       1          1.00 ms  2.00 ms\n"
"  (others)                           6       2           1.00 s   2.00 s\n"
  );
}

/* Where there is more than one, those that had requests, and of these what
 * they had.
 */
static void
test_by_export (void **state)
{
  static char names[][100] = {
    "", "idle", "b\xc3\xa4r\xff\x1b[31m",
    ("a name that is so long that it would have to be broken into two lines"
     " if it were not cut"),
  };
  struct connections_totals *c = &layer.connections;
  struct export_op (*ops)[NR_OPS] = layer.by_export.ops;

  (void) state;
  c->nr_exports = LENGTH (names);
  for (unsigned i = 0; i < LENGTH (names); i++)
    c->exports[i].name = names[i];
  requests (OP_READ, 1, 0, 512, MS, 0);
  expect_no_table ("by export");
  layer.by_export.only = PLACE_OF_SEVERAL;
  ops[0][OP_READ] = (struct export_op) {
    .requests = 1271, .bytes = 1224065024, .latency_ns = 1271 * MS,
    .failed = 3, .busy_ns = 356 * MS, .p99_ns = 17 * MS,
  };
  ops[0][OP_FLUSH] = (struct export_op) {
    .requests = 2, .latency_ns = 1021 * MS, .busy_ns = 1021 * MS,
  };
  ops[2][OP_ZERO] = (struct export_op) { .failed = 1, .busy_ns = MS };
  ops[3][OP_WRITE] = (struct export_op) {
    .requests = UINT64_MAX, .bytes = UINT64_MAX, .failed = UINT64_MAX,
    .latency_ns = UINT64_MAX, .busy_ns = UINT64_MAX, .p99_ns = UINT64_MAX,
  };
  ops[PLACE_OF_OTHERS][OP_TRIM] = (struct export_op) { .busy_ns = 5 * S };
  expect_table (
"by export             requests   failed      bytes     busy     mean      p99\n"
"  (default export)\n"
"    read                  1271        3   1.14 GiB   356 ms  1.00 ms  17.0 ms\n"
"    flush                    2        0          -   1.02 s   510 ms        -\n"
"  b?r??[31m\n"
"    zero                     0        1        0 B  1.00 ms        -        -\n"
"  a name that is so long that it would have to be broken into two lines if it we\n"
"    write                18.4E    18.4E   16.0 EiB    585 y     1 ns    585 y\n"
"  (others)\n"
"    trim                     0        0        0 B   5.00 s        -        -\n"
  );
}

/* All of them, in this order. */
static void
test_order (void **state)
{
  static const char *const headings[] = {
    "latency ", "where the", "in flight ", "mean latency by", "sizes ", "aligned to",
    "block fit", "requests ", "failures ", "slowest ", "openings,",
    "by export",
  };
  char *text, *next;

  (void) state;
  layer.time.most_in_flight = 2;
  failures_count (&layer.ops[OP_READ].failures, EIO, 1);
  layer.connections.all.opened = 1;
  layer.time.account[OP_READ] = 1 * S;
  layer.by_export.only = PLACE_OF_SEVERAL;
  text = next = tables ();
  check_lines (text);
  for (size_t i = 0; i < LENGTH (headings); i++) {
    assert_int_equal (*next, '\n');
    assert_int_equal (strncmp (next + 1, headings[i], strlen (headings[i])),
                      0);
    next = strstr (next + 1, "\n\n");
    if (next)
      next++;
    else
      assert_int_equal (i, LENGTH (headings) - 1);
  }
  free (text);
}

static void
test_amplification (void **state)
{
  static struct recorder_totals lower;
  char *text;

  (void) state;
  memset (&lower, 0, sizeof lower);
  layer.ops[OP_READ].tally.requests = 3;
  layer.ops[OP_READ].tally.bytes = 4000;
  lower.ops[OP_READ].tally.requests = 1;
  lower.ops[OP_READ].tally.bytes = 12000;
  layer.ops[OP_ZERO].tally.requests = 1;
  layer.ops[OP_ZERO].tally.bytes = 100;
  layer.ops[OP_FLUSH].tally.requests = 2;
  lower.ops[OP_FLUSH].tally.requests = 1234;
  lower.ops[OP_WRITE].tally.requests = 5;
  lower.ops[OP_WRITE].tally.bytes = 5;
  text = amplification (&lower);
  assert_string_equal (text,
"\n"
"for each of the layer above  requests     bytes\n"
"read                            0.333     3.000\n"
"zero                            0.000     0.000\n"
"flush                         617.000\n"
  );
  free (text);
}

/* Where each had what the other had, and where one figure is not 1. */
static void
test_amplification_none (void **state)
{
  static struct recorder_totals lower;
  uint64_t *figures[] = {
    &lower.ops[OP_READ].tally.requests, &lower.ops[OP_READ].tally.bytes,
    &lower.ops[OP_FLUSH].tally.requests,
  };
  char *text;

  (void) state;
  text = amplification (&lower);
  assert_string_equal (text, "");
  free (text);
  layer.ops[OP_READ].tally.requests = 10000;
  layer.ops[OP_READ].tally.bytes = 40000;
  layer.ops[OP_FLUSH].tally.requests = 20000;
  lower = layer;
  lower.ops[OP_WRITE].tally.requests = 5;
  for (size_t i = 0; i < LENGTH (figures); i++) {
    static const int apart[] = { -21, -1, 0, 1, 20 };
    const uint64_t was = *figures[i];

    for (size_t j = 0; j < LENGTH (apart); j++) {
      *figures[i] = was + (uint64_t) apart[j];
      text = amplification (&lower);
      assert_int_equal (*text != '\0', abs (apart[j]) > 1);
      free (text);
    }
    *figures[i] = was;
  }
}

/* Every column at any value up to the largest: no line is too long, and no
 * two figures touch, so each line has as many words as with small ones.
 */

static void
fill_op (struct op_totals *op, uint64_t count, uint64_t ns)
{
  static const int errors[] = {
    EIO, EADDRNOTAVAIL, ENOTRECOVERABLE, EPROTONOSUPPORT,
  };
  struct tally *tally = &op->tally;

  tally->requests = count;
  tally->bytes = count;
  tally->latency_ns = ns;
  tally->bins[HISTOGRAM_ALL - 1] = count;
  /* In each the class that has the longest name. */
  tally->sizes[SIZE_CLASSES - 1]
    = (struct size_class) { count, UINT64_MAX - 1, ns };
  tally->offset_alignment[OFFSET_ALIGNMENTS - 2] = count;
  tally->length_alignment[LENGTH_ALIGNMENTS - 2] = count;
  tally->blocks.aligned = tally->blocks.smaller = count;
  tally->blocks.touched = UINT64_MAX;
  for (unsigned i = 0; i < BLOCKS_TOUCHED; i++)
    tally->blocks.by_touched[i] = count;
  for (unsigned i = 0; i < NR_FLAGS; i++)
    tally->flags[i] = count;
  tally->fast_zero_refused.requests = count;
  tally->zero_bytes = count;
  op->extremes.min_ns = op->extremes.max_ns = ns;
  for (unsigned i = 0; i < LENGTH (errors); i++)
    op->failures.by_errno[i] = (struct failure) { errors[i], count, ns, ns };
  op->extremes.slowest[0] = (struct slow_request) {
    .latency_ns = ns, .begin = snapshot.start + (ns < UINT64_MAX / 2 ? ns
                                                 : UINT64_MAX / 2),
    .offset = count, .count = UINT32_MAX,
  };
}

static void
fill (uint64_t count, uint64_t ns)
{
  const unsigned most = count < UINT_MAX ? (unsigned) count : UINT_MAX;

  for (unsigned op = 0; op < NR_OPS; op++) {
    fill_op (&layer.ops[op], count, ns);
    layer.time.op_most_in_flight[op] = most;
    layer.time.op_busy_ns[op] = 1;
    layer.time.in_flight_ns[op] = count;
    for (unsigned i = 0; i < DEPTH_CLASSES; i++)
      layer.time.depths[op][i] = (struct depth_class) { 1, ns };
  }
  fill_op (&layer.time.gaps, count, ns);
  snapshot.elapsed_ns = ns;
  for (unsigned state = 0; state < NR_STATES; state++)
    layer.time.account[state] = ns;
  layer.time.most_in_flight = most;
  layer.time.busy_ns = 1;
  layer.connections.all = (struct opens) {
    .opened = count, .failed = count / 2, .ns = ns, .longest_ns = ns,
  };
  layer.connections.most = count;
}

static unsigned
words_of (const char *line, size_t n)
{
  unsigned words = 0;

  for (size_t i = 0; i < n; i++)
    words += line[i] != ' ' && (i == 0 || line[i - 1] == ' ');
  return words;
}

static void
expect_same_words (const char *text, const char *small)
{
  check_lines (text);
  while (*text && *small) {
    const size_t n = strcspn (text, "\n"), m = strcspn (small, "\n");
    const unsigned words = words_of (text, n);

    /* The bar of a share, and how a text was cut, may differ. */
    if (words != words_of (small, m))
      fail_msg ("figures touch each other:\n%.*s\n%.*s", (int) m, small,
                (int) n, text);
    text += n + 1;
    small += m + 1;
  }
  assert_string_equal (text, small);
}

static void
test_largest (void **state)
{
  static const uint64_t times[] = {
    2, 1023 * US, 999 * MS, 99999 * S, 100000 * S, UINT64_MAX / 2,
    UINT64_MAX,
  };
  uint64_t count = 2;
  char *small;

  (void) state;
  snapshot.block = 1;
  snapshot.zero = true;
  snapshot.threshold = 100000;
  fill (2, 2);
  small = tables ();
  for (unsigned digits = 1; digits <= 20; digits++) {
    for (size_t i = 0; i < LENGTH (times); i++) {
      char *text;

      fill (digits < 20 ? 10 * count - 1 : UINT64_MAX, times[i]);
      text = tables ();
      expect_same_words (text, small);
      free (text);
    }
    count *= digits < 19 ? 10 : 1;
  }
  free (small);
}

static void
test_amplification_largest (void **state)
{
  static struct recorder_totals lower;
  char *text;

  (void) state;
  layer.ops[OP_READ].tally.requests = layer.ops[OP_READ].tally.bytes = 1;
  lower.ops[OP_READ].tally.requests = UINT64_MAX;
  lower.ops[OP_READ].tally.bytes = UINT64_MAX;
  text = amplification (&lower);
  assert_string_equal (text,
"\n"
"for each of the layer above  requests     bytes\n"
"read                            18.4E     18.4E\n"
  );
  free (text);
}

#define TEST(f) cmocka_unit_test_setup (f, start)
#define RICH(f) cmocka_unit_test_setup (f, start_rich)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_nothing),
    RICH (test_latency),
    TEST (test_latency_waiting),
    TEST (test_account),
    TEST (test_account_alone),
    TEST (test_in_flight),
    TEST (test_depths),
    RICH (test_sizes),
    TEST (test_sizes_equal),
    TEST (test_sizes_cut),
    TEST (test_threshold_0),
    TEST (test_no_sizes),
    RICH (test_alignments),
    TEST (test_alignments_high),
    TEST (test_alignments_cut),
    RICH (test_block_fit),
    RICH (test_kinds),
    TEST (test_kinds_refused),
    TEST (test_failures),
    TEST (test_slowest),
    TEST (test_connections),
    TEST (test_by_export),
    RICH (test_order),
    TEST (test_amplification),
    TEST (test_amplification_none),
    TEST (test_largest),
    TEST (test_amplification_largest),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
