#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Memory runs out for the filter, at any allocation there is: as it starts, as a
# client comes, as requests are counted and as reports are written. Either
# nbdkit does not start and says why, or it serves as ever and writes whole
# reports; one that is lost is told.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=complete.sh
source "$top_srcdir/tests/complete.sh"
# shellcheck source-path=SCRIPTDIR source=preload.sh
source "$top_srcdir/tests/preload.sh"

requires jq --version
requires nbdcopy --version
requires nbdsh --version
preload fail-alloc-preload

cd "$tmp"
export FAIL_ALLOC=0 FAIL_ALLOC_LOG=$tmp/failures

# --- Interval reports, while a client sends requests ---

cat >client.py <<'EOF'
import os

# Until there is a report that was through before an allocation failed.
while "none left" not in open(os.environ["FAIL_ALLOC_LOG"]).read():
    for i in range(100):
        h.pwrite(bytes(512 + i), i * 512)
        h.pread(512 + i, i * 512)
EOF

for format in text json prometheus; do
  : >failures
  FAIL_ALLOC=each start_nbdkit --filter=stats --filter=stats memory 1M \
    statsfile=report statsformat=$format statsinterval=0.01 2>log
  nbdsh -u "$uri" -c - <client.py
  stop_nbdkit || fail "the exit status is $?"
  complete $format report
  failures=$(grep -c '^failed' failures)
  errors log | sort | uniq -c
  lost=$(errors log | grep -c 'the report is lost: .*Cannot allocate memory')
  echo "allocations that failed: $failures, errors: $lost"
  # Of reports lost one after the other only the first is told. A few are not
  # lost: stdio does without a buffer.
  [ "$failures" -gt 2 ] && [ "$lost" -gt 0 ] && [ "$lost" -le 3 ]
  [ "$(errors log | wc -l)" -eq "$lost" ] || fail "there are other errors"
done

# --- One report at the end ---

# run N ARGS...: in $status there is 1: nbdkit did not start, 3: all is well
run ()
{
  local nr=$1
  shift
  rm -f ran sock
  : >failures
  echo 'an old report' >report
  status=0
  FAIL_ALLOC=$nr timeout 600 nbdkit -U sock --filter=stats memory 1M \
                 statsfile=report "$@" --run '
    touch ran
    nbdcopy data "$uri" && nbdcopy "$uri" null: || exit 4
    exit 3' 2>log || status=$?
}

# told: in one line, what it is about
told ()
{
  [ "$(errors log | wc -l)" -eq 1 ] && errors log | grep 'annot allocate memory'
}

# no_thread: that there is none is all that is told
no_thread ()
{
  [ "$(errors log | wc -l)" -eq 1 ] && errors log | grep 'cannot start a thread'
}

head -c 100000 /dev/urandom >data
first=1
for format in text json prometheus; do
  ended=
  for ((n = first; n < 30000; n++)); do
    run "$n" statsformat=$format
    if [ ! -s failures ]; then
      ended=yes
      break
    fi
    case $status in
      1)
        told || { cat log; fail "not one line of error"; }
        [ ! -e ran ] || fail "the command ran, and nbdkit did not"
        [ "$(cat report)" = 'an old report' ] || fail "it is gone" ;;
      3)
        if [ ! -s log ] || no_thread; then
          complete $format report || fail "it is not whole"
        else
          told || { cat log; fail "the lost report is not told"; }
          [ "$(cat report)" = 'an old report' ] ||
            fail "the report is not lost"
        fi ;;
      4)
        # This one connection could not be.
        grep 'stats: cannot open: Cannot allocate memory' log
        complete $format report
        # Up to here no format differs from another.
        first=$n ;;
      *)
        cat log
        fail "the exit status is $status" ;;
    esac
    echo "$format $n: $status"
  done
  [ "$ended" ] || fail "there is no end to it"
  [ "$status" -eq 3 ]
  complete $format report
done
