#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The manual of overhead has each option, measurement and backend that --help
# has, and each name in JSON.

source ./functions.sh
set -e -u -x

requires_tool
requires jq --version
cd "$tmp"
manual=$top_srcdir/man/nbdkit-stats-overhead.pod

nbdkit-stats overhead --help >help
cat help
sed -n 's/^  --\([a-z]*\).*/\1/p' help | sort >options
[ -s options ] || fail "--help has no option"
sed -n 's/^=item B<--\([a-z]*\)=*>.*/\1/p' "$manual" | sort >items
diff options items || fail "not the same: options (<) and items (>)"

# values OPTION: those that --help lists
values ()
{
  sed -n "s/^  --$1=\([^ ]*\).*/\1/p" help | tr '|' '\n' | grep -vx all | sort
}
values measure >measurements
sed -n '/^=head1 MEASUREMENTS/,/^=head1/s/^=head2 //p' "$manual" | sort |
  diff measurements - || fail "not the same: measurements (<) and heads (>)"

nbdkit-stats overhead nofilter --measure=time --backend=all --threads=1 \
             --repeat=1 --seconds=0.01 --json |
  jq -r '[.time[].backend] | unique[]' | sort >backends
[ -s backends ] || fail "there is no backend"
sed -n '/^=head1 BACKENDS/,/^=head1/{/^=item/p}' "$manual" |
  grep -o 'C<[^>]*>' | tr -d 'C<>' | sort |
  diff backends - || fail "not the same: backends (<) and items (>)"
while read -r backend; do
  grep -qw -e "$backend" help || fail "--help does not have $backend"
done <backends

measure=$(paste -s -d , measurements)
valgrind --version || measure=${measure/instructions,/}
nbdkit-stats overhead nofilter --against none:nofilter --measure="$measure" \
             --backend=no-op --threads=1 --repeat=1 --seconds=0.01 --idle=1 \
             --gone=1 --connections=3 --json >json
jq -r '[.. | objects | keys[]] | unique[]' json >names
[ -s names ] || fail "JSON has no name"
while read -r name; do
  grep -qw -e "$name" "$manual" || fail "the manual does not have $name"
done <names
