#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# nbdkit-stats tells what it takes, as the manual does, and what it does not: in
# one line, with status 2.

source ./functions.sh
set -e -u -x

requires_tool

refused ()
{
  local status=0
  nbdkit-stats "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
  cat "$tmp/out" "$tmp/err"
  [ "$status" -eq 2 ] || fail "'$*' ended with $status"
  [ ! -s "$tmp/out" ] || fail "'$*' wrote to standard output"
  [ "$(wc -l <"$tmp/err")" -eq 1 ] || fail "'$*' did not tell one line"
  grep '^nbdkit-stats: ' "$tmp/err" || fail "the line has no name"
}

# options FILE PATTERN
options ()
{
  sed -nE "s/$2/\1/p" "$1" | sort -u
}

version=$(sed -n 's/^VERSION = //p' "$top_builddir/Makefile")
test "$(nbdkit-stats --version)" = "nbdkit-stats $version"

nbdkit-stats --help >"$tmp/help"
cat "$tmp/help"
mapfile -t commands < <(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' \
                          "$tmp/help")
for command in "${commands[@]}"; do
  nbdkit-stats "$command" --help >"$tmp/usage"
  grep "^Usage: nbdkit-stats $command" "$tmp/usage"
  awk 'length > 80 { exit 1 }' "$tmp/usage" || fail "$command: a line is too long"

  # The manual has a page of it, with the same options.
  page=$top_srcdir/man/nbdkit-stats-$command.1.pod
  [ -e "$page" ] || page=$top_srcdir/man/nbdkit-stats-$command.pod
  options "$tmp/usage" '^  (--[a-z-]+).*' >"$tmp/told"
  options "$page" '^=item B<(--[a-z-]+).*' >"$tmp/listed"
  diff "$tmp/told" "$tmp/listed" || fail "$command: not the same in the manual"
  grep "^=item L<nbdkit-stats-$command(1)>" "$top_srcdir/man/nbdkit-stats.pod"

  refused "$command" --nonsense
  grep -- "--nonsense; see nbdkit-stats $command --help" "$tmp/err"
done

refused
refused nonsense
refused --nonsense
refused ''

# What cannot be written is no success.
status=0
nbdkit-stats --help >/dev/full 2>"$tmp/err" || status=$?
cat "$tmp/err"
test "$status" -eq 2
grep 'standard output: No space left on device' "$tmp/err"
