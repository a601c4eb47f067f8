#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# All the way to a monitoring system: nbdkit writes, a node exporter serves and
# Prometheus scrapes the figures while nbdkit runs, and our rules work on them.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=prometheus-servers.sh
source "$top_srcdir/tests/prometheus-servers.sh"

requires "$exporter" --version
requires prometheus --version
requires curl --version
requires jq --version
requires nbdsh --version
requires nbdkit --filter=error null --version

client ()
{
  nbdsh -u "$uri" -c "$1"
}

mkdir "$tmp/files"
start_exporter "$tmp/files"
start_prometheus "$exporter_address"

start_nbdkit --filter=stats --filter=error memory 64M \
             error-file="$tmp/fail" error-pread=EIO error-pread-rate=100% \
             statsformat=prometheus statsinterval=0.1 \
             statsfile="$tmp/files/nbdkit.prom"
wait_until is 'sum(nbdkit_stats_requests_total)' 0

client '
for i in range(1000):
    h.pwrite(bytes(4096), i * 4096)
h.flush()'
wait_until is 'nbdkit_stats_requests_total{op="write"}' 1000
wait_until is 'nbdkit_stats_bytes_total{op="write"}' 4096000
wait_until is 'nbdkit_stats_connections_total' 1

# Still running, and going on.
client '
for i in range(500):
    h.pread(512, i * 512)'
wait_until is 'nbdkit_stats_requests_total{op="read"}' 500
wait_until is 'nbdkit_stats_bytes_total{op="read"}' 256000
wait_until is 'nbdkit_stats_connections_total' 2
wait_until is 'nbdkit_stats_open_connections' 0
wait_until is 'count(nbdkit_stats_requests_total)' 7
wait_until is 'node_textfile_scrape_error' 0

# The states of the account stack to the elapsed time.
wait_until is 'count(nbdkit_stats_state_seconds_total)' 11
wait_until is 'round(1e6 * (sum(nbdkit_stats_state_seconds_total)
                            - sum(nbdkit_stats_elapsed_seconds_total)))' 0

# What the rules record is there, and within its bounds.
recorded ()
{
  is "count($1 $2) > 0" "$3"
}
wait_until recorded 'op:nbdkit_stats_requests:rate5m{op=~"read|write"}' '> 0' 2
wait_until recorded layer:nbdkit_stats_moved_bytes:rate5m '> 0' 1
wait_until recorded op:nbdkit_stats_bytes_by_busy_second:rate5m '> 0' 2
wait_until recorded layer:nbdkit_stats_busy:ratio5m '> 0 < 1' 1
wait_until recorded 'op:nbdkit_stats_busy:ratio5m{op="write"}' '> 0 < 1' 1
wait_until recorded 'op:nbdkit_stats_busy:share5m{op="write"}' '> 0 < 1' 1
wait_until recorded layer:nbdkit_stats_in_flight:mean5m '> 0.9 < 1.1' 1
wait_until recorded 'state:nbdkit_stats_state:ratio5m{state="waiting"}' \
                    '> 0 <= 1' 1
p99=op:nbdkit_stats_request_duration_seconds:p99_5m
mean=op:nbdkit_stats_request_duration_seconds:mean5m
wait_until recorded "$p99{op=\"write\"}" '> 0 < 1' 1
wait_until recorded "$mean{op=\"write\"}" '> 0 < 1' 1

# The first failure of a kind raises the alarm.
alerts='ALERTS{alertname="NbdkitRequestsFail",alertstate="firing"}'
wait_until is "count($alerts) or vector(0)" 0
touch "$tmp/fail"
client '
try:
    h.pread(512, 0)
except nbd.Error:
    pass'
alerts='ALERTS{alertname="NbdkitRequestsFail",op="read",errno="EIO"}'
wait_until is "count($alerts)" 1

# What it says at the end is the report that the last requests are in.
client '
for i in range(7):
    h.zero(4096, i * 4096)'
stop_nbdkit
wait_until is 'nbdkit_stats_requests_total{op="zero"}' 7

# All figures, as they stand in the file: each by its number, since an exporter
# writes a number in another way.
numbers ()
{
  sed -nE 's/^nbdkit_stats_[a-z_]+(\{[^ ]*\})? //p' |
    awk '{ printf "%.15g\n", $1 }' | sort -g
}
numbers <"$tmp/files/nbdkit.prom" >"$tmp/in-file"
get "http://$exporter_address/metrics" | numbers >"$tmp/served"
diff -u "$tmp/in-file" "$tmp/served" ||
  fail "the file (-) and the exporter (+) differ"
