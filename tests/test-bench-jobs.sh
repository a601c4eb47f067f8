#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Each job that comes with the program is in its list, and works as it is: made
# small by an environment, each of its cases runs.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=bench.sh
source "$top_srcdir/tests/bench.sh"

requires_tool
requires jq --version
requires qemu-img --version
requires nbdcopy --version
requires fio --version

cd "$tmp"
nbdkit-stats bench --list | tee list
if grep -vE '^[a-z-]+ +[^ ].{20,62}$' list; then fail "no good line"; fi
(cd "$top_srcdir/jobs" && printf '%s\n' *.job) |
  diff - <(sed 's/ .*/.job/' list)

bench convert --runs=1 --env=small:DATA=1M,SIZE=4M --output=results
test "$status" -eq 0
grep -E '^qemu-img-full +small .* 4$' out
results_check '[.jobs[0].cases[].cells[0].runs[0].ops.write.io_bytes | . >= 1048576]
                 | all'

bench block-driver --runs=1 --env=small:count=8,IMAGE_SIZE=4M --output=results
test "$status" -eq 0
results_check \
  '[.jobs[0].cases[].name] == ["raw", "qcow2", "vmdk", "fio"]' \
  '.jobs[0].cases[] | select(.name == "raw") | .cells[0].runs[0].ops.write
     | [.total_ios, .io_bytes] == [8, 1048576]' \
  '.jobs[0].cases[] | select(.name == "fio") | .cells[0].runs[0]
     | .client.lat_ns.mean > .ops.write.lat_ns.mean'
# The filter's latency beside the client's.
grep -E "^case .* mean +p50 +p99 +client's +p50 +p99$" out

bench write-requests --runs=1 --env=small:count=1,IMAGE_SIZE=104M --output=results
test "$status" -eq 0
results_check '[.jobs[0].cases[].cells[0].runs | length] | add == 9'
