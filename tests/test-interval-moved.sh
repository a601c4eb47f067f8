#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Where the file with the rows is moved away or emptied while nbdkit runs, as
# logrotate does, it begins again with a heading, and what was moved stays as it
# was.

source ./functions.sh
set -e -u -x

cd "$tmp"
lines ()
{
  [ -e rows ] && [ "$(wc -l <rows)" -ge "$1" ]
}

# Just after a row, when the next one is a second away.
after_a_row ()
{
  wait_until lines $(($(wc -l <rows) + 1))
  "$@"
}

# A heading, in front of the first row and of no other.
headed ()
{
  wait_until lines "$1"
  cat rows
  [ "$(head -n 1 rows | grep -c "$2")" -eq 1 ] || fail "there is no heading"
  [ "$(grep -c '^UTC *seconds ' rows)" -eq 1 ] || fail "not one heading"
}

start_nbdkit --filter=stats null statsfile=rows statsinterval=1
wait_until lines 2
after_a_row mv rows rows.1
cp rows.1 before
headed 3 '^UTC *seconds '
after_a_row truncate -s 0 rows
headed 2 '^UTC *seconds '
stop_nbdkit
cmp rows.1 before
rm rows

# With statsappend, the line that says whose rows they are comes first.
start_nbdkit --filter=stats null statsfile=rows statsinterval=1 \
             statsappend=true
wait_until lines 3
after_a_row mv rows rows.1
headed 3 "^report: .*, pid $pid\$"
stop_nbdkit
