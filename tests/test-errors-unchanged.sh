#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The client sees the same errors with the filter as without it, for each
# operation and each errno, and the connection goes on working.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x

requires nbdsh --version
requires nbdkit sh --version

cd "$tmp"
# Each operation fails with the errno that the file "errno" names, but for
# reading, which works as long as that file is away.
cat >plugin <<'EOF'
#!/bin/sh
case $1 in
  get_size) echo 1M ;;
  can_write | can_flush | can_trim | can_zero | can_extents | can_fast_zero | \
  can_multi_conn) ;;
  can_cache | can_fua) echo native ;;
  pread | pwrite | trim | zero | extents | cache | flush)
    if [ -e errno ]; then
      echo "$(cat errno) broken on purpose" >&2
      exit 1
    elif [ "$1" = pread ]; then
      head -c "$3" /dev/zero
    fi ;;
  *) exit 2 ;;
esac
EOF
chmod +x plugin

cat >client.py <<'EOF'
import os

calls = {
    "pread": lambda: h.pread(512, 0),
    "pwrite": lambda: h.pwrite(bytes(512), 0),
    "pwrite fua": lambda: h.pwrite(bytes(512), 0, nbd.CMD_FLAG_FUA),
    "trim": lambda: h.trim(512, 0),
    "zero": lambda: h.zero(512, 0),
    "zero no hole": lambda: h.zero(512, 0, nbd.CMD_FLAG_NO_HOLE),
    "zero fast": lambda: h.zero(512, 0, nbd.CMD_FLAG_FAST_ZERO),
    "extents": lambda: h.block_status(512, 0, lambda *args: 0),
    "cache": lambda: h.cache(512, 0),
    "flush": lambda: h.flush(),
}

for errno in ("EPERM EIO ENOMEM EINVAL ENOSPC EOVERFLOW ENOTSUP EOPNOTSUPP "
              "ESHUTDOWN EROFS EFBIG ENOENT EAGAIN").split():
    with open("errno", "w") as f:
        f.write(errno)
    for name, call in calls.items():
        # Here nbdkit would write zeros instead, and dies when that fails in
        # the same way.
        if errno.endswith(("NOTSUP", "NOTSUPP")) and \
           name in ("zero", "zero no hole"):
            continue
        try:
            call()
            print(errno, name, "worked")
        except nbd.Error as error:
            print(errno, name, "->", error.errno)
    os.unlink("errno")
    h.pread(512, 0)
EOF

run ()
{
  nbdkit -U - sh ./plugin "$@" --run '
    nbdsh --base-allocation -u "$uri" -c - <client.py' 2>/dev/null
}

run >without
run --filter=stats statsfile=report >with
cat without
cat report
[ "$(grep -c -- '->' without)" -ge 125 ] || fail "too little fails to tell"
diff -u without with || fail "without (-) and with the filter (+) differ"
