#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# overhead counts the instructions of a request, which do not depend on what
# else the machine does: twice the same, and more through a filter.

source ./functions.sh
set -e -u -x

requires_tool
requires jq --version
requires valgrind --version
cd "$tmp"

nbdkit-stats overhead one:nofilter --against two:nofilter \
             --against stats statsfile=/dev/null --measure=instructions \
             --output=json
jq -e '[.instructions[].instructions] as [$bypassed, $one, $two, $stats]
       | ($one - $two | fabs) < 1 and $one > $bypassed + 20
         and $stats > $one + 100' json
