#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Clients choose the names of exports. The report has each, whatever letters it
# is made of: JSON exactly, text in a form that cannot disturb a terminal or a
# table. Names without end cannot fill the memory: 64 are listed.

# shellcheck disable=SC2016 # the shell of --run expands it
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdsh --version

cd "$tmp"
cat >names.json <<'EOF'
[ "", "plain", "with space", "\"quoted\" \\ and {braced}", "line\nbreak\ttab",
  "\u001b[31mred\u0007", "\u00fcml\u00e4ut \u65e5\u672c",
  "a name that is longer than the column of the text report has room for" ]
EOF
cat >client.py <<'EOF'
import json
import os

for name in json.load(open(os.environ["names"])):
    h = nbd.NBD()
    h.set_export_name(name)
    h.connect_unix(os.environ["unixsocket"])
    h.shutdown()
EOF
# run ARGS...
run ()
{
  nbdkit -U - --filter=stats null 1M statsfile=report "$@" \
         --run 'export unixsocket; nbdsh -n -c - <client.py'
  cat report
}

export names=names.json
run statsformat=json
# In the order in which nbdkit was through with them.
json '.layers[0].exports | map(.name) | sort' >reported
jq -c sort names.json | diff - reported
json_check '.layers[0].exports | map(.opened) | unique == [1]'

run statsdetail=full
sed -n '/^openings, /,/^$/p' report >connections
[ "$(wc -l <connections)" -eq 10 ] || fail "not a row for each name"
grep -E '^  \(default export\) +1 +0 ' connections
grep -E '^  plain +1 +0 ' connections
grep -E '^  line\?break\?tab +1 +0 ' connections
grep -E '^  \?\[31mred\? +1 +0 ' connections
if LC_ALL=C grep -n '[^ -~]' connections; then fail "there is more than ASCII"; fi
if grep -E '.{81}' connections; then fail "a line is too long"; fi

# More than are listed; all are in the sum.
jq -n -c '[range(70) | "name \(.)"]' >many.json
export names=many.json
run statsformat=json
json_check '.layers[0].connections.opened == 70' \
           '.layers[0].exports | map(.name) | length == 64 and
            (unique | length) == 64 and
            . - [range(70) | "name \(.)"] == []'
