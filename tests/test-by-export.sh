#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# One server, two exports, of which one is slow and fails at times: each is told
# with what it had, in all formats, and nothing of the other. While one name
# alone is used there is no table of exports. Intervals add up to the end.

# shellcheck disable=SC2016 # the shells of --run and of the plugin expand it
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdsh --version
requires nbdkit eval --version

cd "$tmp"
# Requests of both in turn, so that each begins while the other has begun.
cat >client.py <<'EOC'
import os
import threading

def connect(name):
    h = nbd.NBD()
    h.set_export_name(name)
    h.connect_unix(os.environ["unixsocket"])
    return h

def work(h, reads, size):
    for i in range(reads):
        h.pread(size, i * size)
    for i in range(3):
        try:
            h.pwrite(bytes(1024), i * 1024)
        except nbd.Error:
            pass
    h.flush()
    h.shutdown()

names = os.environ["names"].split()
slow = connect(names[0])
slow.pread(512, 0)
threads = [threading.Thread(target=work, args=(slow, 4, 512))]
for name in names[1:]:
    threads.append(threading.Thread(target=work, args=(connect(name), 9, 4096)))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
EOC

# The handle of a connection is the name of its export.
# run NAMES ARGS...
run ()
{
  rm -f report
  names=$1
  export names
  shift
  nbdkit -U - --filter=stats eval \
         open='echo "$3"' get_size='echo 1M' \
         pread='[ "$2" = fast ] || sleep 0.1
                dd if=/dev/zero bs="$3" count=1 status=none' \
         pwrite='cat >/dev/null
                 [ "$2" = fast ] || { echo ENOSPC full >&2; exit 1; }' \
         can_write=true can_flush=true flush='sleep 0.1' \
         statsfile=report "$@" \
         --run 'export unixsocket; nbdsh -n -c - <client.py'
}

run "slow fast" statsdetail=full
cat report
sed -n '/^by export /,/^$/p' report >by-export
[ "$(grep -c . by-export)" -eq 9 ] || fail "not two names with three rows each"
if grep -E '.{81}' by-export; then fail "a line is too long"; fi
grep -A 3 '^  slow$' by-export >slow
grep -E '^    read +5 +0 +2.50 KiB ' slow
grep -E '^    write +0 +3 +0 B ' slow
grep -E '^    flush +1 +0 +- ' slow
grep -A 3 '^  fast$' by-export >fast
grep -E '^    read +9 +0 +36.0 KiB ' fast
grep -E '^    write +3 +0 +3.00 KiB ' fast
grep -E '^    flush +1 +0 +- ' fast

for name in slow other; do
  run "$name" statsdetail=full
  if grep '^by export' report; then fail "there is but one name"; fi
done
run "slow fast"
if grep '^by export' report; then fail "a brief report is not"; fi

rules ()
{
  jq -r -f "$top_srcdir/tests/json-rules.jq" report >broken
  [ ! -s broken ] || fail "$(cat broken)"
}

# An end lies 0.1 s behind its begin, at least.
export='(layer(1).exports | map({ key: .name, value: .ops }) | from_entries)'
run "slow fast" statsformat=json statsinterval=0.05
rules
json_check "$export.slow | keys == [\"flush\", \"read\", \"write\"]" \
           "$export.slow.read | [.total_ios, .io_bytes, .failed] == [5, 2560, 0]" \
           "$export.slow.read | .lat_ns.sum == .busy_ns" \
           "$export.slow.read.busy_ns >= 5e8" \
           "$export.slow.read.lat_ns.percentile[\"99.000000\"] >= 0.96e8" \
           "$export.slow.write | [.total_ios, .io_bytes, .failed] == [0, 0, 3]" \
           "$export.slow.write.lat_ns == { sum: 0, mean: null, percentile: {} }" \
           "$export.fast.read | [.total_ios, .io_bytes, .failed] ==
                                [9, 36864, 0]" \
           "$export.fast.write | [.total_ios, .io_bytes, .failed] ==
                                 [3, 3072, 0]" \
           "$export | [.slow, .fast | .flush.total_ios] == [1, 1]" \
           "layer(1).other_exports.ops == {}"

# What the intervals have adds up.
jq -c -s '
  def amounts: map(.layers[0].exports[] | .name as $name | .ops | to_entries[] |
                   { key: "\($name) \(.key)",
                     value: (.value | [.total_ios, .io_bytes, .failed, .busy_ns,
                                       .lat_ns.sum]) });
  def added: group_by(.key) |
             map({ key: .[0].key, value: map(.value) | transpose | map(add) });
  (map(select(.type == "interval")) | amounts | added),
  (map(select(.type == "final")) | amounts | added)' report >sums
[ "$(sed -n 1p sums)" = "$(sed -n 2p sums)" ] ||
  fail "intervals do not add up: $(cat sums)"
[ "$(sed -n 1p sums)" != '[]' ]
[ "$(grep -c '"type":"interval"' report)" -gt 5 ]
