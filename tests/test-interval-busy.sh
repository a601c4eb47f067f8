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
# shellcheck source-path=SCRIPTDIR source=gate.sh
source "$top_srcdir/tests/gate.sh"

requires jq --version

cd "$tmp"
# One read, as long as it takes for some more lines in the report.
cat >client.py <<'EOF'
import gate

def lines():
    with open("report") as f:
        return len(f.readlines())

gate.shut("pread")
h.aio_pread(nbd.Buffer(512), 0)
held = gate.hold(1)
before = lines()
while lines() < before + 4:
    held += gate.hold(1, 0.01)
print(held)
gate.let_through("pread")
gate.until_in_flight(h, 0)
EOF
# run ARGS...
run ()
{
  nbdkit -U - --filter=stats sh "$gate_plugin" \
         statsfile=report statsinterval=0.1 "$@" \
         --run 'nbdsh -u "$uri" -c - <client.py >held'
  held=$(cat held)
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
jq -e 'all(.busy_ns == .elapsed_ns)' middle
jq -e 'all(.layers[0].ops.read | .busy_ns > 0 and .total_ios == 0
                                 and .in_flight.max == 1
                                 and .in_flight.mean == 1)' middle
# It ends in the interval after the last of them, with all of its latency.
jq -e --argjson held "$held" '. as $all | [range(length) |
     select($all[.].layers[0].ops.read.in_flight.now == 1)] | last as $last |
     $all[$last + 1].layers[0].ops.read |
     .total_ios == 1 and .lat_ns.mean >= $held
     and .in_flight.mean == 1' intervals
json_check "read.busy_ns >= $held" 'read.in_flight.max == 1'
jq -e --argjson busy "$(json .busy_ns)" 'map(.busy_ns) | add == $busy' intervals

# In text.
run
cat report
sed '/^$/,$d' report | awk '/seconds/ { next }
                            $11 >= 90 && $3 == 0 && $12 == "1.0" { middle++ }
                            $3 > 0 { ended++ }
                            END { exit !(middle > 0 && ended == 1) }' ||
  fail "no row is busy without a request that ended"
