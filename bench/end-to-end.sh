#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What the filter costs in a real server: fio in front of nbdkit without a
# filter, with the distribution's stats filter and with ours. In each round all
# three take turns, and ratios are made round by round, since the speed of a
# machine drifts. PAIRS=3 makes 3 rounds instead of 10.
#
#   end-to-end.sh           how many reads, and what they take of the CPU
#   end-to-end.sh longest   how long the longest request takes when many wait
#                           for a slow storage

# shellcheck source=SCRIPTDIR/functions.sh
source "$(dirname "$0")/functions.sh"
set -e -u -o pipefail

rounds=${PAIRS:-${QUICK:+1}}
rounds=${rounds:-10}
divisor=${QUICK:+20}
divisor=${divisor:-1}
seconds=${QUICK:+1}
seconds=${seconds:-2}

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

# serve_side SIDE ARGS...: with its filter in front
serve_side ()
{
  case $1 in
    none)  serve "${@:2}" ;;
    stock) serve --filter="$stock" "${@:2}" statsfile=/dev/null ;;
    ours)  serve --filter="$ours" "${@:2}" statsfile=/dev/null ;;
  esac
}

# client FILTER ARGS...: fio, and out of what it tells what jq makes of its job
client ()
{
  fio --name=bench --ioengine=nbd --uri="nbd+unix:///?socket=$sock" \
      --bs=4k "${@:2}" --output-format=json --output="$tmp/fio" >/dev/null
  sed -n '/^{/,$p' "$tmp/fio" | jq -r ".jobs[0] | $1"
}

# in_turn FILE COMMAND...: call COMMAND... SIDE in each round, and add what it
# prints to FILE-SIDE
in_turn ()
{
  local round side
  for ((round = 0; round < rounds; round++)); do
    for side in "${sides[@]}"; do
      "${@:2}" "$side" >>"$1-$side"
    done
    # Who came first comes last in the next round.
    sides=("${sides[@]:1}" "${sides[0]}")
  done
}

# measure PLUGIN DEPTH REQUESTS SIDE: prints IOPS, and the seconds of CPU that
# nbdkit used for a million requests
measure ()
{
  local result
  serve_side "$4" "$1" 1G
  # shellcheck disable=SC2016 # for jq
  result=$(client '.read | "\(.total_ios) \(.iops)"' \
                  --rw=randread --size=1G --iodepth="$2" --number_ios="$3")
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
  local side files=()
  in_turn "$tmp/$1-$2" measure "$1" "$2" $(($3 / divisor))
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

throughput ()
{
  row plugin depth filter IOPS "IOPS / none" "CPU s/million" "CPU / none" \
      "CPU / stock"
  row ------ ----: ------ ---: ----------: ------------: ---------: \
      ----------:
  compare null 16 1000000
  compare null 1 50000
  compare memory 16 300000
  compare memory 1 50000
}

# wait_longest SECONDS SIDE: prints the longest latency of any request and the
# mean one of reads, in milliseconds, and IOPS. Of fio one process, whose
# threads have little to wait for each other; nbdkit serves 16 of each
# connection at once.
wait_longest ()
{
  serve_side "$2" --filter=delay memory 64M rdelay=1ms wdelay=2ms
  client '[([.read, .write | .lat_ns.max] | max), .read.lat_ns.mean
           | . / 1e6] + [.read.iops + .write.iops]
          | map (tostring) | join (" ")' \
         --rw=randrw --size=64M --thread --numjobs=16 --iodepth=16 \
         --group_reporting --time_based --runtime="$1"
  stop
  wait
}

longest ()
{
  local side middle least greatest file=$tmp/longest
  in_turn "$file" wait_longest "$seconds"
  row filter "longest ms" least greatest "mean ms" IOPS
  row ------ ---------: ----: -------: ------: ---:
  for side in none stock ours; do
    read -r middle least greatest < <(figure 1 1 "$file-$side" |
      sed 's/[()]//g; s/\.\./ /')
    row "$side" "$middle" "$least" "$greatest" \
        "$(figure 2 2 "$file-$side")" "$(figure 3 0 "$file-$side")"
  done
}

case ${1-} in
  longest) longest ;;
  *)       throughput ;;
esac
