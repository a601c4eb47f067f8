#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What clients ask for with a request is counted: to be on stable storage when it
# ends (FUA), to leave a hole (may trim), to be quick or else be refused (fast
# zero), and one extent only.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdsh --version

cd "$tmp"
cat >client.py <<'EOF'
for flags in 0, 0, nbd.CMD_FLAG_FUA, nbd.CMD_FLAG_FUA, nbd.CMD_FLAG_FUA:
    h.pwrite(b"x" * 4096, 0, flags)
for flags in 0, nbd.CMD_FLAG_FUA:
    h.trim(4096, 0, flags)
for flags in (0, nbd.CMD_FLAG_NO_HOLE, nbd.CMD_FLAG_NO_HOLE,
              nbd.CMD_FLAG_FAST_ZERO, nbd.CMD_FLAG_FAST_ZERO,
              nbd.CMD_FLAG_FAST_ZERO, nbd.CMD_FLAG_FAST_ZERO,
              nbd.CMD_FLAG_FAST_ZERO | nbd.CMD_FLAG_FUA):
    h.zero(4096, 0, flags)
for flags in (0, 0, 0, 0, 0, 0, nbd.CMD_FLAG_REQ_ONE, nbd.CMD_FLAG_REQ_ONE,
              nbd.CMD_FLAG_REQ_ONE):
    h.block_status(4096, 0, lambda *args: 0, flags)
h.pread(4096, 0)
EOF
# run ARGS...
run ()
{
  nbdkit -U - --filter=stats "$@" statsfile=report \
         --run 'nbdsh --base-allocation -u "$uri" -c - <client.py'
  cat report
}

run memory 1M statsformat=json
flags='.flags | [.fua, .may_trim, .fast_zero, .req_one]'
json_check "write | $flags == [3, 0, 0, 0]" "trim | $flags == [1, 0, 0, 0]" \
           "zero | $flags == [1, 6, 5, 0]" "extents | $flags == [0, 0, 0, 3]" \
           "read | $flags == [0, 0, 0, 0]"

run memory 1M statsdetail=full
sed -n '/^requests sequential/,/^$/p' report | sed 's/  */ /g' >kinds
diff -u - kinds <<'EOF'
requests sequential FUA may-trim fast-zero refused one-ext
read 0.0% 0 0 0 0 0
write 0.0% 3 0 0 0 0
trim 0.0% 1 0 0 0 0
zero 0.0% 1 6 5 0 0
extents 0.0% 0 0 0 0 3

EOF

# What a plugin without FUA does instead, a flush, is below the filter.
run eval statsformat=json get_size='echo 1M' pread='head -c $3 /dev/zero' \
    pwrite='cat >/dev/null' can_write='exit 0' can_zero='exit 0' \
    zero='exit 0' can_fast_zero='exit 0' can_trim='exit 0' trim='exit 0' \
    can_extents='exit 0' extents='echo 0 1M' can_flush='exit 0' \
    flush='echo >>flushed' can_fua='echo emulate'
[ "$(wc -l <flushed)" -eq 5 ] || fail "the plugin was not asked to flush"
json_check 'write.flags.fua == 3' 'flush.total_ios == 0'
