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
requires nbdkit eval --version
requires nbdsh --version

cd "$tmp"
cat >client.py <<'EOF'
import time

for i in range(10):
    h.pread(512, 8192 + i * 512)
before = time.clock_gettime(time.CLOCK_MONOTONIC)
h.pread(3000, 123456)
after = time.clock_gettime(time.CLOCK_MONOTONIC)
for i in range(10):
    h.pread(512, 8192 + i * 512)
h.pread(1000, 0)
print(int((after - before) * 1e9))
EOF
# run ARGS...: it sleeps for the reads at two offsets.
run ()
{
  nbdkit -U - --filter=stats eval statsfile=report "$@" get_size='echo 1M' \
         pread='
         case $4 in 0) sleep 1 ;; 123456) sleep 2 ;; esac
         head -c "$3" /dev/zero' \
         --run 'nbdsh -u "$uri" -c - <client.py >slowest'
  cat report slowest
}

run statsformat=json
json_check 'read.slowest[0:2] | map([.size, .offset]) ==
            [ [3000, 123456], [1000, 0] ]' \
           'read.slowest | length == 10' \
           'read.slowest[0].latency_ns == read.lat_ns.max' \
           'read.slowest[0].latency_ns >= 2e9' \
           "read.slowest[0].latency_ns < $(cat slowest)" \
           'read.slowest[0] | .begin_ns > 0' \
           'read.slowest | .[1].begin_ns - .[0].begin_ns >= 2e9'
json_check '. as $r | read.slowest | all(.begin_ns + .latency_ns <=
                                         $r.elapsed_ns)'

# In text three of each operation.
run
sed -n '/^slowest /,/^$/p' report >slowest-table
[ "$(grep -c '^read ' slowest-table)" -eq 3 ] || fail "not three"
sed -n 2p slowest-table |
  grep -Ex 'read +[2-9][0-9.]* s +2\.93 KiB +123456 +[0-9.]+ s'
check "$(sed -n '2s/.* \([0-9.]*\) s$/\1/p' slowest-table) < $(seconds elapsed)"
sed -n 3p slowest-table | grep -Ex 'read +[0-9.]+ s +1000 B +0 +[0-9.]+ s'
