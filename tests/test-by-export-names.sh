#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Requests to a hundred export names: 64 are told one by one, and the others
# together. Names are made of any bytes, and in Prometheus each is one series all
# the same, whatever it would pass for.

# shellcheck disable=SC2016 # the shell of --run expands it
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires /usr/bin/python3 -c 'import nbd'

cd "$tmp"
# A request for each name, one more for the next.
cat >client.py <<'EOC'
import os
import sys
import urllib.parse

import nbd

names = ([b"name %d" % i for i in range(100)] if sys.argv[1] == "many" else
         [b"", b"others", b'",place="others', b"quo\"te", b"back\\slash",
          b"two\nlines\r", b"\x1b[31mred", "Fuß €".encode(), b"\xff", b"\xfe",
          "\ufffd".encode(), b"x" * 255, b"x" * 256, b"x" * 300])
for i, name in enumerate(names):
    h = nbd.NBD()
    h.connect_uri("nbd+unix:///%s?socket=%s" % (urllib.parse.quote(name),
                                                os.environ["unixsocket"]))
    for j in range(1 + i):
        h.pread(512, 512 * j)
    h.shutdown()
EOC

# run NAMES ARGS...
run ()
{
  export names=$1
  shift
  nbdkit -U - --filter=stats null 1M statsfile=report "$@" \
         --run 'export unixsocket; /usr/bin/python3 client.py "$names"'
}

run many statsformat=json statsinterval=0.01
jq -r -f "$top_srcdir/tests/json-rules.jq" report >broken
[ ! -s broken ] || fail "$(cat broken)"
json_check 'layer(1).exports | length == 64' \
           'layer(1).exports |
            all(.ops.read.total_ios == (.name[5:] | tonumber) + 1)' \
           'layer(1).other_exports.ops.read.total_ios ==
            sum(layer(1).exports | [range(100)] - map(.name[5:] | tonumber) |
                .[] + 1)' \
           'layer(1).other_exports.ops.read.total_ios > 36 * 36 / 2' \
           'read.total_ios == 5050'

run odd statsdetail=full
sed -n '/^by export /,/^$/p' report >by-export
cat by-export
[ "$(grep -c '^    read ' by-export)" -eq 13 ] || fail "not a row for each"
grep -A 1 -x '  (default export)' by-export | grep -E '^    read +1 '
grep -A 1 -x '  two?lines?' by-export | grep -E '^    read +6 '
grep -A 1 -x '  ?\[31mred' by-export | grep -E '^    read +7 '
grep -A 1 -x '  Fu? ?' by-export | grep -E '^    read +8 '
if LC_ALL=C grep -n '[^ -~]' by-export; then fail "there is more than ASCII"; fi
if grep -E '.{81}' by-export; then fail "a line is too long"; fi

requires promtool --version
run odd statsformat=prometheus
promtool check metrics <report
grep -F 'nbdkit_stats_export_requests_total{' report >series
cat series
[ "$(wc -l <series)" -eq 13 ] || fail "not a series for each name"
[ "$(sed 's/} .*//' series | sort -u | wc -l)" -eq 13 ] || fail "two are the same"
grep -F 'op="read",export=""} 1' series
grep -F 'op="read",export="others"} 2' series
grep -F 'op="read",export="\",place=\"others"} 3' series
grep -F 'op="read",export="two\nlines' series
grep -F 'op="read",export="Fuß €"} 8' series
[ "$(grep -c ',place="[0-9]*"}' series)" -eq 3 ] ||
  fail "not those that their names do not tell"
