#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Where requests run one at a time, because nbdkit has one thread, a filter
# wants it or the plugin allows no more, parallel requests of the client keep
# the storage busy one after the other. The wait for their turn is in no figure.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=figures.sh
source "$top_srcdir/tests/figures.sh"

requires nbdsh --version
requires nbdkit --filter=delay --filter=noparallel sh --version

cd "$tmp"
cat >plugin <<'EOF'
#!/bin/sh
case $1 in
  get_size) echo 1M ;;
  pread) sleep 0.1; head -c "$3" /dev/zero ;;
  *) exit 2 ;;
esac
EOF
chmod +x plugin

# check_serial ARGS...: six reads of 0.1 s each
export reads=6 client=$top_srcdir/tests/parallel-reads.py
check_serial ()
{
  nbdkit -U - "$@" statsfile=report --run 'nbdsh -u "$uri" -c - <"$client"'
  cat report
  grep -x 'bytes: read 393216, written 0, zeroed 0, trimmed 0' report
  grep -E '^read: 6 ops, ' report
  grep -E '^total: 6 ops, ' report
  check "$(seconds read) >= 0.6"
  check "$(seconds read) <= $(seconds elapsed)"
  check "$(seconds total) == $(seconds read)"
}

check_serial -t 1 --filter=stats --filter=delay memory 1M delay-read=100ms
check_serial --filter=noparallel --filter=stats --filter=delay \
             memory 1M delay-read=100ms
check_serial --filter=stats sh ./plugin
