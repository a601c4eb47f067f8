#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Clients that hang, that fail, that are killed or leave something behind: each
# is told with its last words, the others go on, and nothing is left.

# shellcheck disable=SC2016 # the shell of the job expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=bench.sh
source "$top_srcdir/tests/bench.sh"

requires_tool
requires jq --version
requires setsid --version

cd "$tmp"
# A line of a job has no room for long names of directories.
export here=$tmp
cat >clients.job <<'END'
[global]
nbdkit = memory 1M
client = true
runs = 2

[good]

[fails]
client = echo first line; echo Not now. >&2; exit 3

[killed]
client = kill -SEGV $$

# With children, one of which will not end, and one that left the group. It has
# to come to its first word within the time, on a busy machine, too.
[hangs]
timeout = 10
client = echo I wait.; trap "" TERM; sleep 1000 & setsid sleep 1000 & wait

[leaves]
client = setsid sleep 1000 & setsid -f sleep 1000

[no-preparation]
prepare = echo There is no disk.; false

[no-server]
nbdkit = memory

# Behind this error nbdkit says where to read more.
[no-plugin]
nbdkit = ./absent.so

[dying-server]
client = kill -KILL $(cat "$(dirname "$unixsocket")/pid"); sleep 1000
timeout = 5

[not-served]
nbdkit = --dump-plugin memory

[also-good]
END

bench clients.job --output=results
test "$status" -eq 1

told ()
{
  grep -xE "nbdkit-stats: clients: $1" err
  grep -q "FAILED: ${1%%:*}" out
}

told 'fails: client: exit status 3: Not now\.'
told 'killed: client: killed by signal 11 \(Segmentation fault\)'
told 'hangs: client: ended by the timeout: I wait\.'
told 'no-preparation: prepare: exit status 1: There is no disk\.'
told 'no-server: nbdkit: exit status 1: .*size.*'
told 'no-plugin: nbdkit: exit status 1: nbdkit: error: .*absent\.so.*'
told 'dying-server: nbdkit: killed by signal 9 \(Killed\)'
told 'not-served: nbdkit: does not serve.*'
test "$(grep -c '^nbdkit-stats: ' err)" -eq 8

for name in good leaves also-good; do
  grep -xE "clients: $name: 2 runs" err
done
results_check \
  '[.jobs[0].cases[] | .cells[0].runs | length]
     == [2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 2]' \
  '[.jobs[0].cases[] | .cells[0].failure | . == null]
     == [true, false, false, false, true, false, false, false, false, false,
         true]'

# Where none has run, there is nothing to tell of what they did.
printf '%s\n' '[none]' 'nbdkit = memory 1M' 'client = false' >none.job
bench none.job --env=a:runs=3 --env=b:runs=3
test "$status" -eq 1
grep -xE 'none +a +0' out
if grep -E '^(latency|what|where|seconds)' out; then fail "there is an empty table"; fi

# One that fails at its third run: the two before count.
cat >third.job <<END
[third]
nbdkit = memory 1M
client = echo >>"\$here/runs"; test \$(wc -l <"\$here/runs") -ne 3
END
bench third.job --output=results
test "$status" -eq 1
results_check '.jobs[0].cases[0].cells[0].runs | length == 2'
# It is tried again, and they stay.
bench third.job --output=results --resume
test "$status" -eq 0
test "$(wc -l <runs)" -eq 6
results_check '.jobs[0].cases[0].cells[0].runs | length == 5'
