#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# With statsinterval no report can be written, from the first on: it is told
# once and not at each tick, and once more at the end. The client knows nothing
# of it.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=complete.sh
source "$top_srcdir/tests/complete.sh"

cd "$tmp"
# As a debug message tells each report, the client can wait for some.
cat >client <<'EOF'
#!/bin/sh
until [ "$(grep -c 'stats: report of' log)" -ge 10 ]; do sleep 0.02; done
exit 3
EOF
chmod +x client

for format in text json prometheus; do
  status=0
  nbdkit -v -D stats.report=1 -U - --filter=stats null statsfile=/dev/full \
         statsformat=$format statsinterval=0.01 --run ./client 2>log ||
    status=$?
  cat log
  [ "$status" -eq 3 ] || fail "the client's 3 became $status"
  errors log >told
  [ "$(grep -c 'statsfile=/dev/full: .*No space left' told)" -eq 2 ]
  [ "$(wc -l <told)" -eq 2 ] || fail "not two lines of error"
  tail -n 20 log | grep 'statsfile=/dev/full: ' || fail "the end is not told"
done
