#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A server in the background holds on to nothing of the shell that started it: a
# command substitution around it returns at once, with nothing in it.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=own-dev.sh
source "$top_srcdir/tests/own-dev.sh"

requires nbdsh --version

cd "$tmp"
kill_server ()
{
  [ ! -e pid ] || kill -KILL "$(cat pid)"
}
cleanup_fn kill_server

# If the server kept the pipe open, the substitution would not return before the
# server ends.
start ()
{
  local out
  set +x
  out=$(in_own_dev nbdkit -U "$tmp/sock" -P "$tmp/pid" \
                          --filter=stats memory 1M "$@" 2>&1)
  echo -n "$out" >said
  touch returned
}

# check_detached PARAMETERS...
check_detached ()
{
  start "$@" &
  wait_until test -e returned
  cat said
  [ ! -s said ] || fail "it should say nothing"
  wait_until test -s pid
  pid=$(cat pid)
  nbdsh -u "nbd+unix:///?socket=$tmp/sock" -c 'h.pwrite(bytes(3000), 0)'
  kill "$pid"
  wait_until gone "$pid"
  rm pid sock returned
}

check_detached statsfile="$tmp/report"
check_detached statsfile="$tmp/report" statsappend=true
cat report
written='bytes: read 0, written 3000, zeroed 0, trimmed 0'
[ "$(grep -cx "$written" report)" -eq 2 ] || fail "not two reports"
