#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Connections that come and go, and their threads with them, lose nothing: the
# report counts the requests of all that ever were.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=figures.sh
source "$top_srcdir/tests/figures.sh"

requires nbdsh --version

cd "$tmp"
# Some say goodbye and some just go, and some do nothing. Each connection has
# up to sixteen threads, of which it uses as many as there are requests at once.
cat >client.py <<'EOF'
import os

for i in range(100):
    h = nbd.NBD()
    h.connect_uri(os.environ["uri"])
    for j in range(i % 20):
        h.aio_pread(nbd.Buffer(512), 512 * j)
    while h.aio_in_flight() > 0:
        h.poll(-1)
    if i % 3 != 0:
        h.flush()
    if i % 2 == 0:
        h.shutdown()
    del h
EOF

nbdkit -U - --filter=stats memory 1M statsfile=report \
       --run 'export uri; nbdsh -n -c - <client.py'
cat report
reads=$((5 * 20 * 19 / 2))
grep -x "bytes: read $((reads * 512)), written 0, zeroed 0, trimmed 0" report
grep -E "^total: $((reads + 66)) ops, " report
grep -E "^read: $reads ops, " report
grep -E '^flush: 66 ops, ' report
check "$(seconds busy) <= $(seconds active)"
check "$(seconds active) <= $(seconds elapsed)"
