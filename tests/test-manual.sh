#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The manual has each finding, each metric and each name in JSON.
# test-parameters.sh looks at the parameters.

source ./functions.sh
set -e -u -x

requires jq --version
cd "$tmp"

# The findings are the rows of a table in the source.
sed -n 's/^  { "\([a-z-]*\)", .*/\1/p' \
    "$top_srcdir/filters/stats/diagnosis.c" | sort >rules
[ -s rules ] || fail "no rule was found"
grep '^=item B<' "$top_srcdir/man/nbdkit-stats-diagnosis.pod" |
  grep -o 'B<[a-z-]*>' | tr -d 'B<>' | sort >items
diff rules items || fail "not the same: rules (<) and items (>)"

report=$top_srcdir/man/nbdkit-stats-report.pod
nbdkit -U - --filter=stats null statsformat=prometheus statsfile=prom \
       --run true
sed -n 's/^# TYPE nbdkit_stats_\([^ ]*\) .*/\1/p' prom | sort >written
[ -s written ] || fail "no metric was written"
sed -n '/^=head2 Metrics/,/^=head/s/^ \([a-z_]*_[a-z_]*\)[{ ].*/\1/p' \
    "$report" | sort >listed
diff written listed || fail "not the same: metrics (<) and the list (>)"

sed -n '/^=head1 JSON/,/^=head1 PROM/{/^ /p}' "$report" >json
jq -r '[.. | .properties? // empty | keys[]] | unique[]' \
   "$top_srcdir/schema/nbdkit-stats-report.schema.json" >names
[ -s names ] || fail "the schema has no name"
while read -r name; do
  grep -qw -e "$name" json || fail "$report does not have $name"
done <names
