#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Above and below the cache filter one sees how well it works: what it has read
# before does not reach the layer below a second time.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdkit --filter=cache null --version
requires nbdsh --version

cd "$tmp"
# reads TIMES: how often each part is read
reads ()
{
  export times=$1
  # shellcheck disable=SC2016
  nbdkit -U - --filter=stats --filter=cache --filter=stats memory 4M \
         cache-on-read=true statsfile=report statsformat=json \
         --run 'nbdsh -u "$uri" -c "
import os
for i in range(int(os.environ[\"times\"])):
    for part in range(4):
        h.pread(1 << 20, part << 20)
"'
  cat report
}

reads 1
json_check 'layer(1).ops.read | [.total_ios, .io_bytes] == [4, 4194304]' \
           'layer(2).ops.read.io_bytes == 4194304'
below=$(json 'layer(2).ops.read.total_ios')
reads 3
json_check 'layer(1).ops.read | [.total_ios, .io_bytes] == [12, 12582912]' \
           "layer(2).ops.read | [.total_ios, .io_bytes] == [$below, 4194304]"
