#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The diagnosis begins with the account of the time, after any run with a request
# or an opening, however short: its parts add up to the elapsed time, and the
# figures of the sentence are those for programs.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=diagnosis.sh
source "$top_srcdir/tests/diagnosis.sh"

requires jq --version
requires nbdcopy --version
requires nbdinfo --version
requires nbdkit --filter=delay --filter=error null --version
requires nbdsh --version
requires qemu-img --version

cd "$tmp"
truncate -s 16M src dst
dd if=/dev/urandom of=src bs=1M count=4 conv=notrunc status=none

# account ARGS...: run nbdkit with them, and look at the account.
account ()
{
  provoke --filter=stats "$@"
  jq -e '.diagnosis[0] as {$code, $layer, numbers: $n} | .elapsed_ns as $all
         | $code == "account" and $layer == 1
         and $n.no_client_ns + $n.waiting_ns + $n.storage_ns == $all
         and $n.storage_ns == .busy_ns
         and $n.largest_ns <= $n.storage_ns
         and $n.without_storage_ns == $all - $n.storage_ns
         and $n.without_pauses_ns == $all - $n.waiting_ns' report
  jq -e '[.diagnosis[] | select(.code == "account")] | length == 1' report
}

account file src --run 'qemu-img convert -f raw -O raw "$uri" dst'
account file dst statsblock=64k statszero=true \
        --run 'qemu-img convert -n -f raw -O raw src "$uri"'
account file dst --run 'nbdcopy --flush src "$uri"'
account file src --run 'nbdcopy "$uri" dst'
# Openings alone.
account file src --run 'nbdinfo --size "$uri"'
found account '.* in the storage, all of it opening\. '
# No request that succeeded.
account --filter=error memory 1M error-pread=EIO error-pread-rate=100% \
        --run 'nbdsh -u "$uri" -c "
try:
    h.pread(512, 0)
except nbd.Error:
    pass
"'
found account
found failures

# What was most of it.
account --filter=delay memory 1M delay-write=300ms \
        --run 'nbdsh -u "$uri" -c "
h.pwrite(bytes(512), 0)
h.pread(512, 0)
"'
jq -e '.diagnosis[0].op == "write"' report
found account '.* in the storage, (of which|nearly all of it) write'

# Two layers: it is that of the one nearest the client.
account --filter=stats null 1M --run 'nbdsh -u "$uri" -c "h.pread (512, 0)"'
found account 'Seen from layer 1, [0-9.]+ s went by'

# Nobody came, so there is nothing to account for.
provoke --filter=stats null --run true
not_found account
