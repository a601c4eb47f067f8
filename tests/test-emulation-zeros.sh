#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A conversion that zeros what is zero is not told to do so, even if the layers
# below write these zeros.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=diagnosis.sh
source "$top_srcdir/tests/diagnosis.sh"
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdkit --filter=nozero memory --version
requires nbdcopy --version

cd "$tmp"
truncate -s 32M disk
head -c 1M /dev/urandom | dd of=disk bs=1M seek=7 conv=notrunc

provoke --filter=stats --filter=nozero memory 32M zeromode=emulate \
        statszero=true --run 'nbdcopy disk "$uri"'
not_found zeros-written
json_check 'write | [.io_bytes, .zero_bytes] == [1048576, 0]' \
           'zero.io_bytes == 31 * 1048576'

# But one that writes them is.
provoke --filter=stats memory 32M statszero=true \
        --run 'nbdcopy --no-extents -S 0 disk "$uri"'
found zeros-written
json_check 'write.zero_bytes == 31 * 1048576'
