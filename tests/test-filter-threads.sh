#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Another filter between the client and ours may send requests of its own, from
# threads of its own, that no client asked for: they are counted like all others
# that reach us, and none is lost when those threads end.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=log-totals.sh
source "$top_srcdir/tests/log-totals.sh"

requires nbdsh --version
requires nbdkit --filter=readahead --filter=scan --filter=log null --version

cd "$tmp"
for filter in readahead scan; do
  nbdkit -U - --filter="$filter" --filter=log --filter=stats memory 16M \
         logfile="$filter.log" statsfile=report \
         --run 'nbdsh -u "$uri" -c "
for i in range(40):
    h.pread(65536, 65536 * i)
"'
  same_totals "$filter.log" report
  grep '^read: 40 ops, ' report
  grep '^cache: [1-9]' report
done
