#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The slowest requests are named, each with its size, its offset and when it
# began, so that one can find what is wrong with that place of the disk.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=figures.sh
source "$top_srcdir/tests/figures.sh"
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdkit --filter=pause null --version
requires nbdsh --version

cd "$tmp"
cat >client.py <<'EOF'
import os
import socket
import time

pause = socket.socket(socket.AF_UNIX)
pause.connect("pause")

def control(command, answer):
    pause.send(command)
    assert pause.recv(1) == answer

def fast_ones():
    """The longest that one of them took."""
    longest = 0
    for i in range(10):
        begin = time.monotonic_ns()
        h.pread(512, 8192 + i * 512)
        longest = max(longest, time.monotonic_ns() - begin)
    return longest

def slow_one(size, offset, at_least):
    """How long it took, from our side, and in the server at least."""
    control(b"p", b"P")
    begin = time.monotonic_ns()
    h.aio_pread(nbd.Buffer(size), offset)
    sent = time.monotonic_ns()
    while time.monotonic_ns() < sent + at_least:
        time.sleep(0.01)
    control(b"r", b"R")
    while h.aio_in_flight() > 0:
        h.poll(-1)
    return time.monotonic_ns() - begin

longest = fast_ones()
second = slow_one(1000, 0, 10**9)
longest = max(longest, fast_ones())
slowest = slow_one(3000, 123456, 2 * second)
longest = max(longest, fast_ones())
with open("took", "w") as took:
    print(slowest, second, longest, file=took)
EOF
# run ARGS...: once more where the others were slow, too, on a busy machine.
run ()
{
  wait_until try_run "$@"
  cat report took
  read -r slowest second _ <took
}
try_run ()
{
  rm -f pause
  nbdkit -U - --filter=stats --filter=pause memory 1M pause-control=pause \
         statsfile=report "$@" --run 'nbdsh -u "$uri" -c - <client.py' ||
    fail "nbdkit ended with $?"
  # Not what it took to reach the server and back.
  awk '{ exit !($3 < 0.5e9) }' took
}

run statsformat=json
json_check 'read.slowest[0:2] | map([.size, .offset]) ==
            [ [3000, 123456], [1000, 0] ]' \
           'read.slowest | length == 10' \
           'read.slowest[0].latency_ns == read.lat_ns.max' \
           "read.slowest[0].latency_ns < $slowest" \
           "read.slowest[1].latency_ns < $second" \
           "read.slowest[0].latency_ns > 1.5 * $second" \
           'read.slowest[1].latency_ns > 5e8' \
           'read.slowest[0] | .begin_ns > 0' \
           'read.slowest | .[0].begin_ns - .[1].begin_ns >
                           .[1].latency_ns'
json_check '. as $r | read.slowest | all(.begin_ns + .latency_ns <=
                                         $r.elapsed_ns)'

# In text three of each operation.
run statsdetail=full
sed -n '/^slowest /,/^$/p' report >slowest-table
[ "$(grep -c '^read ' slowest-table)" -eq 3 ] || fail "not three"
sed -n 2p slowest-table |
  grep -Ex 'read +[0-9.]+ s +2\.93 KiB +123456 +[0-9.]+ s'
check "$(sed -n '2s/.* \([0-9.]*\) s$/\1/p' slowest-table) < $(seconds elapsed)"
sed -n 3p slowest-table |
  grep -Ex 'read +[0-9.]+ m?s +1000 B +0 +[0-9.]+ m?s'
