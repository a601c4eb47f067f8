#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The report agrees with what fio itself measured: the same number of reads,
# writes, trims and syncs, and the same bytes, to the last one.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=log-totals.sh
source "$top_srcdir/tests/log-totals.sh"

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
bs=4k
fsync=8
[trim]
rw=randtrim
bs=16k
EOF

nbdkit -U - --filter=stats memory 64M statsfile=report \
       --run 'export uri; fio --output-format=json --output=fio.json job'
cat report

# In the form of report_totals.
jq -r '
  def total(op; figure): [.jobs[][op][figure]] | add;
  "read \(total("read"; "total_ios")) 0 \(total("read"; "io_bytes"))",
  "write \(total("write"; "total_ios")) 0 \(total("write"; "io_bytes"))",
  "trim \(total("trim"; "total_ios")) 0 \(total("trim"; "io_bytes"))",
  "flush \(total("sync"; "total_ios")) 0 -"' fio.json >fio-totals
report_totals report >report-totals
cat fio-totals
grep -E '^trim 3000 0 49152000$' fio-totals
grep -E '^flush [1-9][0-9]{2}' fio-totals
diff -u fio-totals report-totals || fail "fio (-) and the report (+) differ"
