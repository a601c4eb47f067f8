#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Connections are counted: how many were opened, how many could not be, how many
# there were at most at once. The time that the plugin takes to open one is
# told, and is in no request's latency and not in the busy time of requests.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdkit eval --version
requires nbdsh --version

cd "$tmp"
cat >client.py <<'EOF'
import os
import time

def connect(name):
    h = nbd.NBD()
    h.set_export_name(name)
    h.connect_unix(os.environ["unixsocket"])
    return h

for name in "refused", "refused":
    try:
        connect(name)
        raise Exception("this connection should be refused")
    except nbd.Error as error:
        pass

# Three at once, one of them slow to open; then two more, one after the other.
handles = [connect("a"), connect("slow"), connect("a")]
begin = time.monotonic_ns()
for h in handles:
    h.pread(512, 0)
reading = time.monotonic_ns() - begin
for h in handles:
    h.shutdown()
del handles, h
for i in range(2):
    h = connect("a")
    h.shutdown()
    del h
print(reading)
EOF
# run ARGS...
run ()
{
  # shellcheck disable=SC2016
  nbdkit -U - --filter=stats eval statsfile=report "$@" \
         get_size='echo 1M' pread='head -c $3 /dev/zero' \
         open='
         case $3 in
           refused) echo "EPERM not this one" >&2; exit 1 ;;
           slow) sleep 1 ;;
         esac' --run 'export unixsocket; nbdsh -n -c - <client.py >reading'
  cat report reading
}
run statsformat=json
json_check '.layers[0].connections | [.opened, .failed, .max_at_once] ==
            [5, 2, 3]' \
           '.layers[0].exports | map([.name, .opened, .failed]) | sort ==
            [ ["a", 4, 0], ["slow", 1, 0] ]' \
           '.layers[0].other_exports | [.opened, .failed] == [0, 2]' \
           '.layers[0].exports[] | select(.name == "slow").open_ns | .sum == .max and .max >= 1e9' \
           '.layers[0].connections.open_ns.max >= 1e9' \
           '.layers[0].connections.open_ns.sum ==
            sum(.layers[0] | .exports[], .other_exports | .open_ns.sum)' \
           '.layers[0].connections.open_ns | .mean * 7 - .sum | fabs < 10' \
           '.layers[0] | .open_busy_ns >=
            (.exports[] | select(.name == "slow").open_ns.max)' \
           ".layers[0].request_busy_ns <= $(cat reading)" \
           "read.lat_ns.max <= $(cat reading)" \
           'read.total_ios == 3'

run statsdetail=full
grep -A 4 '^openings, ' report >connections
grep -Ex 'all +5 +2 +[0-9.]+ m?s +[0-9.]+ s +3' connections
grep -Ex '  \(others\) +0 +2 +[0-9.]+ [mu]?s +[0-9.]+ [mu]?s' connections
grep -Ex '  a +4 +0 +[0-9.]+ [mu]?s +[0-9.]+ [mu]?s' connections
grep -Ex '  slow +1 +0 +([0-9.]+ s) +\1' connections
