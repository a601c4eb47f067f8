#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What overhead tells of the filter alone has nothing of what is below it in it,
# and all that the filter itself does.

source ./functions.sh
set -e -u -x

requires_tool
requires jq --version
cd "$tmp"

# check EXPRESSION: it is true of JSON
check ()
{
  jq -e "$1" json || fail "this is wrong: $1"
}

# Below the filter each request sleeps for a millisecond and more. Half of all
# requests spend less than that in a filter that does nothing.
nbdkit-stats overhead nofilter --measure=time,cold --backend=sleep --threads=1 \
             --repeat=1 --cold=0 --output=json
check '.time | all (.ns.median >= 1e6)'
check '.cold | all (.median_ns.median < 1e6)'

# A filter that sleeps itself does so in the filter.
nbdkit-stats overhead delay rdelay=5ms wdelay=5ms --measure=inside,cold \
             --backend=no-op --threads=1 --repeat=1 --cold=0 --output=json
check '.inside[1].longest_us >= 5000'
check '.cold[1].in_filter_ns.median >= 5e6 and .cold[1].median_ns.median >= 5e6'
# It is not processor time.
check '.inside[1].added_ns.median < 5e6'

# What is walked takes its time, which is not the filter's.
nbdkit-stats overhead nofilter --measure=cold --backend=no-op --repeat=1 \
             --cold=0,64M --output=json
check '.cold | map (.walked_bytes) == [0, 0, 67108864, 67108864]'
check '.cold[0].requests > 100 * .cold[2].requests'
check '.cold[2].median_ns.median * .cold[2].requests < 5e7'
