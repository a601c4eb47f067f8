#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Offsets beyond 4 GiB, up to the end of the largest disk there is, reach the
# plugin whole, and the bytes there are counted like all others.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=log-totals.sh
source "$top_srcdir/tests/log-totals.sh"

requires nbdsh --version
requires nbdkit --filter=log null --version

cd "$tmp"
cat >client.py <<'EOF'
offsets = [0] + [1 << n for n in (31, 32, 33, 40, 52, 53, 62)]
end = h.get_size()
for offset in offsets + [end - 4096]:
    h.pwrite(b"%016x" % offset * 256, offset)
for offset in offsets + [end - 4096]:
    assert h.pread(4096, offset) == b"%016x" % offset * 256, offset
    h.cache(512, offset)
    h.block_status(4096, offset, lambda *args: 0)
    h.trim(1024, offset)
    h.zero(2048, offset + 1024)
    assert h.pread(4096, offset) == bytes(3072) + b"%016x" % offset * 64, offset
EOF

nbdkit -U - --filter=stats --filter=log memory $((0x7ffffffffffffe00)) \
       logfile=log statsfile=report \
       --run 'nbdsh --base-allocation -u "$uri" -c - <client.py'
same_totals log report
# All but the request to zero begin at these nine places.
for offset in 0x0 0x80000000 0x100000000 0x200000000 0x10000000000 \
              0x10000000000000 0x20000000000000 0x4000000000000000 \
              0x7fffffffffffee00; do
  [ "$(grep -c " offset=$offset count=.*\.\.\.$" log)" -eq 6 ] ||
    { cat log; fail "at $offset something went wrong"; }
done
