#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Requests in flight, of each operation and of all together: how many at most,
# and how many on average while there was one.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"
# shellcheck source-path=SCRIPTDIR source=gate.sh
source "$top_srcdir/tests/gate.sh"

requires jq --version

cd "$tmp"
# run ARGS...: with the client on standard input
run ()
{
  cat >client.py
  nbdkit -U - -t 16 --filter=stats "$@" statsfile=report \
         --run 'nbdsh -u "$uri" -c - <client.py >held'
  cat report held
}

# Sixteen reads.
sixteen='import gate
gate.shut("pread")
for i in range(16):
    h.aio_pread(nbd.Buffer(512), i * 512)
print(gate.hold(16))
gate.let_through("pread")
gate.until_in_flight(h, 0)'
run sh "$gate_plugin" statsformat=json <<<"$sixteen"
json_check 'read.in_flight.max == 16' \
           'read.in_flight.mean > 1 and read.in_flight.mean <= 16' \
           "read | .in_flight.mean * .busy_ns > 15.99 * $(cat held)" \
           'read.in_flight.now == 0' \
           '.layers[0].in_flight == read.in_flight'

# As many reads as writes.
run sh "$gate_plugin" statsformat=json <<'EOF'
import gate
gate.shut("pread", "pwrite")
data = nbd.Buffer(512)
for i in range(8):
    h.aio_pread(nbd.Buffer(512), i * 512)
    h.aio_pwrite(data, 65536 + i * 512)
print(gate.hold(16))
gate.let_through("pread", "pwrite")
gate.until_in_flight(h, 0)
EOF
json_check 'read.in_flight.max == 8' 'write.in_flight.max == 8' \
           'read.in_flight.mean <= 8' \
           '.layers[0].in_flight.max == 16' \
           ".layers[0].in_flight.mean * .busy_ns > 15.99 * $(cat held)"

# One after the other, whatever they are.
run memory 1M statsformat=json <<'EOF'
for i in range(2):
    h.pread(512, 0)
    h.pwrite(bytes(512), 0)
    h.zero(512, 0)
EOF
json_check 'read.in_flight | .max == 1 and .mean == 1' \
           '.layers[0].in_flight | .max == 1 and .mean == 1' \
           'trim.in_flight == { mean: null, max: 0, now: 0, ns: 0 }'

run sh "$gate_plugin" statsdetail=full <<<"$sixteen"
sed -n '/^in flight /,/^$/p' report >in-flight
grep -Ex 'in flight    mean     most' in-flight
grep -Ex 'all +[0-9.]+ +16' in-flight
grep -Ex 'read +[0-9.]+ +16' in-flight
[ "$(wc -l <in-flight)" -eq 4 ] || fail "rows for what there was not"
