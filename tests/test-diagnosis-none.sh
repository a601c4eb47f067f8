#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Where there is nothing to say the diagnosis says nothing: after ordinary quick
# copies, an idle server, and a client that asks for little.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=diagnosis.sh
source "$top_srcdir/tests/diagnosis.sh"

requires jq --version
requires nbdcopy --version
requires nbdinfo --version
requires qemu-img --version

cd "$tmp"
truncate -s 16M src dst
dd if=/dev/urandom of=src bs=1M count=4 conv=notrunc status=none

# Findings about the time may well be true where it takes more than a second, as
# on a busy machine.
about_time='storage-bound|client-bound|flush|one-at-a-time|saturated'
about_time+='|extents-time|long-tail|late-start|late-end|slow-open'

# healthy ARGS...: such a run is quick at least once in a few, if the machine
# is not too busy.
healthy ()
{
  local i
  for ((i = 0; i < 5; i++)); do
    provoke --filter=stats "$@"
    findings >found
    if jq -e '.elapsed_ns < 1e9' report; then
      [ ! -s found ] || fail "it found something"
      return
    fi
    if grep -Ev "^($about_time) " found; then fail "it found something"; fi
  done
}

healthy file src --run 'qemu-img convert -f raw -O raw "$uri" dst'
healthy file dst statsblock=64k statszero=true \
        --run 'qemu-img convert -n -f raw -O raw src "$uri"'
healthy file dst --run 'nbdcopy --flush src "$uri"'
healthy file src --run 'nbdcopy "$uri" dst'
healthy file src --run 'nbdinfo "$uri"'
healthy null --run true

# Nor is there an empty heading. Without a client, there is nothing to find.
nbdkit -U - --filter=stats null statsfile=text --run true
cat text
if grep diagnosis text; then fail "there is a heading"; fi
