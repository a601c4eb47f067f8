#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A server in the foreground reports on standard error when a signal ends it,
# whichever of the four it is, and its exit status is what it is without us.

source ./functions.sh
set -e -u -x

requires nbdsh --version

cd "$tmp"
for signal in TERM INT QUIT HUP; do
  start_nbdkit null
  without=0
  kill -"$signal" "$pid"
  wait "$pid" || without=$?

  # The report alone, without what set -x shows.
  set +x
  start_nbdkit --filter=stats memory 1M 2>report
  set -x
  nbdsh -u "$uri" -c 'h.pwrite(bytes(3000), 0)'
  with=0
  kill -"$signal" "$pid"
  wait "$pid" || with=$?

  cat report
  grep -x 'bytes: read 0, written 3000, zeroed 0, trimmed 0' report
  grep -E '^write: 1 ops, ' report
  # One report and nothing else.
  [ "$(grep -c '^elapsed time: ' report)" -eq 1 ]
  head -n 1 report | grep '^elapsed time: '
  [ "$with" -eq "$without" ] ||
    fail "SIG$signal: exit status $with, without the filter $without"
done
