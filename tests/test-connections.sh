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
# shellcheck source-path=SCRIPTDIR source=figures.sh
source "$top_srcdir/tests/figures.sh"

requires nbdsh --version
requires nbdkit --filter=delay null --version

cd "$tmp"
cat >client.py <<'EOF'
import os

handles = [nbd.NBD() for i in range(4)]
for i, h in enumerate(handles):
    h.connect_uri(os.environ["uri"])
    # Each in its own way, so that a mix-up would show.
    for j in range(10 * (i + 1)):
        h.pwrite(bytes(1000 + i), j * 2000)

cookies = [h.aio_pread(nbd.Buffer(65536), 0) for h in handles]
for h, cookie in zip(handles, cookies):
    while not h.aio_command_completed(cookie):
        h.poll(-1)
    h.shutdown()
EOF

nbdkit -U - --filter=stats --filter=delay memory 1M delay-read=500ms \
       statsfile=report --run 'export uri; nbdsh -n -c - <client.py'
cat report
written=$((10 * 1000 + 20 * 1001 + 30 * 1002 + 40 * 1003))
grep -x "bytes: read 262144, written $written, zeroed 0, trimmed 0" report
grep -E '^total: 104 ops, ' report
grep -E '^read: 4 ops, ' report
grep -E '^write: 100 ops, ' report
# A sum would be two seconds.
check "$(seconds read) >= 0.5 && $(seconds read) < 1.5"
check "$(seconds total) <= $(seconds elapsed)"
