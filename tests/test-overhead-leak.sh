#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# overhead finds what a filter leaks: memory with each request or each
# connection, and descriptors; and nothing where a filter takes memory once.

source ./functions.sh
set -e -u -x

requires_tool
requires jq --version
cd "$tmp"

# malloc takes from 8 to 24 bytes more than it was asked for.
leak=$top_builddir/tests/.libs/nbdkit-leak-filter.so
nbdkit-stats overhead "none:$leak" \
    --against "once:$leak" leak-once=1000000 \
    --against "request:$leak" leak-request=100 \
    --against "connection:$leak" leak-connection=1000 \
    --against "both:$leak" leak-request=100 leak-connection=1000 \
    --against "file:$leak" leak-file=1 \
    --rw=read --measure=memory --backend=no-op --connections=20 \
    --output=json >text
cat text json

# leaks NAME REQUEST CONNECTION FILES: about so much, of memory
leaks ()
{
  # shellcheck disable=SC2016 # for jq
  jq -e --arg name "$1" --argjson request "$2" --argjson connection "$3" \
     --argjson files "$4" '
    def about (n): if n == 0 then . == 0 else . >= n and . <= n + 24 end;
    .memory[] | select (.through == $name)
    | (.leak_per_request | about ($request))
      and (.leak_per_connection | about ($connection))
      and .files_left == $files' json ||
    fail "what $1 leaks was not found"
}
leaks none 0 0 0
leaks once 0 0 0
leaks request 100 0 0
leaks connection 0 1000 0
leaks both 100 1000 0
leaks file 0 0 22

grep '^request: memory grows by 1[0-2][0-9]\.[0-9] bytes with each request' text
grep '^connection: memory grows by 10[0-2][0-9] bytes with each conn' text
grep '^file: 22 files were left open' text
if grep -E '^(none|once): ' text; then fail "a leak where there is none"; fi

# What a filter takes counts as its own, also where it takes it once.
jq -e '.memory[] | select (.through == "once")
       | .own_heap_per_thread * 16 >= 1000000' json
