#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Failed requests are told by operation and errno: how many, how long they took
# and how long the longest did. Their time is busy time, and is not in the
# latencies of those that succeeded.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdkit eval --version
requires nbdkit --filter=error null --version
requires nbdsh --version

cd "$tmp"
cat >client.py <<'EOF'
def fails(call, *args):
    try:
        call(*args)
        raise Exception("this should fail")
    except nbd.Error as error:
        assert error.errno, error
EOF

# By nbdkit's own filter: another errno for each operation.
{ cat client.py; cat <<'EOF'; } >errors.py
h.pwrite(b"x", 0)
for i in range(3):
    fails(h.pread, 512, 0)
for i in range(5):
    fails(h.trim, 512, 0)
fails(h.zero, 512, 0)
EOF
nbdkit -U - --filter=stats --filter=error memory 1M \
       error-pread=EIO error-pread-rate=100% \
       error-trim=ENOSPC error-trim-rate=100% \
       error-zero=EPERM error-zero-rate=100% \
       statsfile=report statsformat=json \
       --run 'nbdsh -u "$uri" -c - <errors.py'
cat report
errnos='.failed.by_errno | map_values(.total)'
json_check "read | $errnos == { EIO: 3 }" "trim | $errnos == { ENOSPC: 5 }" \
           "zero | $errnos == { EPERM: 1 }" "write | $errnos == {}"

# By a plugin: several of one operation, and some that take their time.
{ cat client.py; cat <<'EOF'; } >errors.py
for i in range(4):
    fails(h.pwrite, b"x" * 512, 512)
for i in range(3):
    fails(h.pwrite, b"x" * 512, 1024)
fails(h.pwrite, b"x" * 512, 2048)
h.pwrite(b"x" * 512, 0)
EOF
# run ARGS...
run ()
{
  nbdkit -U - -t 1 --filter=stats eval statsfile=report "$@" \
         get_size='echo 1M' pread='exit 1' can_write='exit 0' \
         pwrite='
         cat >/dev/null
         case $4 in
           512) echo EIO >&2; exit 1 ;;
           1024) [ ! -e slow ] || sleep 1; touch slow
                 echo ENOSPC >&2; exit 1 ;;
           2048) echo EROFS >&2; exit 1 ;;
         esac' --run 'nbdsh -u "$uri" -c - <errors.py'
  cat report
}
# One after the other, so they add up.
run statsformat=json
json_check "write | $errnos | .EIO == 4 and .ENOSPC == 3" \
           'write | [.total_ios, .io_bytes, .lat_ns.N] == [1, 512, 1]' \
           'write.failed.total == 8' \
           'write.failed.by_errno.ENOSPC | .longest_ns >= 1e9 and .ns >= 2e9' \
           'write.failed.by_errno.EIO | .ns > .longest_ns' \
           'write.failed.longest_ns == write.failed.by_errno.ENOSPC.longest_ns' \
           'write.failed.ns == sum(write.failed.by_errno[].ns)' \
           'write.busy_ns == write.failed.ns + write.lat_ns.max'

rm slow
run
sed -n '/^failures  /,/^$/p' report
sed -n '/^failures  /,/^$/p' report | grep -E '^(f|w)' |
  sed -E 's/  +[0-9.]+ [mu]?s +[0-9.]+ [mu]?s$//; s/([^ ]) +/\1 /g' >failures
grep -x 'failures requests mean longest' failures
grep -x 'write EIO Input/output error 4' failures
grep -x 'write ENOSPC No space left on device 3' failures
grep -x 'write EROFS Read-only file system 1' failures
grep -E '^write +ENOSPC .* 3  +[0-9.]+ m?s  +[0-9.]+ s$' report
