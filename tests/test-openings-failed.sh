#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Whatever fails until a connection is open is an opening that failed: to
# prepare the layers below, their size, and what they can do. It was never open,
# also for reports that are written while that is still being asked.

# shellcheck disable=SC2016 # the shells of --run and the plugin expand it
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdkit eval --version
requires nbdkit --filter=gzip null --version
requires nbdsh --version

cd "$tmp"
cat >client.py <<'EOF'
import os

try:
    h.connect_unix(os.environ["unixsocket"])
    raise Exception("this connection should be refused")
except nbd.Error as error:
    print(error)
EOF

# fails ARGS...: a client that connects is refused, and that is what is told
fails ()
{
  rm -f report
  nbdkit -U - --filter=stats "$@" statsfile=report statsformat=json \
         --run 'export unixsocket; nbdsh -c - <client.py'
  tail -n 1 report
  json_check '.layers[0].connections.opened == 0' \
             '.layers[0].connections.failed >= 1' \
             '.layers[0].exports == []' \
             '.layers[0] | .other_exports.failed == .connections.failed' \
             '.diagnosis | map(.code) | index("failed-opens") != null' \
             'sum(.layers[0].ops[].total_ios) == 0'
}

echo "this is no gzip file" >disk
fails --filter=gzip file disk

read='head -c $3 /dev/zero'
no='echo "EIO I cannot know" >&2; exit 1'
fails eval pread="$read" get_size="$no"
for question in can_write can_multi_conn can_cache can_extents; do
  fails eval get_size='echo 1M' pread="$read" "$question=$no"
done

# While it is being asked, reports are written.
fails eval get_size='echo 1M' pread="$read" statsinterval=0.05 \
      can_write='
      rows () { grep -c interval report; }
      cd '"$tmp"'
      until [ -e report ]; do sleep 0.02; done
      begin=$(rows)
      until [ "$(rows)" -ge "$((begin + 4))" ]; do sleep 0.02; done
      '"$no"
jq -c '.layers[0].connections | select(.opened > 0)' report >opened
if grep . opened; then fail "a report says that it was open"; fi

# Opened once more while it is being opened: neither could be prepared.
rm -f report
if nbdkit -U - --filter="$top_builddir/tests/.libs/nbdkit-openings-filter.so" \
          --filter=stats --filter=gzip file disk openings=lines \
          openings-twice=1 statsfile=report statsformat=json \
          --run 'nbdinfo "$uri"'; then
  fail "it could be opened"
fi
json '.layers[0].connections'
json_check '.layers[0].connections | .opened == 0 and .failed >= 2'
