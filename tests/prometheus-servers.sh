# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.
# shellcheck shell=bash

# A node exporter and a Prometheus of the test's own, on ports that the kernel
# chooses, so that any number of tests run beside each other.

# Debian names it otherwise than its own project does.
exporter=node_exporter
if command -v prometheus-node-exporter; then
  exporter=prometheus-node-exporter
fi

end_process ()
{
  kill -KILL "$1"
  wait "$1"
}

# Once it listens, $address says where.
listens ()
{
  address=$(grep -E -om1 '127\.0\.0\.1:[1-9][0-9]*' "$1") && return
  ! gone "$2" || fail "a server ended as it should start: $(cat "$1")"
  return 1
}

get ()
{
  curl -sS --fail --noproxy '*' "$@"
}

# start_exporter DIRECTORY: serve its files, and nothing else, at
# http://$exporter_address/metrics, with its messages in $exporter_log.
# shellcheck disable=SC2154 # functions.sh sets $tmp
start_exporter ()
{
  exporter_log=$tmp/exporter.log
  "$exporter" --collector.disable-defaults --collector.textfile \
              --collector.textfile.directory="$1" \
              --web.listen-address=127.0.0.1:0 >"$exporter_log" 2>&1 &
  cleanup_fn end_process "$!"
  wait_until listens "$exporter_log" "$!"
  # shellcheck disable=SC2034
  exporter_address=$address
}

# start_prometheus ADDRESS: scrape it once a second, and work out our rules as
# often. An answer that takes longer would be lost, so no more often.
# shellcheck disable=SC2154 # functions.sh sets $top_srcdir
start_prometheus ()
{
  local log=$tmp/prometheus.log
  cat >"$tmp/prometheus.yml" <<EOC
global:
  scrape_interval: 1s
  scrape_timeout: 1s
  evaluation_interval: 1s
rule_files:
  - $top_srcdir/monitoring/nbdkit-stats.rules.yml
  - $top_srcdir/monitoring/nbdkit-stats.alerts.yml
scrape_configs:
  - job_name: nbdkit
    static_configs:
      - targets: ['$1']
EOC
  prometheus --config.file="$tmp/prometheus.yml" \
             --storage.tsdb.path="$tmp/prometheus" \
             --web.listen-address=127.0.0.1:0 >"$log" 2>&1 &
  cleanup_fn end_process "$!"
  wait_until listens "$log" "$!"
  prometheus_address=$address
  wait_until get "http://$prometheus_address/-/ready"
}

# query EXPRESSION: the values of what it finds, a line each.
query ()
{
  get -G "http://$prometheus_address/api/v1/query" \
      --data-urlencode "query=$1" | jq -r '.data.result[].value[1]'
}

# is EXPRESSION VALUE
is ()
{
  [ "$(query "$1")" = "$2" ]
}
