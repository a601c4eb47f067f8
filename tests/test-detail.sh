#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A text report is brief, so that that of an ordinary copy fits on a screen of 40
# lines, unless statsdetail=full asks for all tables. JSON tells all in either
# case.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x

requires qemu-img --version
requires jq --version

cd "$tmp"
head -c 8M /dev/urandom >src.img
truncate -s 64M src.img

run ()
{
  nbdkit -U - --filter=stats memory 64M statsfile=report "$@" \
         --run 'qemu-img convert -n -f raw -O raw src.img "$uri"'
  cat report
}

# What stands behind an empty line, by its first word.
headings ()
{
  sed -n '/^$/{n;s/ .*//p}' report
}

for detail in '' statsdetail=brief; do
  # shellcheck disable=SC2086 # none or one
  run $detail
  [ "$(wc -l <report)" -le 40 ] || fail "it does not fit on a screen"
  headings >brief
  head -n 1 brief | grep -x latency
  if grep -vx -e latency -e where -e diagnosis brief; then
    fail "it is not brief"
  fi
done
run statsdetail=full
headings >full
for heading in latency sizes aligned requests slowest 'openings,'; do
  grep -x "$heading" full
done

# JSON has all, whatever was asked for.
for detail in brief full; do
  run statsformat=json statsdetail=$detail
  jq -e '.layers[0].ops.write | (.sizes, .slowest, .alignment.offset) != []' \
     report
  jq '[.layers[0], .layers[0].ops.write] | map(keys)' report >$detail
done
diff brief full
