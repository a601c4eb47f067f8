#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A symbolic link stays one while its file is replaced and added to, and the
# file stays where it is.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=complete.sh
source "$top_srcdir/tests/complete.sh"

requires jq --version

cd "$tmp"
mkdir elsewhere
for format in text json prometheus; do
  for target in old new; do
    echo 'an old report' >elsewhere/old
    rm -f elsewhere/new link
    ln -s elsewhere/"$target" link
    start_nbdkit --filter=stats null statsfile=link statsformat=$format \
                 statsinterval=0.01
    newer ()
    {
      ! cmp -s elsewhere/"$target" before
    }
    for ((i = 0; i < 3; i++)); do
      cat elsewhere/"$target" >before
      wait_until newer
    done
    stop_nbdkit
    [ "$(readlink link)" = elsewhere/$target ] || fail "the link is gone"
    complete $format elsewhere/$target
    rm -f elsewhere/old before
    [ "$(echo elsewhere/*)" = elsewhere/$target ] ||
      [ "$(echo elsewhere/*)" = 'elsewhere/*' ] ||
      fail "there are: $(echo elsewhere/*)"
  done
done
