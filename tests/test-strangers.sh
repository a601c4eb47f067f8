#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A client chooses export names, and what it can do with them is bounded: the
# rows of intervals have only those with news, names are cut, those that fail to
# open take no place, and of more than there are places for the rest is told
# together. Nothing is lost in the sums.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdkit --filter=exportname null --version
requires /usr/bin/python3 -c 'import nbd'

cd "$tmp"
cat >client.py <<'EOF'
import sys
import urllib.parse

import nbd

sock, count, prefix, repeat, fill = sys.argv[1:]
for i in range(int(count)):
    name = prefix + "%02d" % i
    name += chr(int(fill)) * (4096 - len(name)) if fill != "-" else ""
    for j in range(int(repeat)):
        h = nbd.NBD()
        h.set_export_name(name)
        try:
            h.connect_unix(sock)
            assert prefix != "junk"
            h.shutdown()
        except nbd.Error:
            assert prefix == "junk"
EOF
# client COUNT PREFIX REPEAT CHARACTER|-
client ()
{
  /usr/bin/python3 client.py "$sock" "$@"
}

# --- Names as long and as bad as there are ---

rows ()
{
  [ "$(grep -c '"interval"' report)" -ge "$1" ]
}
start_nbdkit --filter=stats null 1M statsfile=report statsformat=json \
             statsinterval=0.1
client 64 n 2 1
told=$(grep -c '"interval"' report)
wait_until rows "$((told + 12))"
# Each byte becomes six. Those with nothing new, and idle, are small.
wc -L report
[ "$(wc -L <report)" -lt $((64 * 255 * 6 + 30000)) ] || fail "a row is too long"
head -n "$((told + 10))" report | tail -n 8 >idle
[ "$(wc -L <idle)" -lt 4000 ] || fail "an idle row is too long"
jq -c '.layers[0].exports' idle | sort | uniq -c
[ "$(jq -c '.layers[0].exports' idle | sort -u)" = "[]" ]
stop_nbdkit
json_check '.layers[0].exports | length == 64' \
           '.layers[0].exports | map(.cut) | unique == [true]' \
           '.layers[0].exports | map(.name | utf8bytelength) | unique
            == [255]' \
           '.layers[0].exports | map(.opened) | unique == [2]'
# The sums of the intervals are the final one.
jq -n '[inputs | select(.type == "interval") | .layers[0].exports[].opened]
       | add == 128' report | grep -x true

# --- Junk, and more names than there are places ---

# Only the good ones can be opened.
start_nbdkit --filter=stats --filter=exportname null 1M exportname-strict=true \
             exportname=good{00..99} \
             statsfile=report statsformat=json statsinterval=0.1 2>log
client 70 junk 1 -
client 100 good 2 -
client 20 junk 1 -
stop_nbdkit
json '.layers[0] | [.connections, .other_exports]'
json_check '.layers[0].exports | length == 64' \
           '.layers[0].exports | map(.name[0:4]) | unique == ["good"]' \
           '.layers[0].exports | map([.opened, .failed]) | unique == [[2, 0]]' \
           '.layers[0].connections | [.opened, .failed] == [200, 90]' \
           '.layers[0].other_exports | [.opened, .failed] == [72, 90]' \
           '.layers[0].connections.open_ns.sum ==
            sum(.layers[0] | .exports[], .other_exports | .open_ns.sum)'
jq -n '[inputs | select(.type == "interval") | .layers[0]
        | .exports[], .other_exports | [.opened, .failed]] |
       [(map(.[0]) | add), (map(.[1]) | add)] == [200, 90]' report |
  grep -x true

# --- A name, and a longer one that begins with it ---

start_nbdkit --filter=stats null 1M statsfile=report statsformat=json
for length in 255 256 255 300; do
  /usr/bin/python3 - "$sock" "$length" <<'EOF'
import sys

import nbd

h = nbd.NBD()
h.set_export_name("y" * int(sys.argv[2]))
h.connect_unix(sys.argv[1])
h.shutdown()
EOF
done
stop_nbdkit
json_check '.layers[0].exports | map([.cut, .opened]) | sort ==
            [[false, 2], [true, 2]]'
