#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A file that may not be written, or a directory where none may be made, ends
# nbdkit at its start with one line of error that names the file, in each
# format.

source ./functions.sh
set -e -u -x

chmod 755 "$tmp"
cd "$tmp"
mkdir dir
echo 'an old report' >dir/old
chmod 444 dir/old
chmod 555 dir

# Root may write anywhere.
other_user=()
if [ "$(id -u)" -eq 0 ]; then
  other_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  requires "${other_user[@]}" "$top_builddir/nbdkit" --filter=stats null --help
fi

for params in statsformat=text statsformat=json statsformat=prometheus \
              statsappend=true 'statsappend=true statsformat=json'; do
  for file in old new; do
    status=0
    # shellcheck disable=SC2086 # some parameters
    "${other_user[@]}" "$top_builddir/nbdkit" -U sock --filter=stats null \
      statsfile=dir/$file $params statsinterval=0.01 --run 'echo a client' \
      >log 2>&1 || status=$?
    cat log
    [ "$status" -eq 1 ] || fail "the exit status is $status"
    [ "$(wc -l <log)" -eq 1 ] || fail "it is not one line"
    grep -x "nbdkit: error: statsfile=$tmp/dir/$file: Permission denied" log
    [ "$(cat dir/old)" = 'an old report' ] || fail "the old report is gone"
    [ "$(ls dir)" = old ] || fail "there are: $(ls dir)"
  done
done
