#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The disk is full as results are written: that is an error, the results of
# before stay whole, and nothing is left.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=bench.sh
source "$top_srcdir/tests/bench.sh"
# shellcheck source-path=SCRIPTDIR source=own-mounts.sh
source "$top_srcdir/tests/own-mounts.sh"

requires_tool
requires jq --version

if [ "${1-}" != inside ]; then
  requires has_own_mounts
  "${own_mounts[@]}" bash "$0" inside
  exit
fi

cd "$tmp"
mkdir small
mount -t tmpfs -o size=64k none small
# A line of a job has no room for long names of directories.
export here=$tmp
cat >fill.job <<'END'
[case]
nbdkit = null
client = true
cleanup = test ! -e "$here/now" || head -c 1M /dev/zero >"$here/small/rest" || true
runs = 2
END

bench fill.job --output=small/results
test "$status" -eq 0
cp small/results before
jq -e '.jobs[0].cases[0].cells[0].runs | length == 2' before
touch now
bench fill.job --output=small/results
ls -l small
test "$status" -eq 2
test "$(grep -c 'small/results: No space left on device' err)" -eq 1
test "$(grep -c '^nbdkit-stats: ' err)" -eq 1
find small -type f | sort | diff - <(printf '%s\n' small/rest small/results)
cmp before small/results
umount small
