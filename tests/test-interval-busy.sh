#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A request that takes longer than an interval keeps the storage busy in each of
# them, and is counted in the one in which it ends.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdkit --filter=delay null --version
requires nbdsh --version

cd "$tmp"
# run ARGS...
run ()
{
  nbdkit -U - --filter=stats --filter=delay memory 1M delay-read=1500ms \
         statsfile=report statsinterval=0.2 "$@" \
         --run 'nbdsh -u "$uri" -c "h.pread(512, 0)"'
}

run statsformat=json
jq -c '[.type, .elapsed_ns, .busy_ns,
        (.layers[0].ops.read | .total_ios, .in_flight.now, .in_flight.max)]' \
   report
jq -s 'map(select(.type == "interval"))' report >intervals
jq -e 'map(.layers[0].ops.read.total_ios) | add == 1' intervals
# Those between one that ends with the request in flight and another.
jq '. as $all | [range(1; length) |
     select(all($all[. - 1, .]; .layers[0].ops.read.in_flight.now == 1)) |
     $all[.]]' intervals >middle
jq -e 'length > 0' middle
jq -e 'all(.busy_ns > 0.9 * .elapsed_ns and .busy_ns < 1.1 * .elapsed_ns)' middle
jq -e 'all(.layers[0].ops.read | .busy_ns > 0 and .total_ios == 0
                                 and .in_flight.max == 1
                                 and .in_flight.mean == 1)' middle
# It ends in the interval after the last of them, with all of its latency.
jq -e '. as $all | [range(length) |
     select($all[.].layers[0].ops.read.in_flight.now == 1)] | last as $last |
     $all[$last + 1].layers[0].ops.read |
     .total_ios == 1 and .lat_ns.mean >= 1.5e9
     and .in_flight.mean == 1' intervals
json_check 'read.busy_ns >= 1.5e9' 'read.in_flight.max == 1'
jq -e --argjson busy "$(json .busy_ns)" 'map(.busy_ns) | add == $busy' intervals

# In text.
run
cat report
sed '/^$/,$d' report | awk '/seconds/ { next }
                            $10 >= 90 && $2 == 0 && $11 == "1.0" { middle++ }
                            $2 > 0 { ended++ }
                            END { exit !(middle > 0 && ended == 1) }' ||
  fail "no row is busy without a request that ended"
