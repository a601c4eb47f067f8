#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# With statsinterval the text report begins with a row for each interval: at most
# 80 columns, whatever the rates are, and a heading above every twentieth. The
# whole report follows after an empty line. The rates are those of the interval,
# failures are counted, and the time is that of the wall clock.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=figures.sh
source "$top_srcdir/tests/figures.sh"

requires nbdsh --version
requires nbdkit --filter=error null --version

cd "$tmp"
# Very large rates, until there are enough rows.
cat >client.py <<'EOF'
def rows():
    with open("report") as f:
        return sum(1 for line in f)

enough = rows() + 50
while rows() < enough:
    for i in range(100):
        h.zero((1 << 32) - 512, i << 32)
        h.trim((1 << 32) - 512, i << 32)
        h.pread(512, i << 32)
EOF
nbdkit -U - --filter=stats null 1P statsfile=report statsinterval=20ms \
       --run 'nbdsh -u "$uri" -c - <client.py'
cat report
sed '/^$/,$d' report >rows
sed -n 1p rows | grep -E '^UTC +seconds +read +B/s +write +B/s +zero +trim'
awk 'length > 80 { print; bad = 1 } END { exit bad }' report ||
  fail "a line is longer than 80 columns"
awk '/seconds/ != (NR % 21 == 1) { print NR ": " $0; bad = 1 }
     END { exit bad }' rows || fail "a heading is missing or one too many"
awk '/seconds/ { next }
     NF != 13 || $1 !~ /^[0-9][0-9]:[0-9][0-9]:[0-9][0-9]$/ || $2 < before {
       print; bad = 1
     }
     { before = $2 }
     END { exit bad }' rows || fail "that is no row"
grep '[0-9]k ' rows
[ "$(grep -c '^elapsed time: ' report)" -eq 1 ] || fail "not one final report"
line zero

# The rates times the seconds are the requests and the bytes.
cat >client.py <<'EOF'
import time

end = time.monotonic() + 2
while time.monotonic() < end:
    for i in range(10):
        h.pwrite(bytes(8192), i * 8192)
EOF
nbdkit -U - --filter=stats memory 1M statsfile=report statsinterval=0.5 \
       --run 'nbdsh -u "$uri" -c - <client.py'
cat report
awk '
  function number (text, unit) {
    unit = text
    gsub (/[0-9.]/, "", unit)
    return text * scale[unit]
  }
  BEGIN {
    scale[""] = scale["B"] = 1; scale["k"] = 1000
    scale["K"] = 1024; scale["M"] = 1024 ^ 2; scale["G"] = 1024 ^ 3
  }
  /^$/ { exit }
  /seconds/ { next }
  { requests += number($5) * ($2 - before)
    bytes += number($6) * ($2 - before)
    before = $2 }
  END { printf "%.0f %.0f\n", requests, bytes }' report >sums
cat sums
read -r requests bytes <sums
total=$(line write | sed -E 's/^write: ([0-9]+) ops.*/\1/')
check "$requests > 0.9 * $total && $requests < 1.1 * $total"
check "$bytes > 0.9 * 8192 * $total && $bytes < 1.1 * 8192 * $total"

# Flushes and failures, by the wall clock of the time.
cat >client.py <<'EOF'
for i in range(7):
    h.flush()
for i in range(5):
    try:
        h.pread(512, 0)
        raise Exception("this read should fail")
    except nbd.Error:
        pass
EOF
begin=$(date -u +%T)
nbdkit -U - --filter=stats --filter=error memory 1M statsfile=report \
       statsinterval=1000 error-pread=EIO error-pread-rate=100% \
       --run 'nbdsh -u "$uri" -c - <client.py'
end=$(date -u +%T)
cat report
read -r when seconds _ _ _ _ _ _ flush fail _ < <(sed -n 2p report)
[ "$fail" = 5 ] || fail "five failed"
check "$flush * $seconds > 6.5 && $flush * $seconds < 7.5"
# Unless it became midnight meanwhile.
if [[ ! $end < $begin ]]; then
  [[ ! $when < $begin && ! $when > $end ]] || fail "it was $begin to $end"
fi
