#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# While nbdkit runs, FILE becomes a FIFO that nobody reads, or a symbolic link.
# Nothing hangs, the link is not followed, and all of it is told.

source ./functions.sh
set -e -u -x

requires nbdsh --version

cd "$tmp"
told ()
{
  grep "statsfile=$tmp/report: the report is lost: .* no regular file" log
}

# With an interval, the file may be replaced by a report just then.
replace ()
{
  [ -p report ] || [ -L report ] || {
    if [ "$kind" = fifo ]; then mkfifo new; else ln -s target new; fi
    mv -T new report
  }
}
replaced_and_told ()
{
  replace && told
}

for args in statsappend=true statsappend=false statsinterval=0.01 \
            'statsformat=prometheus statsinterval=0.01'; do
  for kind in fifo link; do
    rm -f report target
    echo target >target
    # shellcheck disable=SC2086 # several words
    start_nbdkit --filter=stats memory 1M statsfile=report $args 2>log
    case $args in
      *interval*) wait_until replaced_and_told ;;
      *) replace ;;
    esac
    nbdsh -u "$uri" -c 'h.pwrite(bytes(512), 0)'
    kill "$pid"
    wait_until gone "$pid"
    wait "$pid" || fail "the exit status is $?"
    cat log
    told
    [ -p report ] || [ "$(readlink report)" = target ]
    [ "$(cat target)" = target ] || fail "the link was followed"
  done
done
