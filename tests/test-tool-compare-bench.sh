#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# compare of two results of bench compares the cells that both have, case by
# case, and corrects what it claims for how many there are.

source ./functions.sh
set -e -u -x

requires_tool
requires jq --version

cd "$tmp"
# result SECONDS-OF-ONE SECONDS-OF-TWO: five runs each of two cases
result ()
{
  jq -n -c '
    def run(s): {client: {wall_seconds: s, seconds: s},
      elapsed_ns: 9e9, active_ns: 8e9, busy_ns: 1e9,
      ops: {write: {total_ios: 10, io_bytes: 40960, busy_ns: (s * 1e8),
            failed: {total: 0},
            lat_ns: {mean: 1e6, percentile: {"50.000000": 1e6,
                                             "99.000000": 2e6}}}}};
    def cell(name; s): {environment: name,
                        runs: [range(5) | run(s + . / 100)]};
    {schema: 1, type: "bench", jobs: [{name: "job", cases: [
      {name: "one", cells: [cell("old"; '"$1"'), cell("new"; 2)]},
      {name: "two", cells: [cell("old"; '"$2"')]}]}]}'
}

result 1 1 >a
result 1.5 1 >b
nbdkit-stats compare a b | tee out
grep -A1 '^== job one old$' out | grep '^B takes 1\.49 times as long as A'
grep -A1 '^== job one new$' out | grep '^No difference in time is proven: '
grep -A1 '^== job two old$' out | grep '^No difference in time is proven: '

# The time is the client's own, and p is three times what one test gives.
nbdkit-stats compare --json a b >json
jq -e '.comparisons | map(.name) == ["job one old", "job one new",
                                     "job two old"]' json
jq -e '.comparisons[0].time_ns | (.a - 1.02e9 | fabs) < 1e3 and
       (.p - 3 * 2 / 252 | fabs) < 1e-9' json

status=0
nbdkit-stats compare --fail-above=20 a b >out || status=$?
test "$status" -eq 3

# What one of them has not is told.
jq -c 'del(.jobs[0].cases[1])' b >c
nbdkit-stats compare a c >out 2>err
grep '^nbdkit-stats: c: there is no run of job two old in it, which a has$' err

# A report is something else.
nbdkit -U - --filter=stats null 1M statsfile=report statsformat=json --run true
status=0
nbdkit-stats compare a report 2>err || status=$?
test "$status" -eq 2
grep '^nbdkit-stats: report: is a report, and a is a result of bench$' err
status=0
jq -c '.schema = 2' a >later
nbdkit-stats compare later a 2>err || status=$?
test "$status" -eq 2
grep '^nbdkit-stats: later:1: schema is 2, and this version reads 1$' err
