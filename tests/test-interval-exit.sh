#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A long interval does not delay the end: the server ends when it is told to, and
# the report has what happened since the last interval.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=figures.sh
source "$top_srcdir/tests/figures.sh"

requires nbdsh --version

cd "$tmp"
# milliseconds_to_end [PARAMETERS...]
milliseconds_to_end ()
{
  local begin
  start_nbdkit --filter=stats memory 1M statsfile=report "$@"
  nbdsh -u "$uri" -c 'h.pread(512, 0)'
  begin=$EPOCHREALTIME
  stop_nbdkit
  ms=$(((${EPOCHREALTIME/./} - ${begin/./}) / 1000))
  cat report
  line read | grep -E '^read: 1 ops, '
}

for interval in 600 1.5; do
  milliseconds_to_end statsinterval=$interval
  # Far less than ten minutes, however slow the machine is.
  check "$ms < 300000"
  awk '/^[0-9]/ && $3 > 0 { seen = 1 } END { exit !seen }' report ||
    fail "no row has the read"
done

# Nor does it with --run.
SECONDS=0
nbdkit -U - --filter=stats null statsfile=report statsinterval=600 --run true
check "$SECONDS < 300"
