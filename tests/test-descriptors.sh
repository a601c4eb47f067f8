#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A shell hands over descriptors by names: /dev/stdout, and /dev/fd/63 for
# >(command). They are used as they are, so a file behind one is not truncated
# or replaced, and a pipe works.

source ./functions.sh
set -e -u -x

cd "$tmp"

whole ()
{
  cat "$1"
  grep '^elapsed time: ' "$1" && grep '^total: ' "$1"
}

# Standard output, as a pipe and as a log that has something in it.
nbdkit -U - --filter=stats null statsfile=/dev/stdout --run 'echo client' |
  cat >piped
whole piped
[ "$(head -n 1 piped)" = client ] || fail "the client's line is gone"

exec 3>log
echo before >&3
nbdkit -U - --filter=stats null statsfile=/dev/stdout --run 'echo client' >&3
echo after >&3
exec 3>&-
whole log
[ "$(sed -n '1,2p;$p' log)" = $'before\nclient\nafter' ] ||
  fail "lines of the log are gone"

echo before >log
nbdkit -U - --filter=stats null statsfile=/dev/fd/7 --run true 7>>log
whole log
[ "$(head -n 1 log)" = before ] || fail "the log was truncated"

# A command that reads the report.
nbdkit -U - --filter=stats null statsfile=>(cat >got && touch ended) --run true
wait_until test -e ended
whole got

# The same from a server in a process of its own.
rm ended
start_nbdkit --filter=stats null statsfile=>(cat >got && touch ended)
stop_nbdkit
wait_until test -e ended
whole got

# A descriptor that is not open is told at the start.
status=0
nbdkit -U sock --filter=stats null statsfile=/dev/fd/987 --run true 2>error ||
  status=$?
cat error
[ "$status" -eq 1 ] || fail "the exit status is $status"
grep 'nbdkit: error: statsfile=/dev/fd/987: ' error
