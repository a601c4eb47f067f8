#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The report of an earlier run stands until the next one is complete: also when
# nbdkit does not start, for whatever reason, and when it is killed.

source ./functions.sh
set -e -u -x

requires nbdkit file --version

cd "$tmp"
echo 'an old report' >report
inode=$(stat -c %i report)

old_report_stands ()
{
  cat report
  [ "$(cat report)" = 'an old report' ] || fail "the old report is gone"
  [ "$(stat -c %i report)" = "$inode" ] || fail "the old file is gone"
  [ "$(echo report*)" = report ] || fail "there are files beside it: report*"
}

# fails_to_start ARGS...
fails_to_start ()
{
  local append status
  for append in false true; do
    status=0
    nbdkit -f "$@" statsfile=report statsappend=$append 2>log || status=$?
    cat log
    [ "$status" -eq 1 ] || fail "the exit status is $status"
    grep -v '^nbdkit: debug' log
    old_report_stands
  done
}

# The plugin refuses a parameter, or does not find its file.
fails_to_start -U "$tmp/s" --filter=stats null size=nonsense
fails_to_start -U "$tmp/s" --filter=stats null nonsense=1
fails_to_start -U "$tmp/s" --filter=stats file "$tmp/none"
# Another filter refuses one.
fails_to_start -U "$tmp/s" --filter=stats --filter=delay null rdelay=nonsense
# We do.
fails_to_start -U "$tmp/s" --filter=stats null statsformat=nonsense
# The address is in use.
start_nbdkit null
fails_to_start -U "$sock" --filter=stats null
# There is no such user, or no such directory for the process number.
fails_to_start -U "$tmp/s" -u no-such-user-here --filter=stats null
fails_to_start -U "$tmp/s" -P none/pid --filter=stats null

# A server that runs, and is killed.
start_nbdkit --filter=stats null statsfile=report
old_report_stands
kill -KILL "$pid"
wait "$pid" || :
old_report_stands

# One that runs and ends.
start_nbdkit --filter=stats null statsfile=report
old_report_stands
stop_nbdkit
cat report
grep '^elapsed time: ' report
grep '^total: ' report
if grep 'an old report' report; then fail "the old report is still there"; fi
[ "$(echo report*)" = report ] || fail "there are files beside it: report*"
