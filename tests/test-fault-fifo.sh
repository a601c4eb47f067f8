#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A FIFO with statsinterval: nobody reads it, somebody does, somebody goes away
# in the middle of a report, and the next one comes. Nothing hangs or dies of
# it, each fault is told once, and who reads gets whole reports from then on.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=complete.sh
source "$top_srcdir/tests/complete.sh"

requires jq --version
requires nbdsh --version

cd "$tmp"

nr_errors ()
{
  [ "$(errors log | grep -c "statsfile=$tmp/fifo: .*$2")" -eq "$1" ]
}

# Nobody could write to it without waiting.
full ()
{
  /usr/bin/python3 -c '
import os, select, sys
poll = select.poll()
poll.register(os.open("fifo", os.O_WRONLY | os.O_NONBLOCK), select.POLLOUT)
sys.exit(poll.poll(0) != [])'
}

for format in json prometheus; do
  mkfifo fifo
  start_nbdkit --filter=stats memory 1M statsfile=fifo \
               statsformat=$format statsinterval=0.01 2>log

  # Nobody.
  wait_until nr_errors 1 'cannot find a reader'
  nbdsh -u "$uri" -c 'h.pwrite(bytes(512), 0)'

  # Somebody who reads a little, until nothing fits in any more, and then goes.
  # Where five seconds passed until then, that was the fault.
  exec 4<fifo
  head -c 100 <&4 >part
  wait_until full
  nbdsh -u "$uri" -c 'h.pwrite(bytes(512), 0)'
  exec 4<&-
  wait_until nr_errors 1 'cannot write: '

  # Somebody who stays.
  cat fifo >got &
  reader=$!
  wait_until test -s got
  stop_nbdkit || fail "the exit status is $?"
  wait "$reader"
  errors log
  complete $format got
  [ "$(errors log | wc -l)" -eq 2 ] || fail "not two lines of error"
  [ -p fifo ] || fail "the FIFO was replaced"
  rm fifo got
done
