#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The total line counts the requests of all seven operations, cache requests and
# questions about extents too, and its bytes and rates are those of reads and
# writes.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=figures.sh
source "$top_srcdir/tests/figures.sh"

requires nbdsh --version

cd "$tmp"
# A number of its own for each operation.
cat >client.py <<'EOF'
calls = {
    1: lambda offset: h.pread(1024, offset),
    2: lambda offset: h.pwrite(bytes(2048), offset),
    3: lambda offset: h.trim(1 << 20, offset),
    4: lambda offset: h.zero(2 << 20, offset),
    5: lambda offset: h.block_status(4 << 20, offset, lambda *args: 0),
    6: lambda offset: h.cache(8 << 20, offset),
    7: lambda offset: h.flush(),
}
for count, call in calls.items():
    for i in range(count):
        call(i << 16)
EOF

nbdkit -U - --filter=stats memory 64M statsfile=report \
       --run 'nbdsh --base-allocation -u "$uri" -c - <client.py'
cat report
line read | grep -E '^read: 1 ops, .* s, 1\.00 KiB, '
line write | grep -E '^write: 2 ops, .* s, 4\.00 KiB, '
line trim | grep -E '^trim: 3 ops, .* s, 3\.00 MiB, '
line zero | grep -E '^zero: 4 ops, .* s, 8\.00 MiB, '
line extents | grep -E '^extents: 5 ops, .* s, 20\.0 MiB, '
line cache | grep -E '^cache: 6 ops, .* s, 48\.0 MiB, '
line flush | grep -E '^flush: 7 ops, [0-9.]+ s$'
line total | grep -E '^total: 28 ops, .* s, 5\.00 KiB, '
close_to "$(rate total total)" "5 * 1024 / $(seconds elapsed)"
grep -x 'bytes: read 1024, written 4096, zeroed 8388608, trimmed 3145728' report

# In this order, whatever came first.
expected="total read write trim zero extents cache flush"
order=$(sed -n 's/^\([a-z]*\): [0-9]* ops, .*/\1/p' report | xargs)
[ "$order" = "$expected" ] || fail "the order is: $order"
