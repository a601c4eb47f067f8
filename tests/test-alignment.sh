#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Each request is counted once under the largest power of two that its offset is
# a multiple of, and once for its length. An offset of 0 is a multiple of
# everything, and shown so. This holds beyond 4 GiB, too.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdsh --version

cd "$tmp"
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
  nbdkit -U - --filter=stats memory 8T statsfile=report "$@" \
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
