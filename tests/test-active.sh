#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A server that waits for its client, and goes on waiting after it, does not
# make the transfer look slow: the report tells the time from the first
# request's begin to the last one's end apart from the elapsed time, and the
# pauses between requests are not busy time.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=figures.sh
source "$top_srcdir/tests/figures.sh"

requires nbdsh --version

cd "$tmp"
# The waits are part of what is measured, so the client tells how long each
# was: before the first request, between two, and after the last.
cat >client.py <<'EOF'
import time

def now():
    return time.clock_gettime(time.CLOCK_MONOTONIC)

def wait(seconds):
    begin = now()
    while now() < begin + seconds:
        time.sleep(0.01)

connected = now()
wait(0.7)
first = now()
h.pread(65536, 0)
after_first = now()
wait(0.4)
before_last = now()
h.pread(65536, 0)
last = now()
wait(0.5)
end = now()
print(first - connected, before_last - after_first, end - last,
      after_first - first + last - before_last)
EOF

start_nbdkit --filter=stats memory 1M statsfile=report
nbdsh -u "$uri" -c - <client.py >waits
stop_nbdkit
cat waits report

read -r before between after requests <waits
since=$(sed -n 's/^active time: .*, first request after \([0-9.]*\) s$/\1/p' \
            report)
active=$(seconds active)
elapsed=$(seconds elapsed)

# The report has milliseconds.
check "$since > $before - 0.002"
check "$active > $between - 0.002"
check "$active < $between + $requests + 0.002"
check "$elapsed > $since + $active + $after - 0.002"
# With requests; opening is in the layer's busy time, too.
check "$(seconds total) < $requests + 0.002"
check "$(seconds total) < $active"
check "$(seconds busy) < $elapsed - $before - $between - $after + 0.002"
# What it takes to start and to stop is in elapsed and in nothing else.
check "$elapsed > $before + $between + $after"
