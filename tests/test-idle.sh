#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# With nothing to tell, a short interval costs nearly nothing, whatever load
# there was before: twenty rows take a small part of the processor time that it
# took to serve.

source ./functions.sh
set -e -u -x

requires /usr/bin/python3 -c 'import nbd'
requires nbdkit --filter=delay memory --version

cd "$tmp"
# The clock ticks of processor time of the whole process, ended threads too.
ticks ()
{
  sed 's/.*) //' "/proc/$pid/stat" | awk '{ print $12 + $13 }'
}
rows ()
{
  [ "$(grep -c '"interval"' report)" -ge "$1" ]
}

start_nbdkit -t 16 --filter=stats --filter=delay memory 16M rdelay=1ms \
             wdelay=1ms statsfile=report statsformat=json statsinterval=0.1
begin=$(ticks)
/usr/bin/python3 "$top_srcdir/tests/many-clients.py" "$sock" 100 16 4
load=$(($(ticks) - begin))

# The client has gone; what is on its way out goes in the first rows.
told=$(grep -c '"interval"' report)
wait_until rows "$((told + 5))"
begin=$(ticks)
told=$(grep -c '"interval"' report)
wait_until rows "$((told + 20))"
idle=$(($(ticks) - begin))
intervals=$(($(grep -c '"interval"' report) - told))
stop_nbdkit

echo "load: $load ticks, $intervals idle intervals: $idle ticks"
# Each may count a tick more than it took.
[ "$((20 * idle * 20))" -le "$(((load + 10) * intervals))" ] ||
  fail "it takes too much for nothing"
