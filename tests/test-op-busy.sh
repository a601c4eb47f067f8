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
# shellcheck source-path=SCRIPTDIR source=figures.sh
source "$top_srcdir/tests/figures.sh"

requires nbdsh --version
requires nbdkit eval --version

cd "$tmp"
cat >client.py <<'EOF'
def wait():
    while h.aio_in_flight() > 0:
        h.poll(-1)

for i in range(3):
    h.aio_pread(nbd.Buffer(512), 0)
    h.aio_pwrite(nbd.Buffer(512), 0)
wait()
h.aio_flush()
h.aio_pread(nbd.Buffer(512), 0)
wait()
EOF

nbdkit -U - --filter=stats eval thread_model='echo parallel' \
       get_size='echo 1M' can_write='exit 0' can_flush='exit 0' \
       pread='sleep 0.4; head -c $3 /dev/zero' \
       pwrite='sleep 0.1; cat >/dev/null' flush='sleep 0.8' statsfile=report \
       --run 'nbdsh -u "$uri" -c - <client.py'
cat report
line write | grep -E '^write: 3 ops, '
line read | grep -E '^read: 4 ops, '
line flush | grep -E '^flush: 1 ops, '

# Two rounds of reads, the first one beside the writes and the second one beside
# the flush, which goes on after it.
check "$(seconds write) >= 0.1 && $(seconds write) < $(seconds read)"
check "$(seconds read) >= 0.8 && $(seconds read) < $(seconds total)"
check "$(seconds flush) >= 0.8 && $(seconds flush) < $(seconds total)"
check "$(seconds total) >= 1.2 && $(seconds total) <= $(seconds elapsed)"
sum="$(seconds read) + $(seconds write) + $(seconds flush)"
check "$(seconds total) < $sum - 0.3"
check "$(seconds busy) == $(seconds total)"
