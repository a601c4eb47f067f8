#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Several nbdkits on one machine. Their series have the same names and labels: a
# node exporter serves one of them and counts an error. With a statslabel each it
# serves them all.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=prometheus-servers.sh
source "$top_srcdir/tests/prometheus-servers.sh"

requires "$exporter" --version
requires curl --version
requires promtool --version
requires nbdsh --version

# run FILE REQUESTS ARGS...
run ()
{
  local file=$1
  export requests=$2
  shift 2
  nbdkit -U - --filter=stats memory 1M statsformat=prometheus \
         statsfile="$tmp/files/$file.prom" "$@" \
         --run 'nbdsh -u "$uri" -c "for i in range($requests): h.pread(512, 0)"'
}
reads ()
{
  get "http://$exporter_address/metrics" |
    grep '^nbdkit_stats_requests_total{.*op="read"' | sed 's/.*} //'
}
errors ()
{
  get "http://$exporter_address/metrics" |
    sed -n 's/^promhttp_metric_handler_errors_total{cause="gathering"} //p'
}

mkdir "$tmp/files"
start_exporter "$tmp/files"

run one 3
run two 5
reads >"$tmp/reads"
[ "$(wc -l <"$tmp/reads")" -eq 1 ] || fail "not one of the two is served"
[ "$(errors)" -gt 0 ] || fail "the exporter counts no error"

run one 3 statslabel=one
run two 5 statslabel='disk "2" of the ä\b'
promtool check metrics <"$tmp/files/one.prom"
promtool check metrics <"$tmp/files/two.prom"
before=$(errors)
reads | sort >"$tmp/reads"
printf '%s\n' 3 5 | diff -u - "$tmp/reads" ||
  fail "the two nbdkits (-) are not what is served (+)"
# The alert for a file that nobody writes goes by this.
get "http://$exporter_address/metrics" |
  grep '^node_textfile_mtime_seconds{file="\(.*/\)\?one.prom"} '
[ "$(errors)" -eq "$before" ] || fail "the exporter counts one more error"
