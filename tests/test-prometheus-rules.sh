#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The recording rules and example alerts are valid, do what their own tests say,
# and use no figure that the filter does not write.

source ./functions.sh
set -e -u -x

requires promtool --version

cd "$top_srcdir/monitoring"
promtool check rules nbdkit-stats.rules.yml nbdkit-stats.alerts.yml
promtool test rules nbdkit-stats.rules.test.yml nbdkit-stats.alerts.test.yml

report=$tmp/report.prom
nbdkit -U - --filter=stats null statsformat=prometheus statsfile="$report" \
       --run true
sed -n 's/[{ ].*//; /^nbdkit_stats_/p' "$report" | sort -u >"$tmp/written"
cat "$tmp/written"

# A name with a colon before or behind it is one that a rule records.
cat nbdkit-stats.*.yml | grep -oE '[a-z0-9_:]*nbdkit_stats_[a-z0-9_:]+' |
  sort -u >"$tmp/used"
grep -v : "$tmp/used" >"$tmp/used-metrics"
[ -s "$tmp/used-metrics" ] || fail "the rules use no metric"
comm -23 "$tmp/used-metrics" "$tmp/written" >"$tmp/unknown"
[ ! -s "$tmp/unknown" ] || fail "nobody writes: $(cat "$tmp/unknown")"

# Likewise, what the alerts use is recorded by the rules.
sed -n 's/.*record: //p' nbdkit-stats.rules.yml | sort -u >"$tmp/recorded"
grep : "$tmp/used" | comm -23 - "$tmp/recorded" >"$tmp/unknown"
[ ! -s "$tmp/unknown" ] || fail "no rule records: $(cat "$tmp/unknown")"
