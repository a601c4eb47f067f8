#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# With statsinterval one sees what happens while the server runs: rows come into
# the file as time passes, with the requests of their interval, in place of the
# report of an earlier run. In JSON each interval is a whole line.

source ./functions.sh
set -e -u -x

requires jq --version
requires nbdsh --version

cd "$tmp"
echo 'an old report' >report
start_nbdkit --filter=stats memory 1M statsfile=report statsinterval=0.05

rows ()
{
  [ "$(grep -c '^[0-9:]\{8\} ' report)" -ge "$1" ]
}
# There was a read in one interval.
read_seen ()
{
  awk '/^[0-9]/ && $3 != 0 { seen = 1 } END { exit !seen }' report
}
wait_until rows 3
cat report
if grep 'an old report' report; then fail "the old report is still there"; fi
if read_seen; then fail "it has a read that there was not"; fi
nbdsh -u "$uri" -c 'h.pread(512, 0)'
wait_until read_seen
if grep 'elapsed time' report; then fail "there is a final report"; fi
cp report before
stop_nbdkit
cat report
# What stood there goes on.
head -c "$(wc -c <before)" report | cmp - before
grep -E '^read: 1 ops, ' report

# With statsappend below what there is.
echo 'an old report' >report
start_nbdkit --filter=stats memory 1M statsfile=report statsinterval=0.05 \
             statsappend=true
wait_until rows 3
sed -n 1p report | grep -x 'an old report'
stop_nbdkit
grep -E '^elapsed time: ' report

# JSON.
rm report
start_nbdkit --filter=stats memory 1M statsfile=report statsinterval=0.05 \
             statsformat=json
lines ()
{
  [ "$(wc -l <report)" -ge "$1" ]
}
reads ()
{
  jq -s 'map(.layers[0].ops.read.total_ios) | add // 0' report
}
wait_until lines 3
[ "$(reads)" -eq 0 ] || fail "it has a read that there was not"
nbdsh -u "$uri" -c 'h.pread(512, 0)'
one_read ()
{
  [ "$(reads)" -eq 1 ]
}
wait_until one_read
cat report
jq -e -s 'all(.type == "interval")' report
stop_nbdkit
jq -e -s '.[-1].type == "final" and .[-1].layers[0].ops.read.total_ios == 1' \
   report
