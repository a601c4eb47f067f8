#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# With statsblock=SIZE the report says how requests fit blocks of this size: how
# many are whole blocks, how many are smaller, and how many blocks they touch.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdsh --version

cd "$tmp"
cat >client.py <<'EOF'
# As large as a block, and across a border: at odd multiples of 4 KiB.
for i in range(16):
    h.pread(128 << 10, (2 * i + 1) * 4096)
# The same at whole blocks.
for i in range(5):
    h.pwrite(bytes(128 << 10), i * 128 << 10)
# Three blocks, four, and five.
h.cache(384 << 10, 0)
h.cache(384 << 10, 4096)
h.cache(512 << 10, 4096)
# Smaller than a block: at its begin, at its end, and across.
h.zero(4096, 0)
h.zero(4096, (128 << 10) - 4096)
h.zero(4096, (128 << 10) - 2048)
# A block or more at an aligned offset, and not a whole number of them.
h.trim((128 << 10) + 1, 0)
h.flush()
EOF
# run ARGS...
run ()
{
  nbdkit -U - --filter=stats memory 16M statsfile=report "$@" \
         --run 'nbdsh -u "$uri" -c - <client.py'
  cat report
}

run statsformat=json statsblock=128K
# Aligned, smaller, blocks touched by all, and how many touch 1, 2, 3, more.
json_check 'fit(read) == [0, 0, 32, 0, 16, 0, 0]' \
           'fit(write) == [5, 0, 5, 5, 0, 0, 0]' \
           'fit(cache) == [1, 0, 12, 0, 0, 1, 2]' \
           'fit(zero) == [0, 3, 4, 2, 1, 0, 0]' \
           'fit(trim) == [0, 0, 2, 0, 1, 0, 0]' \
           'flush.block_fit == null'

run statsblock=128K statsdetail=full
sed -n '/^block fit/,/^$/p' report | sed 's/  */ /g' >fit
diff -u - fit <<'EOF'
block fit, blocks of 131072 bytes (128 KiB)
 aligned smaller blocks each touch 1 2 3 more
read 0 0 2.00 0 16 0 0
write 5 0 1.00 5 0 0 0
trim 0 0 2.00 0 1 0 0
zero 0 3 1.33 2 1 0 0
cache 1 0 4.00 0 0 1 2

EOF

# A size that is no power of two.
run statsformat=json statsblock=100000
json_check 'fit(write) == [0, 0, 11, 0, 4, 1, 0]'

# Hexadecimal, and as nbdkit takes it.
run statsformat=json statsblock=0x20000
json_check 'read.block_fit.block == 131072' 'fit(write) == [5, 0, 5, 5, 0, 0, 0]'
run statsformat=json statsblock=512B
json_check 'read.block_fit.block == 512'

# Unasked nothing is told.
run statsdetail=full
if grep 'block fit' report; then fail "nobody asked for it"; fi
run statsformat=json
json_check 'read.block_fit == null'
