#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What people see who look into the filter: --dump-plugin, --version, and the
# debug flag that says where the report goes.

source ./functions.sh
set -e -u -x

cd "$tmp"
version=$(sed -n "s/^VERSION = //p" "$top_builddir/Makefile")

# The plugin's own lines are all there.
nbdkit --dump-plugin null >plain
nbdkit --dump-plugin --filter=stats null >dump
cat dump
grep -vxF -f dump plain && fail "lines of the plugin are missing"

# Since 1.36 a filter has lines, too.
if grep -q '^#define HAVE_STRUCT_NBDKIT_FILTER_DUMP_PLUGIN 1' \
        "$top_builddir/config.h"; then
  grep -xF "stats_version=$version" dump
  grep '^stats_' dump | sort | uniq -d >twice
  [ ! -s twice ] || fail "these lines are there twice: $(cat twice)"
fi

nbdkit --version --filter=stats null >versions
cat versions
grep '^stats ' versions

# -D stats.report=1 tells where the report goes. That is a line of debugging, so
# it needs -v.
nbdkit -U - -v -D stats.report=1 --filter=stats null --run true 2>log
cat log
grep 'debug: stats: report .*standard error' log

nbdkit -U - -v -D stats.report=1 --filter=stats null statsfile=report \
       --run true 2>log
cat log
grep "debug: stats: report .*$tmp/report" log
# The number in it is the report's size.
grep "debug: stats: report .*\<$(stat -c %s report)\>" log

for args in '-v' '-v -D stats.report=0' '-D stats.report=1'; do
  # shellcheck disable=SC2086 # several
  nbdkit -U - $args --filter=stats null statsfile=report --run true 2>log
  cat log
  if grep 'stats: report' log; then fail "it is told with $args"; fi
done
