#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Counts the instructions of a request, past the filter and through it. A count
# does not depend on what else the machine does. The kernel is not in it, nor is
# the clock: valgrind makes a system call of it.

# shellcheck source=SCRIPTDIR/functions.sh
source "$(dirname "$0")/functions.sh"
set -e -u -o pipefail

few=20000
many=40000

# instructions REQUESTS FILTER...: of a whole run of overhead
instructions ()
{
  local requests=$1
  shift
  valgrind --tool=callgrind --callgrind-out-file=/dev/null \
           overhead --profile --backend=no-op --threads=1 \
                    --requests="$requests" "$@" 2>&1 >/dev/null |
    tee "$tmp/log" | sed -n 's/.* Collected : //p' | grep . ||
    { cat "$tmp/log" >&2; return 1; }
}

# a_request FILTER...: the difference of two runs, so that the start cancels out
a_request ()
{
  local a b
  a=$(instructions "$few" "$@")
  b=$(instructions "$many" "$@")
  awk -v a="$a" -v b="$b" -v n=$((many - few)) \
      'BEGIN { printf "%.1f\n", (b - a) / n }'
}

row through "instructions a request"
row -------- ---------------------:
row bypassed "$(a_request none)"
row stock "$(a_request "stock:$stock" statsfile=/dev/null)"
row ours "$(a_request "ours:$ours" statsfile=/dev/null)"
