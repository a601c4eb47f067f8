#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A client that stalls three times and one that pauses before each request make
# the storage wait for as long, and the gaps tell which is which. Each request
# here has a gap before it, since it comes after the one before has ended. Sleeps
# take no less than they say.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdsh --version

cd "$tmp"
# run SECONDS EVERY ARGS...: 60 reads, and before each of EVERY a sleep
run ()
{
  local seconds=$1 every=$2
  shift 2
  nbdkit -U - --filter=stats memory 1M statsfile=report "$@" --run "
    nbdsh -u \"\$uri\" -c '
import time
for i in range(60):
    if i % $every == 0:
        time.sleep($seconds)
    h.pread(512, 512 * i)'"
}

run 0.4 20 statsformat=json
json 'layer(1).gaps'
json_check 'layer(1).gaps.count == 60' \
           'layer(1).account.waiting >= 1.2e9' \
           'layer(1).gaps.sum >= 1.2e9' \
           '[layer(1).gaps.longest[] | select(.ns >= 400e6)] | length >= 3' \
           'layer(1).gaps.percentile["50.000000"] < layer(1).gaps.mean'
# A gap ends where a request begins, and lies within the elapsed time.
# shellcheck disable=SC2016 # the $ is jq's
json_check '.elapsed_ns as $elapsed | layer(1).gaps.longest |
            all(.begin_ns + .ns <= $elapsed)'
jq -r -f "$top_srcdir/tests/json-rules.jq" report >broken-rules
[ ! -s broken-rules ] || fail "broken: $(cat broken-rules)"

run 0.02 1 statsformat=json
json 'layer(1).gaps'
json_check 'layer(1).gaps.count == 60' \
           'layer(1).account.waiting >= 1.2e9' \
           'layer(1).gaps.min >= 20e6' \
           'layer(1).gaps.percentile["1.000000"] >= 20e6'

# In text: beneath the latencies, and the longest among the slowest.
run 0.4 20 statsdetail=full
cat report
grep -A2 '^latency ' report | grep '^waiting  .* ms '
[ "$(sed -n '/^slowest/,/^$/p' report | grep -c '^waiting ')" -eq 3 ]
