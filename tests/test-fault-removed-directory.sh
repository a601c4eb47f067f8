#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The directory of the file is removed while the server runs: it is told once.
# When it is there again, reports are too, and at the end there is nothing to
# tell.

# shellcheck disable=SC2016 # jq's variables
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=complete.sh
source "$top_srcdir/tests/complete.sh"

requires jq --version

cd "$tmp"
for format in text json prometheus; do
  for append in false true; do
    if [ $format = prometheus ] && [ $append = true ]; then continue; fi
    mkdir dir
    start_nbdkit --filter=stats null statsfile=dir/report statsappend=$append \
                 statsformat=$format statsinterval=0.01 2>log
    wait_until test -s dir/report
    mv dir gone
    wait_until errors log
    mkdir dir
    wait_until test -s dir/report
    stop_nbdkit || fail "the exit status is $?"
    cat log
    complete $format dir/report
    [ "$(echo dir/*)" = dir/report ] || fail "there are: $(echo dir/*)"
    so_far $format gone/report
    [ "$(errors log | wc -l)" -eq 1 ] || fail "not one line of error"
    errors log | grep "statsfile=$tmp/dir/report: .*No such file or directory"
    rm -r dir gone
  done
done
