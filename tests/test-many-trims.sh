#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Making a file system on a very large disk begins with trimming it all. The
# sums of a quarter of a million trims, together far more bytes than 32 bits can
# hold, are exact, and stand in units that one can read.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires fio --enghelp=nbd
requires jq --version

cd "$tmp"
nbdkit -U - --filter=stats null 1P statsfile=report statsformat=json \
       statsinterval=0.5 statsblock=1G \
       --run 'fio --output=fio.out --name=job --ioengine=nbd --uri="$uri" \
                  --rw=trim --bs=1g --size=256t --iodepth=16'
[ "$(wc -l <report)" -gt 1 ] || fail "there was no interval"
json '.layers[0].ops.trim'
json_check 'trim.total_ios == 262144' \
           'trim.io_bytes == 281474976710656' \
           'trim.sizes | map([.from, .requests, .bytes]) ==
            [ [1073741824, 262144, 281474976710656] ]' \
           'trim.alignment.length == [ {align: 1073741824, requests: 262144} ]' \
           'trim.alignment.offset[0] == {align: 1073741824, requests: 131072}' \
           'trim.alignment.offset[-1] == {align: 0, requests: 1}' \
           'sum(trim.alignment.offset[].requests) == 262144' \
           'fit(trim) == [262144, 0, 262144, 262144, 0, 0, 0]' \
           'sum(trim.lat_ns | .bins[], .overflow) == 262144' \
           'trim.sequential_ios > 0.9 * trim.total_ios' \
           'trim.busy_ns <= .elapsed_ns' \
           '.layers[0].ops | map(.total_ios) | add == 262144' \
           'trim.failed.total == 0'

# The same in text, from fewer and larger ones: 4 PiB.
nbdkit -U - --filter=stats null 4P statsfile=report statsdetail=full \
       --run 'fio --output=fio.out --name=job --ioengine=nbd --uri="$uri" \
                  --rw=trim --bs=4294966784 --number_ios=10000 --size=4096t'
cat report
grep -E '^trim: 10000 ops, [0-9.]+ s, 39\.1 TiB, [0-9.]+ [TPE]iB/s op, ' report
grep -x 'bytes: read 0, written 0, zeroed 0, trimmed 42949667840000' report
grep -E '^  2147483648-4294967295 \(2\.00 GiB\) +10000 100\.0%  39\.1 TiB ' report
