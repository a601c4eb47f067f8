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
# server ends, and we would stand here until the test's time is over.
for args in "" "statsfile=-" "statsfile=$tmp/report" \
            "statsfile=$tmp/report statsappend=true"; do
  # shellcheck disable=SC2086 # several arguments, or none
  out=$(set +x; in_own_dev nbdkit -U "$tmp/sock" -P "$tmp/pid" \
                                  --filter=stats memory 1M $args 2>&1)
  [ -z "$out" ] || fail "it said: $out"

  wait_until test -s pid
  pid=$(cat pid)
  nbdsh -u "nbd+unix:///?socket=$tmp/sock" -c 'h.pwrite(bytes(3000), 0)'
  kill "$pid"
  wait_until gone "$pid"
  rm pid sock
done
cat report
[ "$(grep -cx 'bytes: read 0, written 3000, zeroed 0, trimmed 0' report)" -eq 2 ]
