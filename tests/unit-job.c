/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Job files: what is read of one, and what is told of one that is wrong. */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "unit-capture.h"
#include "unit.h"

#define COMPLETE "nbdkit = null\nclient = true\n"

/* The plan of the first case, in the first environment if there is one. */
static int
plan_first (const char *text, size_t size, struct job *job,
            struct cell_plan *plan)
{
  int r = job_parse (job, "x.job", text, size);

  *plan = (struct cell_plan) { .case_name = NULL };
  if (r == 0)
    r = job_plan (job, job->cases[0],
                  job->nr_environments ? &job->environments[0] : NULL, plan);
  return r;
}

static void
with_plan (const char *text, void (*check) (const struct cell_plan *plan))
{
  struct job job;
  struct cell_plan plan;

  assert_int_equal (plan_first (text, strlen (text), &job, &plan), 0);
  check (&plan);
  cell_plan_free (&plan);
  job_free (&job);
}

static void
is_default (const struct cell_plan *plan)
{
  assert_string_equal (plan->case_name, "a");
  assert_string_equal (plan->environment, "");
  assert_string_equal (plan->nbdkit, "null");
  assert_string_equal (plan->client, "true");
  assert_null (plan->prepare);
  assert_null (plan->cleanup);
  assert_int_equal (plan->runs, 5);
  assert_int_equal (plan->warmup, 0);
  assert_int_equal (plan->timeout_ns, 600 * S);
  assert_false (plan->asks);
}

static void
test_defaults (void **state)
{
  (void) state;
  with_plan ("[a]\n" COMPLETE, is_default);
  with_plan ("[global]\n" COMPLETE "[a]\n", is_default);
  with_plan ("\xef\xbb\xbf# with a byte order mark\r\n[a]\r\n"
             "nbdkit = null\r\nclient = true", is_default);
}

static void
is_chosen (const struct cell_plan *plan)
{
  assert_string_equal (plan->environment, "of mine");
  assert_string_equal (plan->nbdkit, "--filter=delay file disk wdelay=1ms");
  assert_string_equal (plan->client, "copy 4K 3 $uri");
  assert_string_equal (plan->prepare, "one && two && three");
  assert_int_equal (plan->runs, 3);
  assert_int_equal (plan->timeout_ns, 1500 * MS);
}

/* The environment before the case before what is global; an own name is
 * what it would be without; lines that go on.
 */
static void
test_scope (void **state)
{
  (void) state;
  with_plan ("[environment of mine]\n"
             "nbdkit = --filter=delay ${nbdkit} wdelay=1ms\n"
             "[global]\n"
             "SIZE = 1M\n"
             "COPY = copy ${SIZE}\n"
             "runs = 7\n"
             "timeout = 1500ms\n"
             "nbdkit = file disk\n"
             "client = ${COPY} ${runs} $uri\n"
             "[a]\n"
             "runs = 3\n"
             "SIZE = 4K\n"
             "prepare = one &&\n"
             "    # a comment in between\n"
             "    two\n"
             "\n"
             "  && three\n", is_chosen);
}

static void
asks_for_40K (const struct cell_plan *plan)
{
  assert_true (plan->asks);
  assert_int_equal (plan->asked, 40 * KiB);
}

static void
test_asked (void **state)
{
  (void) state;
  with_plan ("[a]\nsize = 4K\ncount = 10\n" COMPLETE, asks_for_40K);
  with_plan ("[a]\nasked = 40k\n" COMPLETE, asks_for_40K);
  with_plan ("[a]\nsize = 1\nasked = 40960\n" COMPLETE, asks_for_40K);
  /* The last ends where the image ends. */
  with_plan ("[a]\nimage-size = 60K\noffset = 2K\nstep = 6K\nsize = 4K\n"
             "count = 10\n" COMPLETE, asks_for_40K);
}

/* The job is refused with this, and nothing else is told. */
static void
is_refused (const char *text, size_t size, const char *message)
{
  struct job job;
  struct cell_plan plan;
  char expected[512];
  int r;

  capture ();
  r = plan_first (text, size, &job, &plan);
  snprintf (expected, sizeof expected, "nbdkit-stats: x.job%s\n", message);
  assert_string_equal (what (), expected);
  assert_int_equal (r, -1);
  job_free (&job);
}

static void
test_refused (void **state)
{
  static const struct {
    const char *text, *message;
  } rows[] = {
    { "", ": there is no case: a [section] besides [global] and "
          "[environment NAME]" },
    { "[global]\n" COMPLETE, ": there is no case: a [section] besides "
                             "[global] and [environment NAME]" },
    { "a = b\n", ":1: a setting stands before the first [section]" },
    { "[a]\nfoo = 1\n" COMPLETE, ":2: unknown key foo (a variable has "
                                 "capital letters)" },
    { "[a]\nFoo = 1\n", ":2: unknown key Foo (a variable has capital "
                        "letters)" },
    { "[a]\n\nnonsense\n", ":3: this is no [section], no NAME = VALUE and "
                           "no comment" },
    { "[a\n", ":1: the ] of the section is missing" },
    { "[a] b\n", ":1: something stands behind the ] of the section" },
    { "[]\n", ":1: a name has 1 to 49 characters" },
    { "[a]\n= 1\n", ":2: a name has 1 to 49 characters" },
    { "[a]\n[b]\n[a]\n", ":3: there is a section a in line 1 already" },
    { "[a]\nruns = 1\nsize = 2\nruns = 3\n",
      ":4: runs is set in line 2 already" },
    { "[a]\nclient = a ; b\n", ":2: a comment stands in a line of its own, "
                               "and a command has no blank before its ;" },
    { "[a]\nclient = true\n", ":1: the case a has no nbdkit" },
    { "[a]\nnbdkit = null\n", ":1: the case a has no client" },
    { "[a]\n" COMPLETE "prepare = ${NONE}\n", ":4: ${NONE} is not defined" },
    { "[a]\n" COMPLETE "prepare = ${ NONE\n", ":4: the } of ${ is missing" },
    { "[a]\n" COMPLETE "prepare = ${prepare}\n",
      ":4: ${prepare} is not defined but by itself" },
    { "[a]\n" COMPLETE "prepare = ${A}\nA = x${B}\nB = ${A}\n",
      ":6: ${A} is made of itself" },
    { "[a]\n" COMPLETE "runs = x\n", ":4: runs is no number (10, 64K, 1G): "
                                     "x" },
    { "[a]\n" COMPLETE "runs = -1\n", ":4: runs is no number (10, 64K, 1G): "
                                      "-1" },
    { "[a]\n" COMPLETE "runs = 0\n", ":4: runs is 1 to 1000" },
    { "[a]\n" COMPLETE "runs = 1K\n", ":4: runs is 1 to 1000" },
    { "[a]\n" COMPLETE "size = 18446744073709551616\n",
      ":4: size is no number (10, 64K, 1G): 18446744073709551616" },
    { "[a]\n" COMPLETE "size = 99999999999T\n",
      ":4: size is no number (10, 64K, 1G): 99999999999T" },
    { "[a]\n" COMPLETE "timeout = 0\n", ":4: timeout is no time (30, 1.5, "
                                        "10m): 0" },
    { "[a]\n" COMPLETE "image-size = 40959\nsize = 4K\ncount = 10\n",
      ":4: a: the last request ends at 40960, behind the end of the image at "
      "40959" },
    /* 2^64 more than what fits. */
    { "[a]\n" COMPLETE "image-size = 8K\nsize = 4K\nstep = 16777216T\n"
      "count = 2\n",
      ":6: step is no number (10, 64K, 1G): 16777216T" },
    { "[a]\n" COMPLETE "image-size = 8K\nsize = 4K\nstep = 8388608T\n"
      "count = 3\n",
      ":4: a: the last request ends at 18446744073709555712, behind the end "
      "of the image at 8192" },
    { "[a]\n" COMPLETE "image-size = 8K\nsize = 4K\ncount = 0\n",
      ":4: a: count is 0" },
  };

  (void) state;
  for (size_t i = 0; i < LENGTH (rows); i++)
    is_refused (rows[i].text, strlen (rows[i].text), rows[i].message);
}

static void
test_no_text (void **state)
{
  static const char text[] = "[a]\ncli\0ent = x\n";

  (void) state;
  is_refused (text, sizeof text - 1, ":2: this is no text");
}

/* What would take for ever, or all memory, does not. */
static void
test_explosion (void **state)
{
  static char text[8192];
  size_t len = (size_t) sprintf (text, "[a]\n" COMPLETE "prepare = ${V00}\n");

  (void) state;
  for (int i = 0; i < 64; i++)
    len += (size_t) sprintf (text + len, "V%02d = ${V%02d}${V%02d}\n", i,
                             i + 1, i + 1);
  sprintf (text + len, "V64 =\n");
  is_refused (text, strlen (text), ":65: the value of V60 becomes too long");
  sprintf (text + len, "V64 = %0100d\n", 0);
  is_refused (text, strlen (text), ":65: the value of V60 becomes too long");
}

static void
test_long_line (void **state)
{
  static char text[1024];

  (void) state;
  sprintf (text, "[a]\nnbdkit = null\nclient = %0200d\n", 0);
  is_refused (text, strlen (text), ":3: a line has at most 197 characters; a "
              "value may go on in indented lines below");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_defaults),
    cmocka_unit_test (test_scope),
    cmocka_unit_test (test_asked),
    cmocka_unit_test (test_refused),
    cmocka_unit_test (test_no_text),
    cmocka_unit_test (test_explosion),
    cmocka_unit_test (test_long_line),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
