#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A request to zero something only if that is fast may be refused: a normal
# answer, which is counted by itself and is no failure. Without that wish, or
# with another error, it is one.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdkit eval --version
requires nbdkit --filter=nozero null --version
requires nbdsh --version

cd "$tmp"
cat >client.py <<'EOF'
def zero(offset, flags, expected):
    try:
        h.zero(4096, offset, flags)
        assert expected is None
    except nbd.Error as error:
        assert error.errno in expected, error

for i in range(3):
    zero(0, nbd.CMD_FLAG_FAST_ZERO, ["ENOTSUP", "EOPNOTSUPP"])
EOF
# run ARGS...
run ()
{
  nbdkit -U - --filter=stats "$@" statsfile=report \
         --run 'nbdsh -u "$uri" -c - <client.py'
  cat report
}

# A filter that refuses.
slow_zero=(--filter=nozero memory 1M zeromode=plugin fastzeromode=slow)
run "${slow_zero[@]}" statsformat=json
json_check 'zero.fast_zero_refused.total == 3' \
           'zero.failed == { total: 0, ns: 0, longest_ns: null, by_errno: {} }' \
           'zero | [.total_ios, .io_bytes, .lat_ns.N] == [0, 0, 0]' \
           'zero.fast_zero_refused.ns > 0' \
           'zero.busy_ns == zero.fast_zero_refused.ns' \
           'all(.diagnosis[]; .code != "failures" and
                (.code == "account" or .op != "zero"))'
run "${slow_zero[@]}" statsdetail=full
if grep failed report | grep -v '^openings, '; then
  fail "it is said to have failed"
fi
sed -n '/^requests sequential/,/^$/p' report | sed 's/  */ /g' >kinds
grep -x 'zero 0.0% 0 0 0 3 0' kinds

# A plugin that refuses in both words, and that also fails.
cat >>client.py <<'EOF'
zero(4096, nbd.CMD_FLAG_FAST_ZERO, ["ENOTSUP", "EOPNOTSUPP"])
zero(8192, nbd.CMD_FLAG_FAST_ZERO, ["ENOSPC"])
zero(12288, nbd.CMD_FLAG_FAST_ZERO, None)
zero(12288, 0, None)
zero(12288, 0, None)
EOF
run eval statsformat=json get_size='echo 1M' pread='exit 1' can_write='exit 0' \
    can_zero='exit 0' can_fast_zero='exit 0' zero='
    case $4 in
      0) echo ENOTSUP >&2; exit 1 ;;
      4096) echo EOPNOTSUPP >&2; exit 1 ;;
      8192) echo ENOSPC >&2; exit 1 ;;
    esac'
json_check 'zero.fast_zero_refused.total == 4' \
           'zero.failed | [.total, .by_errno.ENOSPC.total] == [1, 1]' \
           'zero.total_ios == 3' 'zero.flags.fast_zero == 1'
