#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The JSON report agrees with what fio itself measured: under the same names it
# has the same number of reads, writes and trims, and the same bytes, to the
# last one. And its figures agree with one another.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x

requires fio --enghelp=nbd
requires jq --version

cd "$tmp"
# No ramp_time: fio does not count what happens in it, and we do.
cat >job <<'EOF'
[global]
ioengine=nbd
uri=${uri}
iodepth=16
size=64m
number_ios=3000
[mixed]
rw=randrw
bssplit=512/10:4k/40:5000/10:64k/40
bs_unaligned=1
fsync=8
[trim]
rw=randtrim
bs=16k
EOF

nbdkit -U - --filter=stats memory 64M \
       statsfile=report statsformat=json statsblock=4K statszero=true \
       --run 'export uri; fio --output-format=json --output=fio.json job'
cat report

# One object on one line.
[ "$(wc -l <report)" -eq 1 ] || fail "not one line"
jq -e '.type == "final" and (.layers | length) == 1' report

# The first file is the form of both.
figures='"read \(.read)", "write \(.write)", "trim \(.trim)", "flush \(.flush)"'
jq -r "def total(op): [.jobs[][op] | {total_ios, io_bytes}] |
         {total_ios: map(.total_ios) | add, io_bytes: map(.io_bytes) | add};
       {read: total(\"read\"), write: total(\"write\"), trim: total(\"trim\"),
        flush: {total_ios: [.jobs[].sync.total_ios] | add, io_bytes: 0}} |
       $figures" fio.json >fio-totals
jq -r ".layers[0].ops | map_values({total_ios, io_bytes}) | $figures" \
   report >report-totals
cat fio-totals
grep '^trim {"total_ios":3000,"io_bytes":49152000}$' fio-totals
grep -E '^flush \{"total_ios":[1-9][0-9]{2}' fio-totals
diff -u fio-totals report-totals || fail "fio (-) and the report (+) differ"

# Latency under fio's names: fio saw each request from farther away.
for op in read write trim; do
  jq -e --slurpfile fio fio.json --arg op "$op" '
    .layers[0].ops[$op].lat_ns as $ours |
    [$fio[0].jobs[][$op].lat_ns | select(.N > 0)][0] as $theirs |
    ($theirs | keys - ["percentile", "bins"] - ($ours | keys)) == [] and
    $ours.N == $theirs.N and $ours.mean < $theirs.mean and
    $ours.max < $theirs.max' report || fail "the latency of $op"
done

jq -r -f "$top_srcdir/tests/json-rules.jq" report >broken-rules
[ ! -s broken-rules ] || fail "broken: $(cat broken-rules)"
