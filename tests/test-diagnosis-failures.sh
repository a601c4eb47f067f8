#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What the diagnosis says about what did not work. The text report says the same
# as JSON, in lines of 80 columns at most.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=diagnosis.sh
source "$top_srcdir/tests/diagnosis.sh"

requires jq --version
requires nbdinfo --version
requires nbdkit eval --version
requires nbdkit --filter=error null --version
requires nbdkit --filter=log --filter=delay null --version
requires nbdsh --version

cd "$tmp"
cat >client.py <<'EOF'
def fails(call, *args):
    try:
        call(*args)
        raise Exception("this should fail")
    except nbd.Error:
        pass

fails(h.trim, 512, 0)
for i in range(3):
    fails(h.pwrite, bytes(512), 0)
# Something that takes more than a line to say.
for i in range(120):
    h.pread(4096, i * 4096)
EOF
errors=(--filter=stats --filter=error memory 1M
        error-trim=EIO error-trim-rate=100%
        error-pwrite=ENOSPC error-pwrite-rate=100%
        --run 'nbdsh -u "$uri" -c - <client.py')
provoke "${errors[@]}"
found failures '4 requests failed: 3 write requests with No space left on device'
found small-requests

# The same in text, a finding on some lines. It is another run, so other figures
# may stand in it; and of how long something took it may find more, or less. What
# explains less than 1 % of the time is in JSON alone.
nbdkit -U - "${errors[@]}" statsfile=text
cat text
sed '1,/^diagnosis$/d' text >diagnosis
[ "$(wc -l <diagnosis)" -gt 2 ] || fail "no finding has more than a line"
awk 'length > 80 || !/^(- |  )[^ ]/ { bad = 1 } END { exit bad }' \
    diagnosis || fail "the lines of the diagnosis"
sed 's/^  //' diagnosis | tr '\n' ' ' | sed 's/ - /\n/g; s/^- //; s/ $/\n/' \
  >in-text
jq -r '.diagnosis[] | select(.code == "failures") | "\(.text) [\(.code)]"' \
   report >in-json
grep -Fxf in-json in-text || fail "not in text: $(cat in-json)"
head -n 1 in-text | grep -E '^[0-9.]+ s went by: .*\. \[account\]$' ||
  fail "the first is not the account"

# Openings failed, of a single connection.
cat >openings.py <<'EOF'
import os

h.set_opt_mode(True)
h.connect_unix(os.environ["unixsocket"])
for name in ["bad", "bad", "bad", "good"]:
    h.set_export_name(name)
    try:
        h.opt_info()
    except nbd.Error as error:
        print(error)
h.opt_abort()
EOF
provoke --filter=stats eval get_size='echo 1M' pread='exit 1' \
        open='[ "$3" = good ] || { echo EPERM >&2; exit 1; }' \
        --run 'export unixsocket; nbdsh -c - <openings.py'
found failed-opens '3 of 4 openings of an export failed\.$'

# What nbdkit cuts short as it is told to end has not failed.
start_nbdkit --filter=stats --filter=log --filter=delay memory 1M \
             delay-read=600 logfile=log statsfile=report statsformat=json
nbdsh -u "$uri" -c "
try:
    h.pread(512, 0)
except nbd.Error:
    pass
" &
client=$!
wait_until grep 'Read id=1' log
kill -TERM "$pid"
wait "$pid"
wait "$client"
findings
found cut-short '1 request was cut short \(ESHUTDOWN\)'
not_found failures
