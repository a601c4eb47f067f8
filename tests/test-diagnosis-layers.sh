#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What the diagnosis says of a filter between two places of ours: that it takes
# the time, or that it makes more of the data.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=diagnosis.sh
source "$top_srcdir/tests/diagnosis.sh"

requires jq --version
requires nbdkit --filter=blocksize --filter=delay null --version
requires qemu-img --version

cd "$tmp"
bench -d 2 -s 64k -c 120 -- --filter=stats --filter=delay --filter=stats \
      memory 64M delay-read=20ms
found between-layers '% .* layer 1 is spent between it and layer 2'
not_found amplified
# The time is spent below both.
bench -d 2 -s 64k -c 120 -- --filter=stats --filter=blocksize --filter=stats \
      --filter=delay memory 64M delay-read=20ms
not_found between-layers amplified

bench -w -d 1 -s 4k -c 120 -- --filter=stats --filter=blocksize --filter=stats \
      memory 64M minblock=64k
found amplified 'layer 1 moved, layer 2 below it moved 32.00'
