#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Busy time is the time with at least one request in flight, and not a sum over
# requests that run at the same time: while sixteen reads are in flight together,
# the storage is busy once, so the rate while busy is up to sixteen times what a
# sum would make of it.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=figures.sh
source "$top_srcdir/tests/figures.sh"
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"
# shellcheck source-path=SCRIPTDIR source=gate.sh
source "$top_srcdir/tests/gate.sh"

requires jq --version

cd "$tmp"
cat >client.py <<'EOF'
import gate

gate.shut("pread")
for i in range(16):
    h.aio_pread(nbd.Buffer(65536), i * 65536)
print(gate.hold(16))
gate.let_through("pread")
gate.until_in_flight(h, 0)
h.shutdown()
EOF
# run ARGS...
run ()
{
  nbdkit -U - -t 16 --filter=stats sh "$gate_plugin" statsfile=report "$@" \
         --run 'nbdsh -u "$uri" -c - <client.py >held'
  cat report held
  held=$(cat held)
}

# As long as all were in flight, it counts once, and a sum would have it sixteen
# times.
run statsformat=json
json_check 'read.total_ios == 16' \
           "read.busy_ns >= $held" \
           "read | .lat_ns.mean * 16 - .busy_ns > 14.99 * $held" \
           'read.busy_ns == .layers[0].request_busy_ns' \
           '.busy_ns <= .elapsed_ns'

# The rates are those of 1 MiB in the busy time and in the elapsed time.
run
grep -E '^read: 16 ops, ' report
for line in read total; do
  check "$(seconds "$line") > $held / 1e9 - 0.002"
  check "$(seconds "$line") <= $(seconds elapsed)"
  close_to "$(rate "$line" op)" "1048576 / $(seconds "$line")"
  close_to "$(rate "$line" total)" "1048576 / $(seconds elapsed)"
done
