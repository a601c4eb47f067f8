#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A report in fio's form has fio's names, units and bins: the latencies of a run
# of fio in front of the filter stand where those of fio stand, and fio's own
# tool makes the same of them as of fio's output.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x

requires_tool
requires jq --version
requires fio --version
requires nbdkit --filter=delay null --version
clat2csv=$(command -v fio_jsonplus_clat2csv) || clat2csv=nothing
requires test -x "$clat2csv"
requires "$clat2csv" --help

cd "$tmp"
nbdkit -U - --filter=stats --filter=delay memory 16M rdelay=1ms \
       statsfile=report statsformat=json --run '
  fio --name=test --ioengine=nbd --uri="$uri" --size=8M --rw=randrw --bs=64k \
      --iodepth=4 --output-format=json+ --output=fio.json
'
nbdkit-stats report --format=fio report >ours.json
jq '.jobs[] | .jobname, (.read, .write | .clat_ns | del(.bins))' ours.json

# The same names at the same places, but for what only a client knows.
paths='[.jobs[0] | (.read, .write) | del(.clat_ns.bins) | paths
        | map(tostring) | join(".")] | unique | .[]'
jq -r "$paths" ours.json | sort >ours
jq -r "$paths" fio.json | sort >theirs
comm -23 ours theirs | tee unknown
test ! -s unknown
grep -x 'clat_ns.percentile.99.000000' ours

for op in read write; do
  for figure in io_bytes total_ios clat_ns.N; do
    jq ".jobs[0].$op.$figure" fio.json |
      diff - <(jq ".jobs[0].$op.$figure" ours.json)
  done
done

# In nanoseconds: what is measured nearer the storage is less, by no more than
# what the client adds.
jq -e -n --slurpfile ours ours.json --slurpfile fio fio.json '
  [$ours, $fio | .[0].jobs[0].read.clat_ns.mean]
  | debug | .[0] >= 1e6 and .[0] < .[1]'

# Bins have the names that fio gives them: all of them could be in its output.
/usr/bin/python3 - <<'END'
import json
job = json.load(open("ours.json"))["jobs"][0]
for op in "read", "write":
    for name in job[op]["clat_ns"]["bins"]:
        value, width = int(name), max(1, 2 ** (int(name).bit_length() - 7))
        assert value % width == width // 2, (op, value, width)
END

# fio's tool finds in the table what it has read.
for file in fio ours; do
  "$clat2csv" "$file.json" "$file.csv"
  "$clat2csv" "$file.json" "$file.csv" --validate
done
test "$(head -n 1 ours_job0.csv)" = "$(head -n 1 fio_job0.csv)"

# What takes longer than fio can tell is in its last bin, where its tool looks
# for it.
jq -c '.layers[0].ops.write.lat_ns.bins |=
         with_entries(.key = (.key | tonumber + 2e10 | tostring))' \
   report >slow
nbdkit-stats report --format=fio slow >slow.json
jq '.jobs[0].write.clat_ns.bins' slow.json
timeout 60 "$clat2csv" slow.json slow.csv
timeout 60 "$clat2csv" slow.json slow.csv --validate
grep '^17112760320, ' slow_job0.csv
