#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Busy time is the time with at least one request in flight, and not a sum over
# requests that run at the same time: sixteen parallel reads of half a second
# kept the storage busy for half a second, so the rate while busy is sixteen
# times what a sum of eight seconds would make of it.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=figures.sh
source "$top_srcdir/tests/figures.sh"

requires nbdsh --version
requires nbdkit --filter=delay null --version

cd "$tmp"
export reads=16 client=$top_srcdir/tests/parallel-reads.py
nbdkit -U - -t 16 --filter=stats --filter=delay memory 10M delay-read=500ms \
       statsfile=report --run 'nbdsh -u "$uri" -c - <"$client"'
cat report
grep -E '^read: 16 ops, ' report

# However slow the machine is, it is far from one read after the other.
for line in read total; do
  check "$(seconds "$line") >= 0.5"
  check "$(seconds "$line") <= $(seconds elapsed)"
  check "$(seconds "$line") < 4"
done

# The rates are those of 1 MiB in the busy time and in the elapsed time.
for line in read total; do
  close_to "$(rate "$line" op)" "1048576 / $(seconds "$line")"
  close_to "$(rate "$line" total)" "1048576 / $(seconds elapsed)"
done
