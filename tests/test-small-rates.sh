#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A rate below one byte a second keeps its digits and is not cut down to
# nothing, and so does a time of less than a microsecond.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=figures.sh
source "$top_srcdir/tests/figures.sh"

requires nbdsh --version
requires nbdkit --filter=delay null --version

cd "$tmp"
nbdkit -U - --filter=stats --filter=delay memory 1M delay-read=1300ms \
       statsfile=report \
       --run 'nbdsh -u "$uri" -c "h.pread(1, 0)" -c "h.flush()"'
cat report
grep -x 'bytes: read 1, written 0, zeroed 0, trimmed 0' report
check "$(seconds read) >= 1.3 && $(rate read op) < 1 && $(rate read op) > 0"
for name in read total; do
  close_to "$(rate "$name" op)" "1 / $(seconds "$name")"
  close_to "$(rate "$name" total)" "1 / $(seconds elapsed)"
done
check "$(seconds flush) > 0"
