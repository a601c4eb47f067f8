#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Where the filter cannot have a thread of its own, that is said, and all is
# counted all the same, by the threads that serve. Only while nbdkit runs there
# are no reports.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=preload.sh
source "$top_srcdir/tests/preload.sh"
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires /usr/bin/python3 -c 'import nbd'
preload fail-alloc-preload

cd "$tmp"
export FAIL_ALLOC=threads FAIL_ALLOC_LOG=$tmp/failures

# More than the rings have room for, and from many threads.
# run ARGS...
run ()
{
  rm -f failures report
  start_nbdkit -t 16 --filter=stats memory 16M statsfile=report \
               statsformat=json "$@" 2>log
  /usr/bin/python3 "$top_srcdir/tests/many-clients.py" "$sock" 10 16 20
  nbdsh -u "$uri" -c '
for i in range(5000):
    h.pread(512, 512 * i)'
  stop_nbdkit || fail "the exit status is $?"
  cat log failures
  json_check 'read.total_ios == 8200' 'write.total_ios == 3200' \
             '[trim, zero, flush, extents, cache | .total_ios]
              == [range(5) | 3200]' \
             '.layers[0].unrecorded == 0' \
             '.layers[0].connections.opened == 11' \
             '.busy_ns <= .elapsed_ns'
}

run
grep 'stats: cannot start a thread: .* counted by the threads that serve' log
[ "$(grep -c '^failed' failures)" -eq 1 ]

# The thread that writes reports, too.
run statsinterval=0.05
grep 'stats: cannot start a thread: .* counted by the threads that serve' log
[ "$(grep -c '^failed' failures)" -eq 2 ]
[ "$(grep -c 'error: ' log)" -eq 2 ] || fail "one of them is not told"
[ "$(wc -l <report)" -eq 1 ]
