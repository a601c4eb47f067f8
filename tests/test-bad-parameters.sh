#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A parameter that makes no sense ends nbdkit at its start: exit status 1, no
# command run, one line of error that names the parameter, and nothing changed
# in the report of an earlier run or beside it. Before a size that is none, nbdkit
# says by itself what is wrong with it.

source ./functions.sh
set -e -u -x

cd "$tmp"
mkdir reports reports/directory
echo 'an old report' >reports/old
echo 'a log' >reports/log
ln -s loop reports/loop
ls -lR --full-time reports >before

# refused WORDS ARGS...: the words are in the error.
refused ()
{
  local words=$1 status=0
  shift
  nbdkit -U sock --filter=stats null "$@" --run 'touch ran' 2>log || status=$?
  cat log
  [ "$status" -eq 1 ] || fail "the exit status is $status"
  tail -n 1 log | grep -E "^nbdkit: error: .*$words"
  case $words in
    statsblock=*) ! grep -v '^nbdkit: error: ' log ;;
    *) [ "$(wc -l <log)" -eq 1 ] || fail "it is not one line of error" ;;
  esac
  [ ! -e ran ] || fail "the command ran all the same"
  ls -lR --full-time reports >after
  diff before after || fail "files were changed"
}

refused 'statsformat=xml: must be text, json or prometheus$' statsformat=xml
refused statsformat=TEXT statsformat=TEXT
refused statsappend=maybe statsappend=maybe
refused statsappend=2 statsappend=2
refused 'stats(append|format)' statsappend=true statsformat=prometheus \
        statsfile=reports/log

# Numbers that are none, and those out of bounds.
for value in 0 0.001 -1 nan inf 1e3 0x10 1,5 1S 1h 's' '1 s' ' 1' 9ms 9999999ns \
             525601m 99999999999; do
  refused "statsinterval=$value: .* ns, us, ms, s, and m for minutes$" \
          "statsinterval=$value"
done
for value in -1 100.1 101 nan 95% 1e1; do
  refused "statsthreshold=$value" "statsthreshold=$value"
done
for value in 0 -1 -4K 1.5 64Q 4KK nan 99999999999999999999 16E 0x 0x0 0xfg -0x10 \
             0x8000000000000000; do
  refused "statsblock=$value: must be a size" "statsblock=$value"
done
refused statszero=maybe statszero=maybe
refused "statsdetail=FULL: must be brief or full" statsdetail=FULL

# Empty.
refused statsfile statsfile=
refused statsappend statsappend=
refused statsformat statsformat=
refused statsinterval statsinterval=
refused statsblock statsblock=
refused statsthreshold statsthreshold=
refused statszero statszero=
refused statsdetail statsdetail=
refused statslabel statslabel=

# Given twice, the same value or not.
refused statsfile statsfile=reports/old statsfile=reports/log
refused statsfile statsfile=- statsfile=reports/old
refused statsappend statsappend=true statsappend=true
refused statsformat statsformat=text statsformat=text
refused statsdetail statsdetail=brief statsdetail=full
refused statsinterval statsinterval=1 statsinterval=1.0
refused statslabel statslabel=a statslabel=b

# A misspelt one.
refused statsfiles statsfiles=reports/old
refused statsFile statsFile=reports/old

# Files that cannot be. Relative names stand in the error so that one can find
# them: with their directory.
for append in false true; do
  refused "statsfile=$tmp/reports: Is a directory" \
          statsfile=reports statsappend=$append
  refused "statsfile=$tmp/reports/directory/?: Is a directory" \
          statsfile=reports/directory/ statsappend=$append
  refused "statsfile=$tmp/none/report: No such file or directory" \
          statsfile=none/report statsappend=$append
  refused "statsfile=$tmp/reports/old/report: Not a directory" \
          statsfile=reports/old/report statsappend=$append
  refused "statsfile=$tmp/reports/loop: Too many levels of symbolic links" \
          statsfile=reports/loop statsappend=$append
  # Nobody can make files there, not even root.
  refused 'statsfile=/proc/self/report: ' \
          statsfile=/proc/self/report statsappend=$append
done

# The error comes first also where an old report would be replaced.
refused statsappend statsfile=reports/old statsappend=maybe
refused "unknown parameter 'nonsense'" statsfile=reports/old nonsense=1
