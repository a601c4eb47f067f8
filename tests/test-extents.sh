#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What extents requests returned is told apart from what they asked about: a
# question about the whole disk is no transfer of the whole disk. The split into
# data and holes is that of the client's own map.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=figures.sh
source "$top_srcdir/tests/figures.sh"

requires nbdinfo --version
requires nbdsh --version
requires nbdkit eval --version
requires jq --version

cd "$tmp"
truncate -s 1G disk
for mib in 0 500 1000; do
  dd if=/dev/urandom of=disk bs=1M count=4 seek="$mib" conv=notrunc status=none
done

# Two clients ask the same, and one of them shows the answer.
nbdkit -U - --filter=stats file disk statsfile=report \
       --run 'nbdinfo --map --json "$uri" >map; nbdinfo --map --totals "$uri"'
cat map report
jq -r '
  def bytes(type): [.[] | select(.type == type) | .length] | add;
  "\(bytes(0)) \(bytes(3)) \(length)"' map >answer
read -r data hole count <answer

asked='extents: 2 ops, [0-9.]+ s, 2.00 GiB'
line extents |
  grep -E "^$asked, 2.00 GiB returned, .* hole, $((2 * count)) extents$"
close_to "$(bytes extents ' data')" "2 * $data"
close_to "$(bytes extents ' hole')" "2 * $hole"

# Nobody moved a byte.
grep -x 'bytes: read 0, written 0, zeroed 0, trimmed 0' report
line total | grep -E '^total: 2 ops, [0-9.]+ s, 0 B, 0 B/s op, 0 B/s total$'

# A plugin may answer more or less than it was asked, and a range that reads as
# zero need not be a hole.
rm report
nbdkit -U - --filter=stats eval statsfile=report get_size='echo 1G' \
       pread='exit 1' can_extents='exit 0' \
       extents='echo 0 1M; echo 1M 4M hole,zero; echo 5M 2M zero
                echo 7M 8M hole; echo 15M 16M' \
       --run 'nbdsh --base-allocation -u "$uri" -c "
def show(context, offset, entries, error):
    print(offset, entries)
h.block_status(64 * 1024 * 1024, 0, show)
h.block_status(1024 * 1024, 0, show, nbd.CMD_FLAG_REQ_ONE)
"'
cat report
returned='62.0 MiB returned, 34.0 MiB data, 24.0 MiB hole, 4.00 MiB zero'
line extents | grep -E "^extents: 2 ops, .* s, 65.0 MiB, $returned, 10 extents$"
