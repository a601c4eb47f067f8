#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Each request is counted once under the largest power of two that its offset is
# a multiple of, and once for its length. An offset of 0 is a multiple of
# everything, and shown so. This holds beyond 4 GiB, too. What block sizes the
# storage advertises stands beside that, and requests are held against these.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdkit --filter=blocksize-policy null --version
requires nbdsh --version

cd "$tmp"
# The plugin is null, which advertises no block sizes in any version of nbdkit;
# newer versions of memory do.
cat >client.py <<'EOF'
for i in range(4):
    h.pread(4096, 0)
for offset in 3 * 4096, 5 * 4096, 7 * 4096:
    h.pread(3 * 512, offset)
for offset in 1, (1 << 40) + 1:
    h.pread(1, offset)
h.pread(4096, 3 << 40)
EOF
# run ARGS...
run ()
{
  nbdkit -U - --filter=stats null 8T statsfile=report "$@" \
         --run 'nbdsh -u "$uri" -c - <client.py'
  cat report
}

run statsformat=json
json_check 'read.alignment.offset | map([.align, .requests]) ==
            [ [1, 2], [4096, 3], [1099511627776, 1], [0, 4] ]' \
           'read.alignment.length | map([.align, .requests]) ==
            [ [1, 2], [512, 3], [4096, 5] ]'

run statsthreshold=100 statsdetail=full
sed -n '/^aligned to/,/^$/p' report | sed -E 's/([^ ]) +/\1 /g' >alignment
diff -u - alignment <<'EOF'
aligned to, and not to twice that offsets % lengths %
read
  4096 (4.00 KiB) 3 30.0% 5 50.0%
  1 B 2 20.0% 2 20.0%
  0, aligned to everything 4 40.0% 0 0.0%
  512 B 0 0.0% 3 30.0%
  1099511627776 (1.00 TiB) 1 10.0% 0 0.0%

EOF

# The rest is what the rows above it do not have.
run statsthreshold=60 statsdetail=full
sed -n '/^aligned to/,/^$/p' report | sed -E 's/([^ ]) +/\1 /g' >alignment
diff -u - alignment <<'EOF'
aligned to, and not to twice that offsets % lengths %
read
  4096 (4.00 KiB) 3 30.0% 5 50.0%
  1 B 2 20.0% 2 20.0%
  3 others 5 50.0% 3 30.0%

EOF

# Reads at multiples of 32 KiB, of storage that prefers 64 KiB. It is asked for
# that only where the client asks.
cat >ask.py <<'EOF'
import os

def connect(ask):
    h = nbd.NBD()
    h.set_request_block_size(ask)
    h.connect_uri(os.environ["uri"])
    for i in range(100):
        h.pread(32768, i * 32768)
    h.shutdown()

connect(True)
connect(True)
if os.environ["both"]:
    connect(False)
EOF
# ask ARGS...: with $both not empty, a third client does not ask.
both=
ask ()
{
  both=$both nbdkit -U - --filter=stats --filter=blocksize-policy null 64M \
       statsfile=report "$@" --run 'export uri; nbdsh -c - <ask.py'
  cat report
}

sizes='{"minimum":512,"preferred":65536,"maximum":33554432'
policy=(blocksize-minimum=512 blocksize-preferred=64K blocksize-maximum=32M)
misaligned='.diagnosis[] | select(.code == "misaligned") | .text'

ask statsformat=json "${policy[@]}"
jq -e ".layers[0].block_size == $sizes, \"differ\":false}" report
jq -r "$misaligned" report |
  grep '^100.0% of the reads are not aligned to the blocks of 64.0 KiB that'
ask statsdetail=full "${policy[@]}"
sed -n '/^aligned to/,/^$/p' report | grep -x 'block sizes advertised: '\
'at least 512 B, preferred 64.0 KiB, at most 32.0 MiB'

# Those of the client that did not ask are aligned to 4 KiB.
both=yes ask statsformat=json "${policy[@]}"
jq -e ".layers[0].block_size == $sizes, \"differ\":true}" report
jq -r "$misaligned" report |
  grep '^66.7% of the reads are not aligned to the blocks that the storage'

# Where there are none, none are told.
ask statsformat=json
jq -e '.layers[0].block_size == null and .diagnosis != null' report
[ -z "$(jq -r "$misaligned" report)" ] || fail "they are aligned to 4 KiB"
ask statsdetail=full
if grep 'block sizes' report; then fail "there are none"; fi
