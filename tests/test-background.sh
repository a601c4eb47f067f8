#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A server in the background writes its report into the file that was named when
# it started, although its working directory is another one by then.

source ./functions.sh
set -e -u -x

requires nbdsh --version

mkdir "$tmp/dir"
cd "$tmp/dir"
nbdkit -U "$tmp/sock" -P "$tmp/pid" --filter=stats memory 1M statsfile=report
wait_until test -s "$tmp/pid"
pid=$(cat "$tmp/pid")
kill_server ()
{
  [ ! "$pid" ] || kill -KILL "$pid"
}
cleanup_fn kill_server

nbdsh -u "nbd+unix:///?socket=$tmp/sock" \
      -c 'h.pwrite(bytes(3000), 0)' -c 'h.flush()'
kill "$pid"
wait_until gone "$pid"
pid=
cat report
grep -x 'bytes: read 0, written 3000, zeroed 0, trimmed 0' report
grep -E '^total: 2 ops, ' report
# And nothing beside it.
[ "$(ls)" = report ] || { ls -l; fail "other files than the report"; }
