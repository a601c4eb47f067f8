#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The file that a report is written to: its rights, links to it, what happens
# when somebody removes it, and FIFOs.

source ./functions.sh
set -e -u -x

cd "$tmp"
mkdir reports
chmod 755 "$tmp" reports

# whole FILE: it has one report and nothing else.
whole ()
{
  cat "$1"
  [ "$(head -c 14 "$1")" = 'elapsed time: ' ] &&
    [ "$(grep -c '^elapsed time: ' "$1")" -eq 1 ] &&
    grep '^total: ' "$1"
}

# only FILES...: these are in the directory.
only ()
{
  [ "$(cd reports && echo *)" = "$*" ] || fail "there are $(ls reports)"
}

run ()
{
  nbdkit -U - --filter=stats null "$@"
}

# A new file can be read by all, a private one stays private.
(umask 022; run statsfile=reports/report --run true)
whole reports/report
[ "$(stat -c %a reports/report)" = 644 ] || fail "it has other rights"
chmod 600 reports/report
run statsfile=reports/report --run true
whole reports/report
[ "$(stat -c %a reports/report)" = 600 ] || fail "it has other rights"
only report

# A symbolic link stays one, from any directory.
mkdir elsewhere
ln -s ../reports/report elsewhere/link
echo 'an old report' >reports/report
run statsfile=elsewhere/link --run true
[ -L elsewhere/link ] || fail "the link was replaced"
whole reports/report
only report

# The current directory has nothing to do with it.
start_nbdkit --filter=stats null statsfile=reports/../reports/report
stop_nbdkit
whole reports/report
only report

# Removed while the server runs: it is written again.
for append in false true; do
  rm -f reports/*
  run statsfile=reports/report statsappend=$append --run 'rm reports/report'
  grep '^total: ' reports/report
  only report
done

# Its directory is removed: an error that names the file, and no harm else.
for append in false true; do
  mkdir gone
  status=0
  run statsfile=gone/report statsappend=$append \
      --run 'rm -r gone; exit 3' 2>log || status=$?
  cat log
  [ "$status" -eq 3 ] || fail "the client's 3 became $status"
  grep "nbdkit: error: statsfile=$tmp/gone/report: .*No such file" log
  [ ! -e gone ] || fail "the directory was made"
done

# A FIFO that nobody reads: the same, and nothing hangs.
mkfifo reports/fifo
status=0
timeout 600 nbdkit -U - --filter=stats null statsfile=reports/fifo \
        --run 'exit 3' 2>log || status=$?
cat log
[ "$status" -eq 3 ] || fail "the client's 3 became $status"
grep "nbdkit: error: statsfile=$tmp/reports/fifo: " log
# One with a reader, which is there before the server starts.
exec 4<>reports/fifo
exec 5<reports/fifo 4>&-
run statsfile=reports/fifo --run true
cat <&5 >got
exec 5<&-
whole got
[ -p reports/fifo ] || fail "the FIFO was replaced"
