#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Trimming and zeroing a range moves no data, however large the range is: with
# 64 KiB written, the report shows 64 KiB of data and their rate, and not the 32
# GiB that were trimmed besides.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=figures.sh
source "$top_srcdir/tests/figures.sh"

requires nbdsh --version

cd "$tmp"
cat >client.py <<'EOF'
h.pwrite(bytes(65536), 0)
for gib in range(32):
    h.trim(1 << 30, gib << 30)
for gib in range(32, 48):
    h.zero(1 << 30, gib << 30)
EOF
nbdkit -U - --filter=stats memory 64G statsfile=report \
       --run 'nbdsh -u "$uri" -c - <client.py'
cat report
ranges="zeroed $((16 << 30)), trimmed $((32 << 30))"
grep -x "bytes: read 0, written 65536, $ranges" report
line write | grep -E '^write: 1 ops, .* s, 64\.0 KiB, '
line trim | grep -E '^trim: 32 ops, .* s, 32\.0 GiB, '
line zero | grep -E '^zero: 16 ops, .* s, 16\.0 GiB, '
line total | grep -E '^total: 49 ops, .* s, 64\.0 KiB, '
for name in write total; do
  close_to "$(rate "$name" total)" "65536 / $(seconds elapsed)"
  close_to "$(rate "$name" op)" "65536 / $(seconds "$name")"
done
