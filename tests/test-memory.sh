#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What memory the filter takes is bounded, whatever clients do: with a hundred
# connections of sixteen threads each and all operations it is less than 32 MiB
# more than without it, and others after them take no more.

source ./functions.sh
set -e -u -x

requires /usr/bin/python3 -c 'import nbd'
requires nbdkit --filter=delay memory --version

cd "$tmp"
# kib NAME: of the status of the process
kib ()
{
  awk -v name="$1:" '$1 == name { print $2 }' "/proc/$pid/status"
}
few_threads ()
{
  [ "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" -lt 10 ]
}

# grown TIMES ARGS...: in $peak is the most that it had, and in $after what it
# has, after the load came once, or twice. Each thread serves more requests than
# its ring has room for.
grown ()
{
  local times=$1 time
  shift
  start_nbdkit -t 16 "$@" rdelay=2ms wdelay=2ms delay-trim=2ms \
               delay-zero=2ms delay-extents=2ms delay-cache=2ms
  for ((time = 0; time < times; time++)); do
    /usr/bin/python3 "$top_srcdir/tests/many-clients.py" "$sock" 100 16 10
    wait_until few_threads
    peak[time]=$(kib VmHWM)
    after[time]=$(kib VmRSS)
  done
  stop_nbdkit
}

peak=() after=()
grown 1 --filter=delay memory 16M
without=("${peak[0]}" "${peak[0]}" "${after[0]}" "${after[0]}")
grown 2 --filter=stats --filter=delay memory 16M statsfile=report \
      statsdetail=full
with=("${peak[@]}" "${after[@]}")
echo "KiB at most and in the end, once and twice, without the filter and with it:"
echo "${without[@]}"
echo "${with[@]}"
# There were as many at once.
grep -E '^all +200 +0 .* 100$' report
for i in 0 1 2 3; do
  [ "$((with[i] - without[i]))" -lt $((32 * 1024)) ] || fail "it takes too much"
done
