#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What the shipped benchmark of write requests shows: small writes into an empty
# qcow2 image with large clusters bring 26 bytes to the storage for each that
# was asked, or 1.1 with fast zero, in every run the same; into one that is
# allocated, no more than was asked.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=bench.sh
source "$top_srcdir/tests/bench.sh"

requires_tool
requires jq --version
requires qemu-img --version
requires nbdkit --filter=nozero null --version

cd "$tmp"
# Two of its cases, to scale: as many requests, and all sizes an eighth.
awk '/^\[/ { kept = $0 ~ /^\[(global|environment .*|.*small.*)\]/ }
     kept' "$top_srcdir/jobs/write-requests.job" |
  sed -e 's/^IMAGE_SIZE = 1G$/IMAGE_SIZE = 128M/' \
      -e 's/^IMAGE_SIZE = 256M$/IMAGE_SIZE = 32M/' \
      -e 's/^CLUSTER = 1M$/CLUSTER = 128K/' -e 's/^size = 4K$/size = 512/' \
      -e 's/^step = 102K$/step = 13056/' >small.job
cat small.job
bench small.job --runs=2 --output=results
test "$status" -eq 0

grep -x -- '- In each cell every run sent the storage the same number of requests and bytes.' out
tr '\n' ' ' <out | tr -s ' ' >words
grep -E 'small-writes: bytes written to the storage for each byte that the client asked to write: 26[.][0-9] with no-fast-zero, 1[.]1 with fast-zero[.]' words
grep -E 'WARNING: small-writes: fast-zero did not do the same work as no-fast-zero: write: [0-9]+ requests, [0-9]+ bytes against [0-9]+ requests, [0-9]+ bytes; zero: [0-9]+ requests, [0-9]+ bytes against 0 requests[.]' words
if grep 'WARNING: allocated-small: .* did not' out; then
  fail "allocated clusters need no zeros"
fi
results_check \
  'cell("small-writes"; "fast-zero").summary.write_amplification
     | . > 1.05 and . < 1.15' \
  'cell("small-writes"; "no-fast-zero").summary.write_amplification
     | . > 25.5 and . < 27' \
  'cell("allocated-small"; "fast-zero").summary.write_amplification == 1' \
  'cell("allocated-small"; "no-fast-zero").summary.write_amplification == 1' \
  'cell("small-writes"; "fast-zero").export.can_fast_zero == true' \
  'cell("small-writes"; "no-fast-zero").export.can_fast_zero == false' \
  '[.jobs[].cases[].cells[].summary.requests_varied] | any | not'
