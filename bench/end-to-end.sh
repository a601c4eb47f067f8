#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What the filter costs in a real server: fio reads 4 KiB at random places
# from nbdkit without a filter, with the distribution's stats filter and with
# ours. In each round all three take turns, and ratios are made round by round,
# since the speed of a machine drifts. PAIRS=3 makes 3 rounds instead of 10.

# shellcheck source=SCRIPTDIR/functions.sh
source "$(dirname "$0")/functions.sh"
set -e -u -o pipefail

rounds=${PAIRS:-${QUICK:+1}}
rounds=${rounds:-10}
divisor=${QUICK:+20}
divisor=${divisor:-1}

trap 'stop; rm -rf -- "$tmp"' EXIT

sides=(none stock ours)
sock=$tmp/socket

started ()
{
  local i
  for ((i = 0; i < 1000; i++)); do
    if [ -s "$tmp/pid" ]; then return; fi
    sleep 0.01
  done
  cat "$tmp/log" >&2
  return 1
}

# serve ARGS...: nbdkit until it is killed, and then its CPU time in $tmp/cpu
serve ()
{
  local TIMEFORMAT='%U %S'
  rm -f "$tmp/pid" "$sock"
  { time "$NBDKIT" -f -P "$tmp/pid" -U "$sock" "$@" 2>"$tmp/log"; } \
    2>"$tmp/cpu" &
  started
}

stop ()
{
  if [ -s "$tmp/pid" ]; then
    kill "$(cat "$tmp/pid")"
    rm "$tmp/pid"
  fi
}

client ()
{
  fio --name=bench --ioengine=nbd --uri="nbd+unix:///?socket=$sock" \
      --rw=randread --bs=4k --size=1G --iodepth="$1" --number_ios="$2" \
      --output-format=json --output="$tmp/fio" >/dev/null
  sed -n '/^{/,$p' "$tmp/fio" |
    jq -r '.jobs[0].read | "\(.total_ios) \(.iops)"'
}

# measure SIDE PLUGIN DEPTH REQUESTS: prints IOPS, and the seconds of CPU that
# nbdkit used for a million requests
measure ()
{
  local result
  case $1 in
    none)  serve "$2" 1G ;;
    stock) serve --filter="$stock" "$2" 1G statsfile=/dev/null ;;
    ours)  serve --filter="$ours" "$2" 1G statsfile=/dev/null ;;
  esac
  result=$(client "$3" "$4")
  stop
  wait
  echo "$result" "$(cat "$tmp/cpu")" |
    awk '$1 > 0 { print $2, ($3 + $4) * 1e6 / $1; ok = 1 } END { exit !ok }'
}

# figure FIELD DECIMALS FILE: median and spread
figure ()
{
  cut -d ' ' -f "$1" "$3" | median "$2"
}

# ratio FIELD FILE BASE: of the rounds' ratios
ratio ()
{
  paste -d ' ' "$2" "$3" | awk -v f="$1" '{ print $f / $(f + 2) }' | median 3
}

# compare PLUGIN DEPTH REQUESTS
compare ()
{
  local round side files=()
  for ((round = 0; round < rounds; round++)); do
    for side in "${sides[@]}"; do
      measure "$side" "$1" "$2" $(($3 / divisor)) >>"$tmp/$1-$2-$side"
    done
    # Who came first comes last in the next round.
    sides=("${sides[@]:1}" "${sides[0]}")
  done
  for side in none stock ours; do
    files=("$tmp/$1-$2-$side" "$tmp/$1-$2-none" "$tmp/$1-$2-stock")
    row "$1" "$2" "$side" \
        "$(figure 1 0 "${files[0]}")" \
        "$(ratio 1 "${files[0]}" "${files[1]}")" \
        "$(figure 2 2 "${files[0]}")" \
        "$(ratio 2 "${files[0]}" "${files[1]}")" \
        "$(ratio 2 "${files[0]}" "${files[2]}")"
  done
}

row plugin depth filter IOPS "IOPS / none" "CPU s/million" "CPU / none" \
    "CPU / stock"
row ------ ----: ------ ---: ----------: ------------: ---------: ----------:
compare null 16 1000000
compare null 1 50000
compare memory 16 300000
compare memory 1 50000
