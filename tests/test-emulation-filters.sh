#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Neither the client nor the plugin can tell that the filter is there, above and
# below any other. Nearest the client it counts what the client asks for. Below the other it does so, too, where that one hands everything on; and
# otherwise what it sends on, which is what the plugin gets.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"
# shellcheck source-path=SCRIPTDIR source=log-totals.sh
source "$top_srcdir/tests/log-totals.sh"
# shellcheck source-path=SCRIPTDIR source=emulation.sh
source "$top_srcdir/tests/emulation.sh"

# All that nbdkit can do in the plugin's place.
echo "zero=3 cache=emulate fua=emulate extents=3 trim=3" >exports

# compare FILTER [PARAMETER...]: nothing changes with us on both sides of it.
number=0
compare ()
{
  local filter=$1 n=$((++number))
  shift
  run "without.$n" "$filter" -- "$@" &
  run "with.$n" stats "$filter" stats -- "$@" statsfile=report statsformat=json
  wait "$!"
  same "without.$n" "with.$n"
  saw 1 asked "above $filter"
  log_totals "with.$n.below" | grep -v returned >sent
}

# Here nbdkit ends after the first client.
info=: compare exitlast
saw 2 asked "below exitlast"
for filter in exitwhen exportname ip nofilter noparallel; do
  compare "$filter"
  saw 2 asked "below $filter"
done
compare noextents
grep -v extents asked >asked-of-us
saw 2 asked-of-us "below noextents"

# acting FILTER [PARAMETER...]
acting ()
{
  compare "$@"
  saw 2 sent "below $1"
}
acting blocksize maxdata=4096
acting blocksize-policy blocksize-maximum=65536 blocksize-error-policy=error
acting cache
acting cow
acting delay delay-write=1ms
acting error error-pwrite=EIO error-pwrite-rate=100%
acting fua fuamode=force
acting nocache cachemode=emulate
acting nozero zeromode=emulate
acting nozero zeromode=plugin fastzeromode=ignore
acting protect protect=4096-8191
acting retry retries=1 retry-delay=1 retry-exponential=no
acting truncate round-up=2M
