#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Threads that served requests may end when nbdkit has unloaded the filter
# already: it ends in order all the same, and all is in the report.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=preload.sh
source "$top_srcdir/tests/preload.sh"
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdkit --filter=noparallel memory --version
requires nbdsh --version
preload late-threads

cd "$tmp"
export LATE_THREADS_LOG=$tmp/late

# late THREADS ARGS...: eight connections, of which some come to an end with
# the server
late ()
{
  local threads=$1 layers
  shift
  rm -f late report
  layers=$(printf '%s\n' "$@" | grep -cx -e --filter=stats)
  start_nbdkit -t "$threads" "$@" memory 1M statsfile=report statsformat=json
  nbdsh -c "
handles = [nbd.NBD() for i in range(8)]
for h in handles:
    h.connect_uri('$uri')
    for i in range(100):
        h.pwrite(bytes(512), 512 * i)
for h in handles[:4]:
    h.shutdown()
"
  stop_nbdkit || fail "the exit status is $?"
  [ "$(wc -l <late)" -eq 8 ] || fail "its threads did not end late"
  json_check "[.layers[].ops.write.total_ios] == [range($layers) | 800]" \
             "[.layers[].connections.opened] == [range($layers) | 8]"
}

late 1 --filter=stats
late 16 --filter=stats
late 16 --filter=stats --filter=noparallel
late 1 --filter=stats --filter=stats
