#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A file that is a mount point of its own, as a container has it, cannot be
# replaced: it is written in place.

# shellcheck disable=SC2016 # the shell of --run expands it
source ./functions.sh
set -e -u -x

if [ "${1-}" != inside ]; then
  unshare=(unshare --mount)
  "${unshare[@]}" true || unshare+=(--map-root-user)
  requires "${unshare[@]}" mount -t tmpfs none "$tmp"
  "${unshare[@]}" bash "$0" inside
  exit
fi
cd "$tmp"
touch report
for args in statsformat=text 'statsformat=prometheus statsinterval=0.01' \
            'statsformat=json statsinterval=0.01' statsappend=true; do
  seq 10000 >source
  mount --bind source report
  run=true
  case $args in
    *interval*)
      run='until [ "$(head -n 1 report)" != 1 ]; do sleep 0.02; done' ;;
  esac
  # shellcheck disable=SC2086 # several words
  nbdkit -U - --filter=stats null statsfile=report $args --run "$run" 2>log
  umount report
  cat log
  [ ! -s log ] || fail "an error was told"
  tail -n 100 source
  case $args in
    *append*) [ "$(grep -c '^total: 0 ops' source)" -eq 1 ]
              [ "$(grep -cx '[0-9]*' source)" -eq 10000 ] ;;
    *text) [ "$(sed -n 1p source | cut -d: -f1)" = 'elapsed time' ]
           [ "$(wc -l <source)" -lt 20 ] ;;
    *json*) [ "$(tail -n 1 source | jq -r .type)" = final ]
            [ "$(head -n 1 source | jq -r .type)" = interval ] ;;
    *) grep '^# EOF\|^nbdkit_stats' source >/dev/null
       if grep -x '[0-9]*' source; then fail "the old one is there"; fi ;;
  esac
  [ "$(find . -type f | wc -l)" -eq 4 ] || find .
done
