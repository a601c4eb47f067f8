#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A client that starts its own nbdkit and talks to it through standard input and
# output gets a report on standard error, and its transfer is not disturbed.

source ./functions.sh
set -e -u -x

requires nbdsh --version

cd "$tmp"
cat >client.py <<'EOF'
h.connect_command(["nbdkit", "-s", "--filter=stats", "memory", "1M"])
h.pwrite(b"x" * 1000, 5)
assert h.pread(1002, 4) == b"\0" + b"x" * 1000 + b"\0"
h.shutdown()
# Its end waits for that of nbdkit.
del h
EOF
nbdsh -c - <client.py 2>report || { cat report; fail "the client failed"; }
cat report
grep -E '^elapsed time: [0-9.]+ s$' report
grep -x 'bytes: read 1002, written 1000, zeroed 0, trimmed 0' report
grep -E '^total: 2 ops, ' report

# The client is gone without a goodbye.
cat >client.py <<'EOF'
import os
h.connect_command(["nbdkit", "-s", "--filter=stats", "memory", "1M"])
h.pwrite(b"x" * 1000, 5)
os._exit(0)
EOF
nbdsh -c - <client.py 2>report
complete ()
{
  grep -E '^write: 1 ops, .*B/s total$' report
}
wait_until complete
cat report
grep -x 'bytes: read 0, written 1000, zeroed 0, trimmed 0' report

# The same descriptors are no place for a report, by whatever name.
ln -s /dev/stdout out
for file in /dev/stdout /dev/fd/1 /dev//stdout /dev/fd/0 out; do
  cat >client.py <<END
try:
    h.connect_command(["nbdkit", "-s", "--filter=stats", "memory", "1M",
                       "statsfile=$file"])
    print("it started")
except nbd.Error:
    print("it did not start")
END
  nbdsh -c - <client.py >answer 2>error
  cat answer error
  [ "$(cat answer)" = 'it did not start' ]
  grep "nbdkit: error: statsfile=.*$file: with -s, this is where the client" error
done
# As inetd starts it, with standard error there, too.
cat >client.py <<'END'
try:
    h.connect_command(["sh", "-c", "exec nbdkit -s --filter=stats null 2>&1"])
    print("it started")
except nbd.Error:
    print("it did not start")
END
[ "$(nbdsh -c - <client.py)" = 'it did not start' ]
