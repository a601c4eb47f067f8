#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# overhead measures each filter with each backend and number of threads, in all
# rounds, and tells the same as text, as JSON and in a file.

source ./functions.sh
set -e -u -x

requires_tool
requires jq --version
cd "$tmp"

# measure OPTION...: filters that do nothing and that count, quickly
measure ()
{
  nbdkit-stats overhead nofilter --against count:stats statsfile=/dev/null \
               --seconds=0.01 "$@"
}

measure --measure=time --backend=no-op,getppid --threads=1,3 --repeat=3 \
        --output=both.json --clocks >text
cat text both.json

# Each cell of the table is there once, in this order.
jq -r '.time[] | "\(.backend) \(.threads) \(.through)"' both.json >cells
cat >expected <<'END'
no-op 1 two clocks
no-op 1 bypassed
no-op 1 nofilter
no-op 1 count
no-op 3 two clocks
no-op 3 bypassed
no-op 3 nofilter
no-op 3 count
getppid 1 bypassed
getppid 1 nofilter
getppid 1 count
getppid 3 bypassed
getppid 3 nofilter
getppid 3 count
END
diff -u expected cells
awk -F '  +' '/, backend / { sub (/.* /, ""); backend = $0 }
              $2 ~ /^[0-9]+$/ { print backend, $2, $1 }' text >cells
diff -u expected cells

# check EXPRESSION: it is true of JSON
check ()
{
  jq -e "$1" both.json || fail "this is wrong: $1"
}
check '.filters | map (.filter) == ["nofilter", "stats"]'
check '.filters[1] | .name == "count" and .parameters == ["statsfile=/dev/null"]'
check '.time | all (.ns.rounds == 3 and .requests > 0)'
check '.time | all (.ns.min <= .ns.median and .ns.median <= .ns.max)'
check '.time | all (.cpu_ns.median > 0 and .per_second.median > 0)'
check '[.time[] | select (.added_ns) | .through] | unique
       == ["count", "nofilter"]'
# It is held against the filter after --against.
check '.time | all (.through != "count" or .to_against.median == 1)'

# JSON instead of text.
measure --measure=time --backend=no-op --threads=1 --repeat=1 --json >json
jq -e '.time | map (.through) == ["bypassed", "nofilter", "count"]' json

# Each table fits a terminal, and has no blank that nobody sees.
measure --measure=all --backend=no-op,sleep --threads=1,16 --repeat=2 --clocks \
        --connections=3 >text
cat text
titles=$(grep -c ', backend [a-z-]*$' text)
test "$titles" -ge 8            # the ninth needs valgrind
if grep -E '.{81}| $' text; then
  fail "a line is longer than 80 columns, or ends in a blank"
fi

# Only the stats filter has a thread of its own, which works now and then.
nbdkit-stats overhead nofilter --against count:stats statsfile=/dev/null \
             --measure=time,memory --backend=no-op --threads=1 --repeat=1 \
             --seconds=1 --connections=3 --output=both.json
check '.memory | map (.own_threads) == [0, 0, 1]'
check '.time | map (.own_cpu_ns.median > 0) == [false, false, true]'

# One thread, alone and beside others.
measure --measure=beside --backend=no-op --repeat=1 --idle=3,5 --gone=7 \
        --output=both.json
check '.beside | map (select (.through == "count") | [.idle, .gone])
       == [[0, 0], [3, 0], [5, 0], [0, 7]]'
