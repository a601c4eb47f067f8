#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A request that is in flight when the server is told to end does not vanish:
# nbdkit waits until the plugin is done with it, and the report has it.

source ./functions.sh
set -e -u -x

requires nbdsh --version
requires test -e /proc/self/status
requires nbdkit --filter=log --filter=delay sh --version

export tmp
cd "$tmp"
# Reads wait until we let them go on.
cat >plugin <<'EOF'
#!/bin/sh
case $1 in
  thread_model) echo parallel ;;
  get_size) echo 1M ;;
  pread)
    touch "$tmp/in-flight"
    until [ -e "$tmp/go-on" ]; do sleep 0.02; done
    head -c "$3" /dev/zero ;;
  *) exit 2 ;;
esac
EOF
chmod +x plugin
cat >client.py <<'EOF'
try:
    h.pread(512, 0)
    print("read 1 ops 0 failed")
except nbd.Error as error:
    print("read 0 ops 1 failed", error.errno)
EOF

# No signal is pending: its handler has run.
signal_arrived ()
{
  ! grep -E '^(Sig|Shd)Pnd:.*[1-9a-f]' "/proc/$pid/status"
}

start_nbdkit --filter=stats sh ./plugin statsfile=report
nbdsh -u "$uri" -c - <client.py >answer &
client=$!
wait_until test -e in-flight
kill -TERM "$pid"
wait_until signal_arrived
touch go-on
wait "$pid"
wait "$client"
cat answer report
grep -x 'read 1 ops 0 failed' answer
grep -E '^read: 1 ops, .*B/s total$' report
grep -x 'bytes: read 512, written 0, zeroed 0, trimmed 0' report

# A plugin or filter may also break the request off, as the delay filter does.
start_nbdkit --filter=stats --filter=log --filter=delay memory 1M \
             delay-read=600 logfile=log statsfile=report
nbdsh -u "$uri" -c - <client.py >answer &
client=$!
wait_until grep 'Read id=1' log
kill -TERM "$pid"
wait "$pid"
wait "$client"
cat answer report
grep -x 'read 0 ops 1 failed ESHUTDOWN' answer
grep -E '^read: 0 ops, .*, 1 failed$' report
grep -E '^total: 0 ops, .*, 1 failed$' report
