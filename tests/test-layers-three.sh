#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The filter in three places of the stack: each has its own figures and its own
# failures, and they stand in the order of the stack.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdkit --filter=blocksize --filter=error null --version
requires nbdsh --version

cd "$tmp"
cat >client.py <<'EOF'
for i in range(2):
    h.pread(1 << 20, i << 20)
try:
    h.pwrite(bytes(65536), 0)
    raise Exception("this write should fail")
except nbd.Error as error:
    assert error.errno == "ENOSPC", error
EOF
# run ARGS...
run ()
{
  nbdkit -U - --filter=stats --filter=blocksize --filter=stats --filter=error \
         --filter=stats memory 2M maxdata=256K \
         error-pwrite=ENOSPC error-pwrite-rate=100% statsfile=report "$@" \
         --run 'nbdsh -u "$uri" -c - <client.py'
  cat report
}

run statsformat=json
json_check '.layers | map(.layer) == [1, 2, 3]' \
           '.layers | map(.ops.read.total_ios) == [2, 8, 8]' \
           '.layers | map(.ops.read.io_bytes) == [2097152, 2097152, 2097152]' \
           '.layers | map(.ops.write.total_ios) == [0, 0, 0]' \
           '.layers | map(.ops.write.failed.total) == [1, 1, 0]'

run
grep '^layer ' report >headings
diff - headings <<'EOF'
layer 1 of 3, nearest the client
layer 2 of 3
layer 3 of 3, nearest the plugin
EOF
