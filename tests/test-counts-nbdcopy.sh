#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# nbdcopy into nbdkit and out of it, with several connections and many requests
# in flight: the report has the requests and the exact bytes that nbdkit's own
# log saw.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=log-totals.sh
source "$top_srcdir/tests/log-totals.sh"

requires nbdcopy --version
requires qemu-img --version
requires nbdkit --filter=log null --version

cd "$tmp"
# nbdcopy shares the disk out between its connections in pieces of 128M.
truncate -s 512M src dst
for mib in 0 130 270 400; do
  dd if=/dev/urandom of=src bs=1M count=3 seek="$mib" conv=notrunc status=none
done
dd if=/dev/urandom of=src bs=4K count=300 seek=10001 conv=notrunc status=none

export copy='nbdcopy --threads=4 --connections=4 --requests=16'

nbdkit -U - --filter=log --filter=stats file dst logfile=log statsfile=report \
       --run '$copy --flush src "$uri"'
same_totals log report
for op in write zero flush; do grep "^$op: [1-9]" report; done

rm log report
nbdkit -U - --filter=log --filter=stats file dst logfile=log statsfile=report \
       --run '$copy "$uri" copy'
# Unlike cmp it does not read the holes.
qemu-img compare -f raw -F raw src copy
same_totals log report
for op in read extents; do grep "^$op: [1-9]" report; done
