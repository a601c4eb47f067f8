#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# statsthreshold says how many percent of the requests the text report breaks
# down: as many classes of sizes as it takes, the most frequent first. What is
# left stands in one row that has exactly the requests and bytes not listed.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x

requires nbdsh --version

cd "$tmp"
cat >client.py <<'EOF'
for requests, size in ((60, 4096), (25, 65536), (9, 1 << 20), (3, 512), (2, 64),
                       (1, 8)):
    for i in range(requests):
        h.pread(size, 0)
EOF

cat >all <<'EOF'
4096 (4.00 KiB): 60, 240 KiB
65536 (64.0 KiB): 25, 1.56 MiB
1048576 (1.00 MiB): 9, 9.00 MiB
512 B: 3, 1.50 KiB
64 B: 2, 128 B
8 B: 1, 8 B
EOF

# expect N REST [PARAMETER]: the sizes are the first N of all, with their
# requests and bytes, and a row of the rest if there is one.
expect ()
{
  { head -n "$1" all; if [ "$2" ]; then echo "$2"; fi; } >expected
  nbdkit -U - --filter=stats memory 1M statsfile=report \
         statsdetail=full "${@:3}" \
         --run 'nbdsh -u "$uri" -c - <client.py'
  cat report
  sed -n '/^sizes  /,/^$/s/^  //p' report |
    sed -E 's/^(.*[^ ]) +([0-9]+) +[0-9.]+% +([0-9.]+ [KMG]?i?B) .*/\1: \2, \3/' \
        >sizes
  diff -u expected sizes ||
    fail "other sizes (+) than those (-) with: ${*:3}"
}

expect 6 '' statsthreshold=100
expect 4 '2 others: 3, 136 B' # The default is 95.
expect 3 '3 others: 6, 1.63 KiB' statsthreshold=94
expect 4 '2 others: 3, 136 B' statsthreshold=94.001
expect 1 '5 others: 40, 10.6 MiB' statsthreshold=0.1
# One alone stands by itself, and not as the rest.
expect 6 '' statsthreshold=98
# 0 is none, and no heading either.
expect 0 '' statsthreshold=0
if grep -E '^(sizes|aligned)|^  [0-9]+ other' report; then
  fail "there is something"
fi
