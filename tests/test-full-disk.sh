#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The disk is full when the report is to be written: one line says what was lost
# and why, the old report stands, and neither nbdkit's way out nor the exit
# status of the client suffers.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=own-mounts.sh
source "$top_srcdir/tests/own-mounts.sh"

cd "$tmp"

# lost WHERE: the log has one line of error, about this file.
lost ()
{
  cat log
  [ "$(grep -c '^nbdkit: ' log)" -eq 1 ] || fail "it is not one line of error"
  grep -F "nbdkit: error: statsfile=$1: " log
  grep -F 'No space left on device' log
}

for append in false true; do
  for status in 0 3; do
    got=0
    nbdkit -U - --filter=stats null statsfile=/dev/full statsappend=$append \
           --run "exit $status" 2>log || got=$?
    lost /dev/full
    [ "$got" -eq "$status" ] || fail "the client's $status became $got"
  done

  # A server that is told to end.
  start_nbdkit --filter=stats null statsfile=/dev/full \
               statsappend=$append 2>log
  stop_nbdkit || fail "the server's exit status is $?"
  lost /dev/full
done

# Standard error itself: there is nobody left to tell.
got=0
nbdkit -U - --filter=stats null --run 'exit 3' 2>/dev/full || got=$?
[ "$got" -eq 3 ] || fail "the client's 3 became $got"

# A real disk, with a report of an earlier run that fills its last page.
yes 'an old report' | head -c "$(getconf PAGESIZE)" >old
cat >on-small-disk <<'END2'
set -e -x
mount -t tmpfs -o size=1m none small
cd small
cp ../old report
dd if=/dev/zero of=filler bs=1k count=2000 || :
for append in false true; do
  got=0
  nbdkit -U - --filter=stats null statsfile=report statsappend=$append \
         --run 'exit 3' 2>../log.$append || got=$?
  [ "$got" -eq 3 ]
  cmp ../old report
  [ "$(ls)" = "$(printf 'filler\nreport')" ]
done
# With room again it is as always.
rm filler
nbdkit -U - --filter=stats null statsfile=report --run true
grep '^total: ' report
END2
mkdir small
if has_own_mounts; then
  "${own_mounts[@]}" bash on-small-disk || fail "on a small disk, see above"
  for append in false true; do
    mv log.$append log
    lost "$tmp/small/report"
  done
else
  echo "not tested: there is nobody here who may mount a small disk"
fi
