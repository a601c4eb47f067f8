#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# With --run, the exit status is that of the command, failed or killed, as it is
# without the filter; each time there is a report, and standard output is the
# command's alone.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x

requires nbdinfo --version
requires nbdsh --version

cd "$tmp"
# status ARGS...: nbdkit's exit status
status ()
{
  local status=0
  nbdkit -U - "$@" >stdout 2>stderr || status=$?
  echo "$status"
}

for run in 'exit 0' 'exit 1' 'exit 42' 'kill -TERM $$' 'kill -KILL $$' \
           'nbdinfo nbd://localhost:1' 'no-such-command'; do
  without=$(status memory 1M --run "$run")
  with=$(status --filter=stats memory 1M --run "$run")
  cat stdout stderr
  [ "$with" -eq "$without" ] ||
    fail "'$run' ends with $with, without the filter with $without"
  grep -E '^elapsed time: ' stderr
  grep -E '^total: 0 ops, ' stderr
  [ ! -s stdout ]
done

# A client that fails half-way.
got=$(status --filter=stats memory 1M \
             --run 'nbdsh -u "$uri" -c "h.pwrite(bytes(3000), 0)" \
                          -c "print (\"from the client\")" -c "exit (3)"')
cat stdout stderr
[ "$got" -eq 3 ]
[ "$(cat stdout)" = "from the client" ]
grep -x 'bytes: read 0, written 3000, zeroed 0, trimmed 0' stderr
