#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Whatever ends overhead, no nbdkit and no file stays behind.

source ./functions.sh
set -e -u -x

requires_tool
cd "$tmp"
mkdir work
export TMPDIR=$tmp/work

# nbdkit is there, with the filter that hangs.
serving ()
{
  [ -n "$(pgrep -f "^[^ ]*nbdkit .*$tmp/work/[^ ]*/socket.*load-requests")" ]
}

none_serves ()
{
  ! serving
}

# Each request waits longer than any test.
start ()
{
  # A shell starts what is in the background without SIGINT.
  env --default-signal=INT nbdkit-stats overhead delay rdelay=3600 \
      --timeout=3600 >out 2>err &
  pid=$!
  wait_until serving
}

for signal in INT TERM HUP; do
  start
  kill "-$signal" "$pid"
  status=0
  wait "$pid" || status=$?
  cat out err
  test "$status" -eq $((128 + $(kill -l "$signal")))
  wait_until none_serves
  test -z "$(ls -A work)"
done

# Killed it cannot remove a file, but nbdkit goes with it.
start
kill -KILL "$pid"
wait "$pid" || :
wait_until none_serves
