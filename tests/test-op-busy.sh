#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Each operation has a busy time of its own, and where operations run at the
# same time the total's is shorter than their sum. So a rare flush that takes
# most of the time is seen for what it is.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"
# shellcheck source-path=SCRIPTDIR source=gate.sh
source "$top_srcdir/tests/gate.sh"

requires jq --version

cd "$tmp"
cat >client.py <<'EOF'
import gate

gate.shut("pread", "pwrite", "flush")
for i in range(3):
    h.aio_pread(nbd.Buffer(512), 0)
    h.aio_pwrite(nbd.Buffer(512), 0)
beside_writes = gate.hold(6)
gate.let_through("pwrite")
gate.until_in_flight(h, 3)
reads_alone = gate.hold(3)
gate.let_through("pread")
gate.until_in_flight(h, 0)

gate.shut("pread")
h.aio_flush()
h.aio_pread(nbd.Buffer(512), 0)
beside_flush = gate.hold(2)
gate.let_through("pread")
gate.until_in_flight(h, 1)
flush_alone = gate.hold(1, 1)
gate.let_through("flush")
gate.until_in_flight(h, 0)
print(beside_writes, reads_alone, beside_flush, flush_alone)
EOF

nbdkit -U - --filter=stats sh "$gate_plugin" statsfile=report \
       statsformat=json --run 'nbdsh -u "$uri" -c - <client.py >held'
cat report held
read -r beside_writes reads_alone beside_flush flush_alone <held
json_check 'write.total_ios == 3' 'read.total_ios == 4' 'flush.total_ios == 1'

# Each hold is within the times of the requests that it was of, and outside of
# all others. Openings are in no operation's time, so they are left out of the
# total, too.
json_check "write.busy_ns >= $beside_writes" \
           "read.busy_ns >= $beside_writes + $reads_alone + $beside_flush" \
           "flush.busy_ns >= $beside_flush + $flush_alone" \
           "layer(1).request_busy_ns - write.busy_ns >=
            $reads_alone + $beside_flush + $flush_alone" \
           "layer(1).request_busy_ns - read.busy_ns >= $flush_alone" \
           "layer(1).request_busy_ns - flush.busy_ns >=
            $beside_writes + $reads_alone" \
           "sum(read, write, flush | .busy_ns) - layer(1).request_busy_ns >=
            $beside_writes + $beside_flush" \
           'layer(1).request_busy_ns <= .busy_ns' '.busy_ns <= .elapsed_ns'
