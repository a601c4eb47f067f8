#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Standard error is a pipe that is full and that nobody reads. Clients are
# served, and nbdkit ends, with an interval too; neither a report nor an error
# about one is waited for longer than five seconds.

source ./functions.sh
set -e -u -x

requires nbdsh --version

# Where the shell tells what it does is not that pipe.
exec 9>&2
BASH_XTRACEFD=9

cd "$tmp"
cat >fill.py <<'EOF'
import os, sys
os.set_blocking(1, False)
try:
    while True:
        os.write(1, bytes(4096))
except BlockingIOError:
    pass
os.set_blocking(1, True)
EOF

# serve ARGS...: with such a standard error
serve ()
{
  mkfifo pipe
  exec 8<>pipe
  /usr/bin/python3 fill.py >&8
  rm pipe
  start_nbdkit --filter=stats memory 1M "$@" 2>&8
  nbdsh -u "$uri" -c 'h.pwrite(bytes(512), 0)'
  kill "$pid"
  wait_until gone "$pid"
  wait "$pid" || fail "the exit status is $?"
}

serve
serve statsinterval=0.01
serve statsinterval=0.01 statsformat=json
# The error of another destination has nowhere to go, either.
serve statsfile=/dev/full
