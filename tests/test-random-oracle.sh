#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Random requests, many at once, some of which fail: the report says what
# follows from the logs of each request above and below the filter, and where all
# of the elapsed time went. More of it:
#
#   SEEDS="$(seq 100)" REQUESTS=2000 ./test-random-oracle.sh

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=upper-log.sh
source "$top_srcdir/tests/upper-log.sh"

requires nbdsh --version
requires nbdkit --filter=delay --filter=error --filter=log null --version
requires nbdkit eval --version

cd "$tmp"
# The openings filter twice, as upper-log.sh has the log filter. Above, the stats
# filter must know by its name that it changes nothing.
openings=$top_builddir/tests/.libs/nbdkit-openings-filter.so
upper_openings=$tmp/upper/nbdkit-nofilter-filter.so
sed 's/\bopenings\x00/upperops\x00/g' "$openings" >"$upper_openings"

# The log's times are local ones.
export TZ=UTC

# judge CONNECTIONS DEPTH REQUESTS ROUNDS PAUSES OPTION ARGS...
judge ()
{
  local connections=$1 depth=$2 requests=$3 rounds=$4 pauses=$5 option=$6
  shift 6
  rm -f report above* below*
  nbdkit -U - --filter="$upper_openings" --filter="$upper_log" --filter=stats \
      --filter=log --filter="$openings" "$@" \
      upperlg=above logfile=below upperops=above.openings \
      openings=below.openings statsfile=report statsformat=json \
      statsblock=4096 statszero=true --run "
        nbdsh -c 'unixsocket = \"'\"\$unixsocket\"'\"' \
              -c 'seed, requests = $seed, $requests' \
              -c 'connections, depth = $connections, $depth' \
              -c 'rounds, pauses = $rounds, $pauses' \
              -c - <'$top_srcdir/tests/random-client.py'" 2>errors ||
    { cat errors; fail "the client failed"; }
  "$top_srcdir/tests/oracle.py" report above below ${option:+"$option"} ||
    fail "seed $seed: the report and the logs differ, see above"
}

# As tests/oracle.py has it: the errno follows from the offset.
# shellcheck disable=SC2016 # the shell of eval expands it
fail='
  set -- $(($4 / 4096 % 16 + 1)) EPERM EIO ENOMEM EINVAL ENOSPC EOVERFLOW \
         ESHUTDOWN EROFS EFBIG
  if [ "$1" -le 9 ]; then shift "$1"; echo "$1 on purpose" >&2; exit 1; fi'

for seed in ${SEEDS:-1}; do
  # In parallel, and each operation with an error of its own.
  judge 4 16 "${REQUESTS:-300}" 1 0 "" --filter=delay --filter=error memory 8M \
        delay-read=1ms delay-write=2ms delay-zero=1ms \
        error-rate=10% error-pread=EPERM error-pwrite=ENOSPC error-trim=EIO \
        error-zero=ENOMEM error-extents=ESHUTDOWN error-cache=EINVAL

  # The same, where nbdkit does what it can in the place of the plugin.
  judge 4 16 "${REQUESTS:-300}" 1 0.01 emulated --filter=nozero --filter=nocache \
        --filter=noextents --filter=fua --filter=error memory 8M \
        zeromode=emulate cachemode=emulate fuamode=emulate \
        error-rate=10% error-pread=EPERM error-pwrite=ENOSPC error-trim=EIO

  # Clients that come and go, and pause: all states of the account.
  judge 2 3 "$((${REQUESTS:-300} / 6))" 3 0.3 "" --filter=delay \
        --filter=error memory 8M delay-open=5ms delay-close=2ms \
        delay-read=1ms delay-write=2ms delay-zero=1ms delay-trim=1ms \
        delay-extents=1ms delay-cache=1ms error-rate=10%

  # All errnos that a plugin has.
  judge 3 8 "$((${REQUESTS:-300} / 6))" 1 0.1 errnos eval \
        thread_model='echo parallel' get_size='echo 1M' \
        can_write='exit 0' can_trim='exit 0' can_flush='exit 0' \
        can_zero='exit 0' can_fast_zero='exit 0' can_extents='exit 0' \
        can_multi_conn='exit 0' can_cache='echo native' can_fua='echo native' \
        pread="count=\$3; ($fail) || exit 1; head -c \"\$count\" /dev/zero" \
        pwrite="cat >/dev/null; $fail" trim="$fail" zero="$fail" \
        cache="$fail" flush='exit 0' extents="$fail; echo 0 1M"
done
