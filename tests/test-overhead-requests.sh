#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# overhead sends what it says, through the filter in a real nbdkit: the filter
# under test, which counts requests, says the same.

source ./functions.sh
set -e -u -x

requires_tool
requires jq --version
cd "$tmp"
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

# 200 connections of which each thread sends 10 requests.
send ()
{
  nbdkit-stats overhead stats statsfile=report statsformat=json \
               --measure=opening --repeat=1 "$@" >out
  cat out
  json_check 'layer(1).connections.opened == 200' "${checks[@]}"
}

checks=('read.total_ios == 1000' 'write.total_ios == 1000'
        'read.io_bytes == 4096000')
send --backend=no-op
checks=('read.total_ios == 2000' 'write.total_ios == 0')
send --backend=no-op --rw=read
checks=('read.total_ios == 0' 'write.total_ios == 6000')
send --backend=no-op --rw=write --sharing=3
checks=('read.io_bytes == 512000' 'write.io_bytes == 512000')
send --backend=file-512


# With a filter that makes the disk smaller they stay in what is left.
nbdkit-stats overhead truncate truncate=64k --measure=time --backend=no-op \
             --threads=1 --repeat=1 --seconds=0.01 >out
cat out
