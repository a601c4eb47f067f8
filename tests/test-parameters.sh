#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The parameters that --help shows are those that the filter takes and those
# that the manual page has, and no others.

source ./functions.sh
set -e -u -x

manual=$top_srcdir/man/nbdkit-stats-filter.pod
cd "$tmp"

# What stands at the beginning of a line of --help...
nbdkit --filter=stats null --help >help
cat help
sed -n 's/^\(stats[a-z]*\)=.*/\1/p' help | sort >in-help
cat in-help
[ -s in-help ] || fail "--help shows no parameter"
uniq -d in-help >twice
[ ! -s twice ] || fail "--help shows more than once: $(cat twice)"

# ...and what is an item of the manual's lists, in any markup.
grep '^=item' "$manual" | grep -o 'stats[a-z]*>*=' | sed 's/>*=$//' |
  sort -u >in-manual
diff in-help in-manual ||
  fail "--help (<) and the items of $manual (>) are not the same"

# The formats that --help shows are those that the filter takes.
sed -n 's/^statsformat=//p' help | tr '|' '\n' >formats-in-help
if nbdkit -U sock --filter=stats null statsformat=none --run true 2>log; then
  fail "statsformat=none was taken"
fi
sed -n 's/^nbdkit: error: statsformat=none: must be //p' log |
  sed 's/, /\n/g; s/ or /\n/' >formats
diff formats-in-help formats
[ -s formats ]

# A parameter that the filter knows may not be empty; others are the plugin's.
for key in $(cat in-help) statsfile statsappend statsformat statsinterval \
           statsthreshold statsblock statszero statsdetail statslabel; do
  if nbdkit -U sock --filter=stats null "$key=" --run true 2>log; then
    fail "$key= was taken"
  fi
  cat log
  if grep -qx "$key" in-help; then
    grep -E "^nbdkit: error: $key\>" log
  else
    grep "unknown parameter '$key'" log ||
      fail "$key is a parameter, and --help does not show it"
  fi
done

# The help of the plugin and of other filters is still there.
nbdkit --filter=stats --filter=delay null --help >help
cat help
grep '^rdelay=' help
grep '^size=' help
