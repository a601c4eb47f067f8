#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What the diagnosis says about where the time went: into flushing, into questions
# about extents, into opening the connection, and into waiting for the client
# before its first request and after its last.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=diagnosis.sh
source "$top_srcdir/tests/diagnosis.sh"

requires jq --version
requires nbdinfo --version
requires nbdkit eval --version
requires nbdkit --filter=delay --filter=error null --version
requires nbdsh --version
requires qemu-img --version

cd "$tmp"
# A flush behind each write, which takes longer than the write does, however
# long it takes to start a command.
bench -w -d 1 -s 64k -c 16 --flush-interval=1 -- --filter=stats eval \
      get_size='echo 64M' pread='exit 1' can_write='exit 0' \
      pwrite='cat >/dev/null' can_flush='exit 0' flush='sleep 0.1'
found flush 'A flush was in flight for [0-9.]+% .* flushes of [0-9.]+ ms on average'

cat >client.py <<'EOF'
for i in range(20):
    h.block_status(65536, 0, lambda *args: 0)
EOF
provoke --filter=stats --filter=delay memory 64M delay-extents=60ms \
        --run 'nbdsh --base-allocation -u "$uri" -c - <client.py'
found extents-time 'asked for during [0-9.]+% .*: 20 requests of [0-9.]+ ms on'

# The same where none of them succeeds.
cat >client.py <<'EOF'
for i in range(20):
    try:
        h.block_status(65536, 0, lambda *args: 0)
    except nbd.Error:
        pass
EOF
provoke --filter=stats --filter=delay --filter=error memory 64M \
        delay-extents=60ms error-extents=EIO error-extents-rate=100% \
        --run 'nbdsh --base-allocation -u "$uri" -c - <client.py'
found extents-time ': 20 requests of [0-9.]+ ms on average, of which 20 failed'

provoke --filter=stats --filter=delay memory 64M delay-open=1100ms \
        --run 'nbdinfo --size "$uri"'
found slow-open 'being opened for a client: .* longest took [0-9.]+ s'

# None takes a second, and all together more.
provoke --filter=stats --filter=delay memory 64M delay-open=400ms \
        --run 'for i in 1 2 3 4; do nbdsh -u "$uri" -c "h.pread (512, 0)"; done'
found slow-open 'being opened for a client: 4 openings ended; the longest took'

# The waits are the load. The second one is longer than all that was before it.
cat >waits <<'EOF'
sleep 1.2
nbdsh -u "$uri" -c 'h.pread(512, 0)'
sleep "$((SECONDS + 2))"
EOF
provoke --filter=stats memory 64M --run 'export uri; bash ./waits'
found late-start '[0-9.]+ s passed before the first request'
found late-end '[0-9.]+ s passed after the last request'
