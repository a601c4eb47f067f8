#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A conversion with qemu-img, and a comparison after it: the report has the
# requests and the exact bytes that nbdkit's own log saw, and a line for each
# operation that took part.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=log-totals.sh
source "$top_srcdir/tests/log-totals.sh"

requires qemu-img --version
requires nbdkit --filter=log null --version

# Data in two places, the second one not on a boundary of anything big.
cd "$tmp"
truncate -s 64M src dst
dd if=/dev/urandom of=src bs=1M count=3 conv=notrunc status=none
dd if=/dev/urandom of=src bs=4K count=300 seek=10001 conv=notrunc status=none

# Some file systems have no direct I/O.
cache=none
dd if=src of=/dev/null iflag=direct bs=1M count=1 || cache=writeback

export cache
nbdkit -U - --filter=log --filter=stats file dst \
       logfile=log statsfile=report \
       --run 'qemu-img convert -n -f raw -O raw -T $cache src "$uri" &&
              qemu-img compare -f raw -F raw src "$uri"'
cmp src dst
same_totals log report

# Every operation, with the beginning that people's scripts look for. Flush has
# no bytes, so it has no rate.
size='[0-9.]+ ([KMGTPE]i)?B'
for op in read write zero; do
  grep -Ex "$op: [1-9][0-9]* ops, [0-9.]+ s, $size, $size/s op, $size/s total" \
       report
done
grep -E "^extents: [1-9][0-9]* ops, [0-9.]+ s, $size, $size returned" report
grep -Ex 'flush: [1-9][0-9]* ops, [0-9.]+ s' report

# qemu-img writes or zeroes each byte of the disk once.
awk '/^bytes:/ { ok = $5 + $7 == 64 * 1024 * 1024 } END { exit !ok }' report ||
  fail "written and zeroed are not the size of the disk"
