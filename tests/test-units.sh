#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Sizes stand in the largest unit that fits: 1.00 MiB and not 1024.00 KiB, and
# what is larger than gibibytes in tebi-, pebi- and exbibytes.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=figures.sh
source "$top_srcdir/tests/figures.sh"

requires nbdsh --version

cd "$tmp"
# check_size SIZE SHOWN: a write of so many bytes
check_size ()
{
  nbdkit -U - --filter=stats null 1G statsfile=report \
         --run "nbdsh -u \$uri -c 'h.pwrite(bytes($1), 0)'"
  cat report
  line write | grep -F "write: 1 ops, $(seconds write) s, $2, "
}
check_size 1 '1 B'
check_size 1023 '1023 B'
check_size 1024 '1.00 KiB'
check_size 1048575 '1.00 MiB'
check_size 1048576 '1.00 MiB'
check_size 10485759 '10.0 MiB'

# A tebibyte zeroed in a moment, on a disk of four exbibytes that is one hole.
nbdkit -U - --filter=stats eval get_size='echo 4E' pread='exit 1' \
       can_zero='exit 0' can_write='exit 0' zero='exit 0' \
       can_extents='exit 0' extents='echo 0 4E hole' statsfile=report \
       --run 'nbdsh --base-allocation -u "$uri" -c "
for i in range(256):
    h.zero((1 << 32) - 512, i << 32)
h.zero(256 * 512, 1 << 50)
h.block_status(1 << 20, 0, lambda *args: 0)
"'
cat report
grep -x "bytes: read 0, written 0, zeroed $((1 << 40)), trimmed 0" report
line zero | grep -E '^zero: 257 ops, .* s, 1\.00 TiB, [0-9.]+ [GT]iB/s op, '
close_to "$(rate zero op)" "2 ^ 40 / $(seconds zero)"
close_to "$(rate zero total)" "2 ^ 40 / $(seconds elapsed)"
line extents |
  grep -F 's, 1.00 MiB, 4.00 EiB returned, 4.00 EiB hole, 1 extents'
