#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A failed request is told on its operation's line and in the total, and is in
# no other figure: neither in the requests nor in the bytes.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=log-totals.sh
source "$top_srcdir/tests/log-totals.sh"

requires nbdsh --version
requires nbdkit --filter=log --filter=error null --version

cd "$tmp"
# Some requests fail, at random, and the client counts what it gets.
cat >client.py <<'EOF'
import sys

def count(name, size, call):
    good = bad = 0
    for i in range(200):
        try:
            call(i * size)
            good += 1
        except nbd.Error as error:
            assert error.errno, error
            bad += 1
    print(name, good, bad, size * good)

count("read", 1000, lambda offset: h.pread(1000, offset))
count("write", 2000, lambda offset: h.pwrite(bytes(2000), offset))
count("trim", 3000, lambda offset: h.trim(3000, offset))
count("zero", 4000, lambda offset: h.zero(4000, offset))
EOF

nbdkit -U - --filter=log --filter=stats --filter=error memory 1M \
       error=EIO error-rate=50% error-pwrite=ENOSPC error-pwrite-rate=10% \
       logfile=log statsfile=report \
       --run 'nbdsh -u "$uri" -c - <client.py >client-totals'
same_totals log report

cat client-totals
report_totals report >report-totals
diff -u client-totals report-totals ||
  fail "the client (-) and the report (+) differ"

# All of them fail.
rm report
cat >client.py <<'EOF'
for i in range(3):
    try:
        h.pread(512, 0)
        raise Exception("this read should fail")
    except nbd.Error:
        pass
EOF
nbdkit -U - --filter=stats --filter=error memory 1M error-pread=EIO \
       error-pread-rate=100% statsfile=report \
       --run 'nbdsh -u "$uri" -c - <client.py'
cat report
grep -E '^bytes: read 0, written 0, zeroed 0, trimmed 0$' report
grep -E '^read: 0 ops, .*, 3 failed$' report
grep -E '^total: 0 ops, .*, 3 failed$' report
