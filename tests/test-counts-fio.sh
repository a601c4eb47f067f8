#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# fio with many requests in flight, in blocks of many sizes: the report has the
# requests and the exact bytes that nbdkit's own log saw.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=log-totals.sh
source "$top_srcdir/tests/log-totals.sh"

requires fio --enghelp=nbd
requires nbdkit --filter=log null --version

cd "$tmp"
cat >job <<'EOF'
[global]
ioengine=nbd
uri=${uri}
iodepth=16
size=32m
number_ios=1500
[mixed]
rw=randrw
bsrange=512-64k
fsync=20
[trim]
rw=randtrim
bs=16k
EOF

nbdkit -U - --filter=log --filter=stats memory 64M \
       logfile=log statsfile=report \
       --run 'export uri; fio --output=fio.out job'
cat fio.out
same_totals log report
for op in read write trim flush; do grep "^$op: [1-9]" report; done
