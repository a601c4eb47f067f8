#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# In the background standard error leads nowhere, so without a statsfile the
# report goes to the system log, a line a message. But whoever started nbdkit
# with standard error on /dev/null wants no report, and gets none.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=own-dev.sh
source "$top_srcdir/tests/own-dev.sh"

requires nbdsh --version

export own_dev
cd "$tmp"
# What a logger would get, a line a message.
cat >listen.py <<'EOF'
import os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(os.environ["own_dev"] + "/log")
with open("messages", "wb", buffering=0) as messages:
    while True:
        messages.write(s.recv(65536) + b"\n")
EOF
/usr/bin/python3 listen.py &
listener=$!
cleanup_fn kill "$listener"
wait_until test -S "$own_dev/log"

kill_server ()
{
  [ ! -e pid ] || kill -KILL "$(cat pid)"
}
cleanup_fn kill_server

# serve ARGS...: a server in the background, of which little is asked
serve ()
{
  in_own_dev nbdkit -U "$tmp/sock" -P "$tmp/pid" --filter=stats memory 1M "$@"
  wait_until test -s pid
  pid=$(cat pid)
  nbdsh -u "nbd+unix:///?socket=$tmp/sock" -c 'h.pwrite(bytes(3000), 0)'
  kill "$pid"
  wait_until gone "$pid"
  rm pid sock
}

serve 2>/dev/null
serve statsfile=report
serve
wait_until grep ' write: 1 ops' messages
cat messages report
# One of the three.
[ "$(grep -c 'elapsed time: ' messages)" -eq 1 ] || fail "not one report"
for line in 'elapsed time: [0-9.]+ s' \
            'bytes: read 0, written 3000, zeroed 0, trimmed 0' \
            'total: 1 ops, .*B/s total' \
            'write: 1 ops, .*B/s total'; do
  grep -E "nbdkit.*: $line\$" messages
done
# Facility daemon (3) and severity information (6) make 3 * 8 + 6.
if grep -v '^<30>' messages; then fail "these have another priority"; fi
