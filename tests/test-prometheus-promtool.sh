#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A report for Prometheus: promtool has nothing to say against it, and it has
# the requests, failures and exact bytes that nbdkit's own log saw.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=log-totals.sh
source "$top_srcdir/tests/log-totals.sh"

requires promtool --version
requires qemu-img --version
requires nbdsh --version
requires nbdkit --filter=log --filter=error --filter=blocksize null --version

check_metrics ()
{
  promtool check metrics <"$1" >"$tmp/lint" 2>&1 || fail "$(cat "$tmp/lint")"
  [ ! -s "$tmp/lint" ] || fail "promtool warns: $(cat "$tmp/lint")"
}

# prometheus_totals REPORT LAYER: as log_totals prints them.
prometheus_totals ()
{
  awk -v layer="$2" -F '[{}]' '
    index ($2, "layer=\"" layer "\",") != 1 { next }
    { split ($2, labels, "\""); op = labels[4]; value = $3 + 0 }
    $1 == "nbdkit_stats_requests_total" { ops[++nr] = op; requests[op] = value }
    $1 == "nbdkit_stats_failed_requests_total" { failed[op] += value }
    $1 == "nbdkit_stats_bytes_total" { bytes[op] = value }
    END {
      for (i = 1; i <= nr; i++) {
        op = ops[i]
        if (requests[op] + failed[op] == 0) continue
        printf "%s %d %d ", op, requests[op], failed[op]
        if (i <= 4) printf "%.0f\n", bytes[op]; else print "-"
      }
    }' "$1"
}

# same_as_log REPORT LAYER
same_as_log ()
{
  cat "$1"
  check_metrics "$1"
  log_totals log | sed '/^extents returned/d' >log-totals
  prometheus_totals "$1" "$2" >prometheus-totals
  [ -s log-totals ] || fail "the log has no request"
  diff -u log-totals prometheus-totals ||
    fail "the log (-) and the report (+) differ"
}

cd "$tmp"
truncate -s 64M src dst
dd if=/dev/urandom of=src bs=1M count=3 conv=notrunc status=none

nbdkit -U - --filter=log --filter=stats file dst logfile=log \
       statsformat=prometheus statsfile=one.prom \
       --run 'qemu-img convert -n -f raw -O raw src "$uri"'
same_as_log one.prom 1
grep '^write [1-9]' log-totals
grep '^flush [1-9]' log-totals

# The layer nearest the plugin is the second: each has figures of its own.
nbdkit -U - --filter=stats --filter=blocksize --filter=log --filter=stats \
       file dst maxdata=64K maxlen=1M logfile=log \
       statsformat=prometheus statsfile=two.prom \
       --run 'qemu-img convert -n -f raw -O raw src "$uri"'
same_as_log two.prom 2
prometheus_totals two.prom 1 >prometheus-totals
cat prometheus-totals
diff log-totals prometheus-totals && fail "both layers have the same figures"

# Failures stand under the name of their errno, and nowhere else.
cat >client.py <<'EOC'
for i in range(100):
    try:
        h.pwrite(bytes(1000), i * 1000)
    except nbd.Error:
        pass
for i in range(3):
    try:
        h.pread(512, 0)
        raise Exception("this read should fail")
    except nbd.Error:
        pass
EOC
nbdkit -U - --filter=log --filter=stats --filter=error memory 1M \
       error-pwrite=ENOSPC error-pwrite-rate=50% \
       error-pread=EIO error-pread-rate=100% logfile=log \
       statsformat=prometheus statsfile=failed.prom \
       --run 'nbdsh -u "$uri" -c - <client.py'
same_as_log failed.prom 1
labels='layer="1",op="read",errno="EIO"'
grep -Fx "nbdkit_stats_failed_requests_total{$labels} 3" failed.prom
read -r _ _ failed _ < <(grep '^write ' log-totals)
labels='layer="1",op="write",errno="ENOSPC"'
grep -Fx "nbdkit_stats_failed_requests_total{$labels} $failed" failed.prom
