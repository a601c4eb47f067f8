#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The disk becomes full in the middle of a report, and later there is room
# again. A file that is replaced keeps the last report that was whole, one that
# grows gets no part of a report; the fault is told once, and nothing at the
# end.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=complete.sh
source "$top_srcdir/tests/complete.sh"
# shellcheck source-path=SCRIPTDIR source=own-mounts.sh
source "$top_srcdir/tests/own-mounts.sh"

requires jq --version

# A small disk of our own, which nobody else sees.
if [ "${1-}" != inside ]; then
  requires has_own_mounts
  "${own_mounts[@]}" bash "$0" inside
  exit
fi
mkdir "$tmp/disk"
mount -t tmpfs -o size=16m none "$tmp/disk"
cleanup_fn umount -l "$tmp/disk"
cd "$tmp"

# fill: but for one page, which no report fits into
fill ()
{
  local page
  page=$(getconf PAGESIZE)
  dd if=/dev/zero of=disk/filler bs="$page" 2>/dev/null || :
  truncate -s "-$page" disk/filler
}

# Reports of many layers are longer than that and what there is of the last page
# of the file, in each format and also where nothing happened.
layers=()
for ((i = 0; i < 40; i++)); do layers+=(--filter=stats); done

ticks ()
{
  grep -c 'stats: report of' log || :
}
more_ticks ()
{
  [ "$(ticks)" -gt "$1" ]
}

changed ()
{
  ! cmp -s disk/report full
}

copied ()
{
  cat disk/report >full
  whole_"$1" full
}

# only FILES: they are on the disk
only ()
{
  [ "$(cd disk && echo *)" = "$1" ] || fail "there are: $(ls disk)"
}

for format in json prometheus; do
  for append in false true; do
    if [ $format = prometheus ] && [ $append = true ]; then continue; fi
    start_nbdkit -v -D stats.report=1 "${layers[@]}" null \
                 statsfile="$tmp/disk/report" statsappend=$append \
                 statsformat=$format statsinterval=0.02 2>log
    wait_until test -s disk/report
    fill
    wait_until errors log
    # It may take a few more until it fails each time.
    wait_until more_ticks "$(($(ticks) + 3))"
    # What did not fit is there until it is cut off again.
    wait_until copied $format
    wait_until more_ticks "$(($(ticks) + 3))"
    cmp -n "$(wc -c <full)" disk/report full ||
      fail "the file changed while the disk was full"
    wait_until cmp disk/report full
    only 'filler report'
    rm disk/filler
    wait_until changed
    stop_nbdkit || fail "the exit status is $?"
    errors log >told
    cat told
    complete $format disk/report
    [ "$(wc -l <told)" -eq 1 ] || fail "not one line of error"
    grep "statsfile=$tmp/disk/report: .*No space left on device" told
    only report
    rm disk/report
  done
done

# Text, which is longer than a page only at the end.
echo 'an old report' >disk/report
start_nbdkit "${layers[@]}" null statsfile="$tmp/disk/report" 2>log
dd if=/dev/zero of=disk/filler bs=64k 2>/dev/null || :
stop_nbdkit || fail "the exit status is $?"
cat log
[ "$(cat disk/report)" = 'an old report' ] || fail "the old report is gone"
[ "$(errors log | wc -l)" -eq 1 ] || fail "not one line of error"
