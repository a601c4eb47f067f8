#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A plugin sets a locale with a decimal comma: numbers in reports and parameters
# have points all the same, and the plugin keeps its commas.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x

requires jq --version
requires localedef --version
requires test -e /usr/share/i18n/locales/de_DE
requires nbdsh --version

# Under a name that no machine has.
localedef -c -i de_DE -f UTF-8 "$tmp/xx_comma"
export LOCPATH=$tmp
plugin=$top_builddir/tests/.libs/nbdkit-comma-plugin.so

# run ARGS...: the plugin looks for its commas in each request and at the end,
# while interval reports are written.
run ()
{
  local status=0
  COMMA_LOCALE=xx_comma nbdkit -v -U - --filter=stats "$plugin" "$@" \
    statsinterval=0.02 statsthreshold=99.5 --run 'nbdsh -u "$uri" -c "
for i in range(300):
    h.pread(512 * (i % 2 + 1), 512)
"' 2>log || status=$?
  grep -v "debug: " log || :
  [ "$status" -eq 0 ] || fail "the exit status is $status"
  grep 'there are commas at the end' log
  if grep 'nbdkit: .*error: ' log; then fail "errors, see above"; fi
}

cd "$tmp"
run statsfile=report statsdetail=full
cat report
grep -E '^elapsed time: [0-9]+\.[0-9]+ s$' report
grep -E '^read: 300 ops, [0-9]+\.[0-9]+ s, 225 KiB, [0-9.]+ .iB/s op' report
if grep -E '[0-9],[0-9]' report; then fail "there are commas"; fi

run statsfile=report.json statsformat=json
jq -c '[.type, .elapsed_ns, .layers[0].ops.read.lat_ns.mean]' report.json
jq -e -s '.[-1] | .layers[0].ops.read.total_ios == 300 and
          ([.. | numbers | select(. != floor)] | length > 0)' report.json

run statsfile=report.prom statsformat=prometheus
grep -v '^#' report.prom |
  grep -v -E '^[a-z_]+(\{.*\})? [0-9]+(\.[0-9]+)?(e[+-][0-9]+)?$' >others || :
[ ! -s others ] || fail "there are other numbers: $(cat others)"
grep -E '^nbdkit_stats_elapsed_seconds_total [0-9]+\.[0-9]+$' report.prom
if grep -E '="[^"]*,' report.prom; then fail "there are commas in labels"; fi

# Nor do parameters take commas.
if COMMA_LOCALE=xx_comma nbdkit -U sock --filter=stats "$plugin" \
                         statsinterval=0,5 --run true 2>log; then
  fail "a comma was taken"
fi
grep 'nbdkit: error: statsinterval=0,5: ' log
