#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# In the background, without a statsfile: where there is no system log, as in a
# container, whoever starts nbdkit is told, while a statsfile needs none. A log
# that does not read is not waited for.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=own-dev.sh
source "$top_srcdir/tests/own-dev.sh"

requires nbdsh --version

export own_dev
cd "$tmp"
kill_server ()
{
  [ ! -e pid ] || kill -KILL "$(cat pid)"
}
cleanup_fn kill_server

# serve ARGS...: a server in the background, of which little is asked. Its
# standard error is at its end when nbdkit has given it up.
serve ()
{
  in_own_dev nbdkit -U "$tmp/sock" -P "$tmp/pid" --filter=stats memory 1M "$@" \
             2>&1 | cat >all
  wait_until test -s pid
  nbdsh -u "nbd+unix:///?socket=$tmp/sock" -c 'h.pwrite(bytes(3000), 0)'
  kill "$(cat pid)"
  wait_until gone "$(cat pid)"
  rm pid sock
  cat all
  # The shell tells there, too, what it does.
  grep '^nbdkit: ' all >told || :
}

serve
[ "$(wc -l <told)" -eq 1 ] || fail "not one line of error"
grep 'nbdkit: error: statsfile: .* system log, which is not there: No such' told
serve statsinterval=0.01
[ "$(wc -l <told)" -eq 1 ] || fail "not one line of error"
serve statsformat=json
[ "$(wc -l <told)" -eq 1 ] || fail "not one line of error"
serve statsfile=report
[ ! -s told ] || fail "this is no error"
grep '^total: 1 ops' report

# A log that never reads.
cat >listen.py <<'EOF'
import os, signal, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(os.environ["own_dev"] + "/log")
signal.pause()
EOF
/usr/bin/python3 listen.py &
cleanup_fn kill $!
wait_until test -S "$own_dev/log"
serve
[ ! -s told ] || fail "the log is there"
serve statsinterval=0.01
serve statsfile=/dev/full
