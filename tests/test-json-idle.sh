#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# While nothing happens, interval reports in JSON take less than 1 KB each,
# whatever has happened before: all operations, and as many exports as are told,
# with the longest names. At the end all of it is there.

source ./functions.sh
set -e -u -x

requires jq --version
requires /usr/bin/python3 -c 'import nbd'

cd "$tmp"
cat >client.py <<'EOF'
import sys

import nbd

for i in range(64):
    h = nbd.NBD()
    h.add_meta_context("base:allocation")
    h.set_export_name("%04d" % i + "\x01" * 4092)
    h.connect_unix(sys.argv[1])
    h.pwrite(bytes(512 << i % 8), i * 4096)
    h.pread(512 << i % 8, i * 4096)
    h.trim(4096, 0)
    h.zero(4096, 0)
    h.cache(4096, 0)
    h.flush()
    h.block_status(4096, 0, lambda *args: 0)
    h.shutdown()
EOF
start_nbdkit --filter=stats memory 1M statsfile=report statsformat=json \
             statsinterval=0.05
/usr/bin/python3 client.py "$sock"

# How long those lines are that have nothing to tell.
idle_lengths ()
{
  jq -R 'length as $length | fromjson? | select(.type == "interval") |
         select(.layers[0] | .ops == {} and .exports == [] and
                             (has("other_exports") | not) and
                             .connections.now == 0) | $length' report
}
several_are_idle ()
{
  [ "$(jq -s 'last.layers[0].ops == {}' report)" = true ] &&
    [ "$(idle_lengths | wc -l)" -ge 5 ]
}
wait_until several_are_idle
stop_nbdkit

idle_lengths >lengths
cat lengths
jq -e -s 'length >= 5 and all(. < 1000)' lengths
tail -n 1 report |
  jq -e '(.layers[0].exports | length == 64) and
         (.layers[0].ops | length == 7 and all(.total_ios >= 64))'

# Any interval has only those names that somebody came with in it.
jq -e -s '[.[:-1][].layers[0].exports | length] |
          add >= 64 and add <= 128' report
jq -r -f "$top_srcdir/tests/json-rules.jq" report >broken-rules
[ ! -s broken-rules ] || fail "broken: $(cat broken-rules)"
