#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# overhead keeps to what nbdkit lets a filter have at a time, as nbdkit does.

source ./functions.sh
set -e -u -x

requires_tool
requires jq --version
cd "$tmp"

# threads PARAMETER...: those that were measured
threads ()
{
  nbdkit-stats overhead noparallel "$@" --measure=time,memory,beside \
               --backend=no-op --threads=1,2,16 --repeat=1 --seconds=0.01 \
               --connections=3 --json >json 2>err
  cat err >&2
  jq -c '[.time[].threads] | unique' json
}

test "$(threads serialize=all-requests)" = '[1]'
grep 'one request at a time: measured with one thread only' err
jq -e '.memory | length == 2' json
jq -e '.beside == null' json

# One at a time for each connection: several connections can.
test "$(threads serialize=requests)" = '[1,2,16]'
test ! -s err
test "$(threads serialize=requests --sharing=2)" = '[1]'
grep 'one request at a time of a connection' err
