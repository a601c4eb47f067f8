#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# With statsinterval, a server that root started and that then becomes another
# user: all reports are written, where that user may make files, where it may
# not, and in a directory like /tmp, where it may but not replace those of
# others.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=complete.sh
source "$top_srcdir/tests/complete.sh"

if [ "$(id -u)" -ne 0 ]; then
  echo "skipped: only root can become another user"
  exit 77
fi
requires jq --version
# It makes its socket and its pid file after it became the other user.
chmod 777 "$tmp"
cd "$tmp"
requires nbdkit -U sock -u nobody null --run true
mkdir own foreign sticky
chmod 755 own foreign
chown nobody own
chmod 1777 sticky

# newer FILE: than it was when it was copied
newer ()
{
  ! cmp -s "$1" before
}

for format in text json prometheus; do
  for dir in own foreign sticky; do
    for owner in none root nobody; do
      report=$dir/report
      rm -f $report
      if [ $owner != none ]; then
        yes 'an old report' | head -n 9999 >$report
        chown $owner $report
        chmod 600 $report
      fi
      start_nbdkit -u nobody --filter=stats null statsfile=$report \
                   statsformat=$format statsinterval=0.01 2>log
      for ((i = 0; i < 3; i++)); do
        cat $report >before
        wait_until newer $report
      done
      stop_nbdkit || fail "the exit status is $?"
      if errors log; then fail "errors, see above"; fi
      complete $format $report
      [ $owner = none ] || [ "$(stat -c %a $report)" = 600 ] ||
        fail "it has other rights"
      [ "$(echo $dir/*)" = $report ] || fail "there are: $(echo $dir/*)"
    done
  done
done
