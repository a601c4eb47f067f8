#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Several servers that add reports to one file at the same time: each line is
# one whole object, none is missing, and each process's intervals add up to its
# final object.

# shellcheck disable=SC2016 # jq's variables
source ./functions.sh
set -e -u -x

requires jq --version
requires /usr/bin/python3 -c 'import nbd'

servers_wanted=4

cd "$tmp"
cat >client.py <<'EOF'
import sys
import time

import nbd

handles = []
for uri in sys.argv[1:]:
    handles.append(nbd.NBD())
    handles[-1].connect_uri(uri)
for i in range(100):
    # To each as much as tells it from the others.
    for j, h in enumerate(handles):
        h.pwrite(bytes(1000 * (j + 1)), 4096 * i)
        h.pread(512, 0)
    time.sleep(0.01)
EOF

echo '{"type":"old"}' >log
pids=()
uris=()
for ((i = 0; i < servers_wanted; i++)); do
  start_nbdkit --filter=stats --filter=stats memory 1M statsfile=log \
               statsappend=true statsformat=json statsinterval=0.05
  pids+=("$pid")
  uris+=("$uri")
done
/usr/bin/python3 client.py "${uris[@]}"
# Of each at least so many.
intervals ()
{
  local pid
  for pid in "${pids[@]}"; do
    [ "$(grep -c "\"interval\".*\"pid\":$pid\>" log)" -ge "$1" ] || return
  done
}
wait_until intervals 4
kill "${pids[@]}"
for pid in "${pids[@]}"; do
  wait "$pid" || fail "the exit status of $pid is $?"
done

jq -c '[.type, .pid, .elapsed_ns]' log >objects
grep -c . objects
[ "$(wc -l <objects)" -eq "$(wc -l <log)" ] || fail "not one object a line"
[ "$(head -n 1 objects)" = '["old",null,null]' ] ||
  fail "the old line is gone"

for ((i = 0; i < servers_wanted; i++)); do
  jq -c "select(.pid == ${pids[i]})" log >own
  jq -r .type own | uniq -c >types
  cat types
  [ "$(awk '{ print $2 }' types | paste -s)" = $'interval\tfinal' ]
  [ "$(awk '$2 == "interval" { print $1 }' types)" -gt 3 ]
  jq -e -s --argjson bytes "$((100 * 1000 * (i + 1)))" '
    def figures:
      { elapsed_ns, layers: [.layers[] | { busy_ns, opened: .connections.opened,
                ops: (.ops | map_values({ total_ios, io_bytes, busy_ns })) }] } |
      paths(numbers) as $path |
      { key: ($path | join("/")), value: getpath($path) };
    def added_up:
      reduce .[] as $n ({}; .[$n.key] += $n.value) |
      with_entries(select(.value > 0));
    .[-1].layers[0].ops.write.io_bytes == $bytes and
    ([.[:-1][] | figures] | added_up) == ([.[-1] | figures] | added_up)' own ||
    fail "the intervals of the process ${pids[i]} do not add up"
done
