#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The account of time has all of the elapsed time: what passed before a client
# came, while one asked for nothing, and while each kind of request was at work,
# alone or not. A sleep takes as long as it says, or longer, so these are lower
# bounds; that nothing is counted twice follows from the sum.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdsh --version
requires nbdkit --filter=delay null --version

cd "$tmp"
cat >client.py <<'EOC'
import time

time.sleep(0.2)
for i in range(4):
    h.pread(512, 0)
for i in range(2):
    h.pwrite(bytes(512), 0)
h.zero(512, 0)
# Both at the same time.
done = [h.aio_pread(nbd.Buffer(512), 0),
        h.aio_pwrite(nbd.Buffer.from_bytearray(bytearray(512)), 0)]
for cookie in done:
    while not h.aio_command_completed(cookie):
        h.poll(-1)
EOC
run ()
{
  # shellcheck disable=SC2016 # the shell of --run expands it
  nbdkit -U - --filter=stats --filter=delay --filter=stats memory 1M \
         delay-open=100ms delay-read=60ms delay-write=30ms delay-zero=20ms \
         statsfile=report "$@" \
         --run 'sleep 0.3; nbdsh -u "$uri" -c - <client.py'
}

run statsformat=json
json '.elapsed_ns, .layers[].account'
json_check \
  '.layers | all(.account.no_client >= 300e6)' \
  '.layers | all(.account.waiting >= 200e6)' \
  'layer(1).account.opening >= 100e6' \
  'layer(1).account.read >= 4 * 60e6' \
  'layer(1).account.write >= 2 * 30e6' \
  'layer(1).account.zero >= 20e6' \
  'layer(1).account.several > 0' \
  'layer(1).account | .trim + .extents + .cache + .flush == 0' \
  'layer(2).account.waiting > layer(1).account.waiting'
jq -r -f "$top_srcdir/tests/json-rules.jq" report >broken-rules
[ ! -s broken-rules ] || fail "broken: $(cat broken-rules)"

# The same in text, where a row is rounded, and what would be 0 is left out.
run
cat report
/usr/bin/python3 - report <<'EOC'
import re
import sys

text = open(sys.argv[1]).read()
elapsed = float(re.match(r"elapsed time: (\S+) s", text).group(1))
tables = re.findall(r"\nwhere the time went +seconds +%\n((?:  .*\n)+)", text)
assert len(tables) == 2, "an account for each layer"
for table in tables:
    rows = [re.match(r"  (\S.*\S) +([0-9.]+) +([0-9.]+)%(  #+)?$", row).groups()
            for row in table.splitlines()]
    seconds = [float(row[1]) for row in rows]
    names = [row[0] for row in rows]
    assert seconds == sorted(seconds, reverse=True), "the largest first"
    assert abs(sum(seconds) - elapsed) < 0.0005 * 12, "they add up"
    assert abs(sum(float(row[2]) for row in rows) - 100) < 0.05 * 12
    assert {"no client connected", "waiting for requests"} <= set(names)
    assert not {"trim", "extents", "cache", "flush"} & set(names), "rows of 0"
assert {"opening exports", "read", "write", "zero"} <= set(
    re.findall(r"^  (\S.*?) {2}", tables[0], re.MULTILINE))
EOC

# Without any client there is one state, and a client that asks for nothing makes
# a second one, and no gap.
# shellcheck disable=SC2016 # the shell of --run expands it
nbdkit -U - --filter=stats null statsfile=report statsformat=json \
       --run 'sleep 0.1'
json_check '[layer(1).account[] | select(. > 0)] | length == 1' \
           'layer(1).account.no_client == .elapsed_ns'
# shellcheck disable=SC2016
nbdkit -U - --filter=stats null statsfile=report statsformat=json \
       --run 'nbdsh -u "$uri" -c "import time; time.sleep(0.1)"'
json_check 'layer(1).account.waiting >= 100e6' 'layer(1).gaps.count == 0' \
           'layer(1).waiting_ns == 0'
