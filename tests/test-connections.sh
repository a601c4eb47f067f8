#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Connections that are open at the same time add up: their requests and bytes,
# and their busy time as the time with a request of any of them in flight.

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
import os

import gate

handles = [nbd.NBD() for i in range(4)]
for i, h in enumerate(handles):
    h.connect_uri(os.environ["uri"])
    # Each in its own way, so that a mix-up would show.
    for j in range(10 * (i + 1)):
        h.pwrite(bytes(1000 + i), j * 2000)

gate.shut("pread")
cookies = [h.aio_pread(nbd.Buffer(65536), 0) for h in handles]
print(gate.hold(len(handles)))
gate.let_through("pread")
for h, cookie in zip(handles, cookies):
    while not h.aio_command_completed(cookie):
        h.poll(-1)
    h.shutdown()
EOF

nbdkit -U - --filter=stats sh "$gate_plugin" statsfile=report \
       statsformat=json --run 'export uri; nbdsh -n -c - <client.py >held'
cat report held
written=$((10 * 1000 + 20 * 1001 + 30 * 1002 + 40 * 1003))
held=$(cat held)
json_check 'read | [.total_ios, .io_bytes] == [4, 262144]' \
           "write | [.total_ios, .io_bytes] == [100, $written]" \
           'sum(.layers[0].ops[].total_ios) == 104' \
           'read.in_flight.max == 4'
# As long as all four were in flight, it counts once.
json_check "read.busy_ns >= $held" \
           "read | .lat_ns.mean * 4 - .busy_ns > 2.99 * $held" \
           '.busy_ns <= .elapsed_ns'
