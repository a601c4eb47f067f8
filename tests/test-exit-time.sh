#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# After a thousand connections have come and gone, each with several threads, the
# report is quickly made: what threads leave behind is used again by those that
# come later, so neither memory nor the time to sum it up grows with them.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=figures.sh
source "$top_srcdir/tests/figures.sh"

requires nbdsh --version

cd "$tmp"
cat >client.py <<'EOF'
import os

def connect():
    h = nbd.NBD()
    h.connect_unix(os.environ["sock"])
    for i in range(8):
        h.aio_pread(nbd.Buffer(512), 512 * i)
        h.aio_pwrite(nbd.Buffer(512), 512 * i)
    while h.aio_in_flight() > 0:
        h.poll(-1)
    h.flush()
    h.shutdown()

for i in range(int(os.environ["connections"])):
    connect()
EOF
# connect TIMES
connect ()
{
  export sock connections=$1
  nbdsh -n -c - <client.py
}

# What the server has now, in KiB.
memory ()
{
  ps -o rss= -p "$pid"
}

# How long it takes to end, in microseconds.
end ()
{
  local begin=$EPOCHREALTIME
  stop_nbdkit
  us=$((${EPOCHREALTIME/./} - ${begin/./}))
}

start_nbdkit -t 16 --filter=stats memory 1M statsfile=report
connect 50
before=$(memory)
connect 1000
after=$(memory)
end
with=$us
cat report
grep -E '^total: 17850 ops, ' report

start_nbdkit -t 16 memory 1M
connect 50
end
{ set +x; } 2>/dev/null
echo "time to end: $with us with the report, $us us without the filter"
echo "memory after 50 connections and after 1000 more: $before and $after KiB"
set -x

# What 16 threads need and a thousand times that are far apart.
check "$after < $before + 20000"
