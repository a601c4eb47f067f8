#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The name that statslabel gives a run stands in its reports, in each format, as
# this format writes it. Where there is none, nothing tells it. JSON also has the
# name of the plugin.

source ./functions.sh
set -e -u -x

requires jq --version
requires nbdkit sh --version

cd "$tmp"
# run ARGS...
run ()
{
  rm -f report
  nbdkit -U - --filter=stats --filter=stats null statsfile=report "$@" --run true
  cat -v report
}

run statslabel='copy 1 of "ä"'
grep -Ex 'report: .*, pid [0-9]+, run copy 1 of "ä"' report
[ "$(grep -c '^report: ' report)" -eq 1 ] || fail "there is not one head"

# It need not be UTF-8, and shall do nothing to the terminal.
odd=$'a"\\\xff\xc3\xa4\n\x1b[31m'
run statslabel="$odd"
head -n 1 report | grep -F $', run a"\\?\xc3\xa4??[31m'
[ "$(grep -c '^elapsed time: ' report)" -eq 1 ] || fail "it is no report"
run statslabel="$odd" statsformat=json
jq -e '.label == "a\"\\\ufffdä\n\u001b[31m"' report
run statslabel="$odd" statsformat=prometheus
grep -v '^#' report >series
label=$'run="a\\"\\\\\xef\xbf\xbd\xc3\xa4\\n\x1b[31m"'
grep -cF "{$label" series
if grep -vF "{$label" series; then fail "these have no label"; fi
grep -F "nbdkit_stats_requests_total{$label,layer=\"2\",op=\"read\"} 0" report

# With rows, too.
run statslabel=rows statsinterval=1m
sed -n 1p report | grep ', run rows$'
sed -n 2p report | grep '^ seconds '

# As long as it may be, and longer.
longest=$(printf '%0255d' 0)
run statslabel="$longest" statsformat=json
jq -e '.label | length == 255' report
if nbdkit -U sock --filter=stats null statslabel="0$longest" --run true 2>log
then
  fail "a longer one was taken"
fi
cat log
grep -x 'nbdkit: error: statslabel: must be at most 255 bytes long' log

# None.
run
[ "$(head -c 14 report)" = 'elapsed time: ' ] || fail "the report has a head"
run statsformat=prometheus
if grep 'run=' report; then fail "nobody gave a label"; fi
run statsformat=json
jq -e '.label == null and .plugin == "null"' report

# The plugin by its file, and not by any other argument.
plugins=$(nbdkit --dump-config | sed -n 's/^plugindir=//p')
cp "$plugins/nbdkit-null-plugin.so" nbdkit-my-own-plugin.so
cp "$plugins/nbdkit-null-plugin.so" other.so
# shellcheck disable=SC2016 # for the script
printf '#!/bin/sh\ncase $1 in get_size) echo 0 ;; *) exit 2 ;; esac\n' >script
chmod +x script
# plugin NAME PLUGIN [ARGS...]
plugin ()
{
  local name=$1
  shift
  nbdkit --filter=stats -U - "$@" statsformat=json statsfile=report --run true
  jq -e --argjson name "$name" '.plugin == $name' report
}
plugin '"my-own"' ./nbdkit-my-own-plugin.so
plugin null ./other.so
plugin '"sh"' sh ./script
plugin '"memory"' memory size=1M
