#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What is not different is seldom called so, and what is, always.

# shellcheck disable=SC2016 # the shell of the job expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=bench.sh
source "$top_srcdir/tests/bench.sh"

requires_tool
requires qemu-img --version
requires nbdkit --filter=delay null --version

cd "$tmp"
cat >quick.job <<'END'
[global]
nbdkit = memory 1M
client = qemu-img bench -w -f raw -d 1 -c ${count} -s 4K "$uri"
count = 50
[writes]
END

# By chance, at most one of 32 is; so of 20 more than 5 are once in 40000 times.
found=0
for _ in {1..20}; do
  bench quick.job --env=a:runs=5 --env=b:runs=5
  test "$status" -eq 0
  if ! grep 'No significant difference between b and a: writes' out; then
    grep -E 'writes: b takes [0-9.]+ times as long as a' out
    found=$((found + 1))
  fi
  grep 'In each cell every run sent the storage the same number' out
done
[ "$found" -le 5 ] || fail "$found differences in 20 where there is none"

# 200 ms or more, of a few.
for _ in {1..3}; do
  bench quick.job --env=a:count=200 \
        --env='b:count=200,nbdkit=--filter=delay ${nbdkit} wdelay=1ms'
  test "$status" -eq 0
  grep -E 'writes: b takes [0-9.]+ times as long as a' out
  if grep 'did not do the same work' out; then fail "it is the same work"; fi
done
