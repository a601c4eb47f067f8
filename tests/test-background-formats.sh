#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A server in the background writes JSON and Prometheus reports into the file
# that was named when it started, while it runs and at the end. Without a file
# there is nowhere to write them to: the system log has text, and is told why.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=complete.sh
source "$top_srcdir/tests/complete.sh"
# shellcheck source-path=SCRIPTDIR source=own-dev.sh
source "$top_srcdir/tests/own-dev.sh"

requires jq --version
requires nbdsh --version

export own_dev
mkdir "$tmp/dir"
cd "$tmp/dir"
kill_server ()
{
  [ ! -e ../pid ] || kill -KILL "$(cat ../pid)"
}
cleanup_fn kill_server

newer ()
{
  ! cmp -s report ../before
}

for format in text json prometheus; do
  nbdkit -U "$tmp/sock" -P "$tmp/pid" --filter=stats memory 1M \
         statsfile=report statsformat=$format statsinterval=0.02
  wait_until test -s ../pid
  pid=$(cat ../pid)
  nbdsh -u "nbd+unix:///?socket=$tmp/sock" -c 'h.pwrite(bytes(3000), 0)'
  for ((i = 0; i < 3; i++)); do
    cat report >../before
    wait_until newer
  done
  kill "$pid"
  wait_until gone "$pid"
  rm ../pid ../sock
  complete $format report
  [ "$(ls)" = report ] || fail "there are: $(ls)"
  case $format in
    text) grep -x 'bytes: read 0, written 3000, zeroed 0, trimmed 0' report ;;
    json) jq -e -s '.[-1].layers[0].ops.write.io_bytes == 3000' report ;;
    *) grep -x 'nbdkit_stats_bytes_total{layer="1",op="write"} 3000' report ;;
  esac
  rm report
done

# What a logger would get, a line a message.
cat >../listen.py <<'EOF'
import os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(os.environ["own_dev"] + "/log")
with open("../messages", "wb", buffering=0) as messages:
    while True:
        messages.write(s.recv(65536) + b"\n")
EOF
/usr/bin/python3 ../listen.py &
cleanup_fn kill "$!"
wait_until test -S "$own_dev/log"

for format in json prometheus; do
  : >../messages
  in_own_dev nbdkit -U "$tmp/sock" -P "$tmp/pid" --filter=stats memory 1M \
                    statsformat=$format
  wait_until test -s ../pid
  wait_until grep "statsformat=$format: .*needs statsfile=FILE" ../messages
  pid=$(cat ../pid)
  kill "$pid"
  wait_until gone "$pid"
  rm ../pid ../sock
  wait_until grep ' total: 0 ops' ../messages
done
[ "$(ls)" = "" ] || fail "there are: $(ls)"
