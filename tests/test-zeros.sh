#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# With statszero=true the report says how much of the written data was all zero,
# in pieces that are blocks of 4096 bytes of the disk as far as the request
# covers them. Without it nobody looks.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdkit --filter=error null --version
requires nbdsh --version

cd "$tmp"
cat >client.py <<'EOF'
def data(n):
    return b"\x01" * n

def zeros(n):
    return bytes(n)

h.pwrite(data(65536), 0)
h.pwrite(zeros(65536), 65536)                       # 65536 of zeros
h.pwrite(zeros(4096) + data(4096), 131072)          # 4096
h.pwrite(data(4096) + zeros(4096), 131072)          # 4096
h.pwrite(zeros(4095) + data(1), 0)                  # none
h.pwrite(data(1) + zeros(4095), 0)                  # none
# Across blocks: in each what there is of it counts.
h.pwrite(zeros(8192), 100)                          # 8192
h.pwrite(zeros(3584) + data(4096), 512)             # 3584
h.pwrite(data(3584) + zeros(4096), 512)             # 4096
h.pwrite(data(3583) + zeros(4096), 512)             # 4095
h.pwrite(zeros(1), 4095)                            # 1
h.pwrite(data(1), 4095)
EOF
expected=$((65536 + 4096 + 4096 + 8192 + 3584 + 4096 + 4095 + 1))
# run ARGS...
run ()
{
  nbdkit -U - --filter=stats "$@" statsfile=report \
         --run 'nbdsh -u "$uri" -c - <client.py'
  cat report
}

run memory 1M statsformat=json statszero=true
json_check "write.zero_bytes == $expected" 'read.zero_bytes == null' \
           'zero.zero_bytes == null'
run memory 1M statsformat=json
json_check 'write.zero_bytes == null'
run memory 1M statszero=true statsdetail=full
grep -E '^requests sequential .* zeros sent$' report
grep -E '^write +[0-9.]+% .* 91\.5 KiB$' report
run memory 1M statsdetail=full
if grep 'zeros' report; then fail "it tells about zeros unasked"; fi

# What was not written is not in it.
cat >client.py <<'EOF'
try:
    h.pwrite(bytes(65536), 0)
    raise Exception("this write should fail")
except nbd.Error:
    pass
EOF
run --filter=error memory 1M error-pwrite=EIO error-pwrite-rate=100% \
    statsformat=json statszero=true
json_check 'write | [.failed.total, .zero_bytes] == [1, 0]'
