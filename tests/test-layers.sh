#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The filter named twice, above and below another one, has two sets of figures
# that do not mix, nearest the client first, in one report. The parameters are
# given once. What the filter in between makes of a request is told.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=figures.sh
source "$top_srcdir/tests/figures.sh"
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdkit --filter=blocksize null --version
requires nbdsh --version

cd "$tmp"
truncate -s 16M disk
# 10 requests of 1 MiB, of which the blocksize filter makes 160 of 64 KiB, and 7
# that it leaves as they are.
cat >client.py <<'EOF'
for i in range(10):
    h.pread(1 << 20, i << 20)
for i in range(7):
    h.pwrite(bytes(65536), i << 16)
h.flush()
EOF
# run ARGS...
run ()
{
  nbdkit -U - --filter=stats --filter=blocksize --filter=stats file disk \
         maxdata=64K statsfile=report "$@" \
         --run 'nbdsh -u "$uri" -c - <client.py'
  cat report
}

run statsformat=json statsblock=64K
json_check '.layers | length == 2' \
           '.layers | map(.layer) == [1, 2]' \
           'layer(1).ops.read | [.total_ios, .io_bytes] == [10, 10485760]' \
           'layer(2).ops.read | [.total_ios, .io_bytes] == [160, 10485760]' \
           'layer(1).ops.read.sizes | map(.from) == [1048576]' \
           'layer(2).ops.read.sizes | map(.from) == [65536]' \
           'layer(1).ops.read.block_fit.by_touched.more == 10' \
           'layer(2).ops.read.block_fit.by_touched["1"] == 160'
for layer in 1 2; do
  json_check "layer($layer).ops.write | [.total_ios, .io_bytes] == [7, 458752]" \
             "layer($layer).ops.flush.total_ios == 1" \
             "layer($layer).connections.opened == 1" \
             "layer($layer).busy_ns > 0"
done
# What is below is a part of what is above.
json_check 'layer(2).busy_ns < layer(1).busy_ns' \
           'layer(2).active_ns < layer(1).active_ns' \
           'layer(1).active_ns < .elapsed_ns'

run statsdetail=full
grep -c '^elapsed time: ' report
grep -E '^(layer|read:|for each)' report >lines
sed -i -E 's/,( [0-9.]+ [KMGTPE]i?B(\/s (op|total))?,?)+$//; s/, [0-9.]+ s$//' lines
diff -u - lines <<'EOF'
layer 1 of 2, nearest the client
read: 10 ops
layer 2 of 2, nearest the plugin
read: 160 ops
for each of the layer above  requests     bytes
EOF
sed -n '/^for each of the layer above/,/^$/p' report >amplification
grep -Ex 'read +16\.000 +1\.000' amplification
grep -Ex 'write +1\.000 +1\.000' amplification
grep -Ex 'flush +1\.000' amplification
