#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Whatever the plugin can and cannot do, so that nbdkit does something else in
# its place: the report counts what the client asked for, and neither the client
# nor the plugin can tell that the filter is there.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"
# shellcheck source-path=SCRIPTDIR source=log-totals.sh
source "$top_srcdir/tests/log-totals.sh"
# shellcheck source-path=SCRIPTDIR source=emulation.sh
source "$top_srcdir/tests/emulation.sh"

{
  # Each callback by itself, with all answers that it has.
  echo "fua=native"
  for can in write zero fast_zero trim flush extents multi_conn; do
    printf '%s\n' "$can=3" "$can=1"
  done
  for can in cache fua; do
    printf '%s\n' "$can=none" "$can=emulate" "$can=error"
  done
  # Those that have to do with each other, together.
  for fua in none emulate native; do
    for fast_zero in 0 3; do
      echo "zero=3 fua=$fua fast_zero=$fast_zero"
    done
    echo "zero=3 fua=$fua flush=3"
  done
  echo "zero=3 cache=emulate fua=emulate extents=3 trim=3"
  echo "write=3 zero=3 cache=emulate extents=3"
  echo "zero=3 cache=emulate fua=emulate size=200000000"
} >exports

run without &
run with stats -- statsfile=report statsformat=json
wait "$!"
tail -n 50 with.client
grep base:allocation with.info
same without with

# The client's own account, the log above and the report tell the same.
cat asked
log_totals with.above | grep -v returned | diff -u asked - ||
  fail "the log above (+) tells something else"
saw 1 asked "the report"
json_check 'zero.fast_zero_refused.total > 20' 'extents.returned.extents > 0'
