#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Opening is all that nbdkit asks of the layers below until a connection is
# open, and whatever of it takes its time is told as that: in the time of the
# opening, also if reports are written meanwhile, and as time in which the
# storage was busy. Nobody calls the client slow then.

# shellcheck disable=SC2016 # the shells of --run and the plugin expand it
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"
# shellcheck source-path=SCRIPTDIR source=diagnosis.sh
source "$top_srcdir/tests/diagnosis.sh"

requires jq --version
requires nbdkit eval --version
requires nbdkit --filter=gzip --filter=delay null --version
requires gzip --version
requires nbdsh --version

cd "$tmp"
one='nbdsh -u "$uri" -c "h.pread(512, 0)"'
size='echo 1M' read='head -c $3 /dev/zero'

# opens ARGS...
opens ()
{
  rm -f report
  nbdkit -U - --filter=stats "$@" statsfile=report --run "$one"
}

# slow SECONDS ARGS...: opening takes that long at least, in all formats
slow ()
{
  local ns=$1
  shift
  opens "$@" statsformat=json
  json '.layers[0] | del(.ops)'
  json_check '.layers[0].connections | [.opened, .failed] == [1, 0]' \
             ".layers[0].connections.open_ns.max >= $ns" \
             ".layers[0].open_busy_ns >= $ns" \
             ".busy_ns >= $ns" \
             ".layers[0].request_busy_ns <= .busy_ns - $ns"
  opens "$@" statsformat=prometheus
  awk -v least="$ns" '
    /^nbdkit_stats_layer_opening_seconds_total{/ { found = $2 * 1e9 }
    END { print found; exit !(found >= least - 1e6) }' report
}

for question in get_size can_write can_zero can_multi_conn can_extents; do
  case $question in
    get_size) args=(get_size="sleep 0.3; $size" pread="$read") ;;
    can_zero) args=(get_size="$size" pread="$read" can_write='exit 0'
                    pwrite='cat >/dev/null' zero='exit 0'
                    can_zero='sleep 0.3; exit 0') ;;
    *) args=(get_size="$size" pread="$read" "$question=sleep 0.3; exit 3") ;;
  esac
  slow 300000000 eval "${args[@]}"
  slow 300000000 eval "${args[@]}" statsinterval=0.02
done

# To prepare takes long: the gzip filter reads all of its file then.
head -c 200000 /dev/zero | gzip >disk.gz
slow 300000000 --filter=gzip --filter=delay file disk.gz rdelay=300ms

# What is asked before there is a connection. It is in no opening's own time.
for question in preconnect default_export; do
  opens eval get_size="$size" pread="$read" "$question"='sleep 0.3' \
        statsformat=json
  json_check '.layers[0].open_busy_ns >= 300000000'
done

# The text has it, too.
opens eval get_size="sleep 1.2; $size" pread="$read" statsdetail=full
cat report
grep -E '^all +1 +0 +[0-9.]+ s +[0-9.]+ s +1$' report
tr -s ' \n' '  ' <report |
  grep -F 'only being opened: 1 opening ended; the longest took '

# Six connections in turn, each with one request. They are of one client, which
# takes no time to start between them.
cat >client.py <<'EOF'
import os

for i in range(6):
    h = nbd.NBD()
    h.connect_unix(os.environ["unixsocket"])
    h.pread(512, 0)
    h.shutdown()
EOF
provoke --filter=stats eval get_size="sleep 0.9; $size" pread="$read" \
        --run 'export unixsocket; nbdsh -n -c - <client.py'
not_found client-bound
found slow-open 'only being opened: 6 openings ended; the longest'
json_check '.layers[0].open_busy_ns >= 5.4e9' \
           '.layers[0].waiting_ns <= .elapsed_ns - 5.4e9'
