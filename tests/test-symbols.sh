#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The filter shows nbdkit its entry point and its debug flags, and brings no
# library but the C library: anything more could clash with a plugin. Its code
# stays when nbdkit unloads it, since threads may end later.

source ./functions.sh
set -e -u -x

requires nm --version
requires readelf --version

filter=$top_builddir/filters/stats/.libs/nbdkit-stats-filter.so

nm -D --defined-only "$filter" | awk '{ print $3 }' >"$tmp/symbols"
cat "$tmp/symbols"
grep -qx filter_init "$tmp/symbols"
if grep -vx -e filter_init -e 'stats_debug_.*' "$tmp/symbols"; then
  fail "the filter exports the symbols above"
fi

readelf -d "$filter" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$tmp/libraries"
cat "$tmp/libraries"
grep -q '^libc\.so' "$tmp/libraries"
if grep -v -e '^libc\.so' -e '^ld-linux' "$tmp/libraries"; then
  fail "the filter needs the libraries above"
fi

readelf -d "$filter" | grep -E '\(FLAGS_1\).* NODELETE'

# So does the module that overhead loads, if there is one.
load=$top_builddir/filters/load/.libs/nbdkit-load.so
[ -e "$load" ] || exit 0
nm -D --defined-only "$load" | awk '{ print $3 }' | sort >"$tmp/symbols"
printf '%s\n' filter_init plugin_init | diff - "$tmp/symbols"
readelf -d "$load" | grep -E '\(FLAGS_1\).* NODELETE'
