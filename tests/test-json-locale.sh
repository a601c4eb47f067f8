#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A plugin may set a locale that writes 0,5 where JSON has 0.5. Reports have the
# same letters in every locale.

source ./functions.sh
set -e -u -x

requires localedef --version
requires test -x ./unit-json

# A locale of our own, so that none need be installed, and with a mark that is
# longer than a comma.
mkdir "$tmp/locales"
localedef --no-warnings=ascii -i de_DE -f UTF-8 "$tmp/locales/comma.UTF-8"
localedef -i ps_AF -f UTF-8 "$tmp/locales/arabic.UTF-8"

# The sentences of the diagnosis are as the caller's locale has them; the filter
# sees to the C locale there.
reports ()
{
  env UNIT_JSON_REPORTS="$tmp/reports" "$@" ./unit-json >&2
  sed 's/"text":"[^"]*"//g' "$tmp/reports"
  rm "$tmp/reports"
}

reports >"$tmp/plain"
for locale in comma arabic; do
  in_locale=(LOCPATH="$tmp/locales" LC_ALL="$locale.UTF-8")
  env "${in_locale[@]}" printf '%.1f\n' 0.5 | grep -vx '0\.5' ||
    fail "there is no locale $locale"
  reports "${in_locale[@]}" >"$tmp/$locale"
  cmp "$tmp/plain" "$tmp/$locale"
done
