#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# With statsappend=true one file takes many reports: each says when and by which
# process it was written, and each is whole, also when several processes write
# at the same time.

source ./functions.sh
set -e -u -x

# Nowhere on earth is this the time of day.
export TZ=XXX-3:33

cd "$tmp"
echo 'a log' >log
inode=$(stat -c %i log)

# One after the other.
pids=()
begin=$(date -u +%s)
for i in 1 2 3; do
  start_nbdkit --filter=stats null statsfile=log statsappend=true
  pids+=("$pid")
  stop_nbdkit
  cat log
  [ "$(grep -c '^elapsed time: ' log)" -eq "$i" ] || fail "not $i reports"
  [ "$(stat -c %i log)" = "$inode" ] || fail "the log was replaced"
done
end=$(date -u +%s)
[ "$(head -n 1 log)" = 'a log' ] || fail "the log was truncated"

# The head is the first line of a report, with the time in UTC.
time='[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z'
grep -E -B 1 '^elapsed time: ' log |
  grep -E "^report: $time, pid [0-9]+\$" >heads
[ "$(wc -l <heads)" -eq 3 ] || fail "not each report has a head"
i=0
while read -r _ when _ number; do
  when=${when%,}
  seconds=$(date -d "$when" +%s)
  if [ "$seconds" -lt "$begin" ] || [ "$seconds" -gt "$end" ]; then
    fail "the time $when is wrong"
  fi
  [ "$number" -eq "${pids[i]}" ] || fail "the pid is not ${pids[i]}"
  i=$((i + 1))
done <heads

# Where a file has one report it has no head.
nbdkit -U - --filter=stats null statsfile=one --run true
cat one
[ "$(head -c 14 one)" = 'elapsed time: ' ] || fail "the report has a head"

# In parallel, with reports of several layers to make them longer. Numbers
# aside, each report is the same.
parallel=12
layers=(--filter=stats --filter=stats --filter=stats --filter=stats)
nbdkit -U - "${layers[@]}" null statsfile=single statsappend=true --run true
cat single
rm log
jobs=()
for ((i = 0; i < parallel; i++)); do
  nbdkit -U - "${layers[@]}" null statsfile=log statsappend=true --run true &
  jobs+=("$!")
done
for job in "${jobs[@]}"; do
  wait "$job" || fail "one of them failed"
done
cat log
[ "$(grep -c '^report: ' log)" -eq "$parallel" ] || fail "not all reports"
[ "$(sed -n 's/^report: .* pid //p' log | sort -u | wc -l)" -eq "$parallel" ] ||
  fail "not each report has its own pid"
# Where one took 0.1 s, it has a diagnosis.
shape ()
{
  sed -E '/^($|diagnosis$|- |  )/d; s/[0-9]+(\.[0-9]+)?/N/g' "$@"
}
for ((i = 0; i < parallel; i++)); do shape single; done >expected
shape log | diff expected - || fail "reports are mixed up"
