#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The filter leaves no memory behind and touches none that is not its own,
# however far nbdkit gets: it is unloaded without being started after --help and
# the like, and several times when it is in several places of the stack.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x

requires valgrind --version
requires nbdinfo --version
requires nbdkit --filter=blocksize --filter=error null --version
requires nbdsh --version

cd "$tmp"

# The filter is gone when leaks are looked for, so its names must be kept.
cat >under-valgrind <<END2
#!/bin/sh
exec valgrind -q --log-file=$tmp/valgrind.%p --error-exitcode=99 \
     --keep-debuginfo=yes --num-callers=40 --leak-check=full \
     --show-leak-kinds=definite,indirect,possible --errors-for-leak-kinds=none \
     $(sed -n 's/^NBDKIT = //p' "$top_builddir/Makefile") "\$@"
END2
chmod +x under-valgrind
requires ./under-valgrind --version

# Of leaks we look for ours: those that valgrind tells with a name of ours.
ours=$(cd "$top_srcdir/filters/stats" && echo ./*.c |
         sed 's,\./,(,g; s/ /:|/g; s/$/:/; s/(/[(]/g')
clean ()
{
  local expected=$1 status=0 file
  shift
  rm -f valgrind.*
  NBDKIT=$tmp/under-valgrind nbdkit "$@" || status=$?
  cat valgrind.*
  [ "$status" -eq "$expected" ] || fail "the exit status is $status"
  for file in valgrind.*; do
    sed 's/^==[0-9]*== *$//' "$file" |
      awk -v ours="$ours|nbdkit-stats-filter" -v RS= \
          '!/ lost / || $0 ~ ours { print; bad = 1 } END { exit bad }' ||
      fail "valgrind found the fault above"
  done
}

clean 0 --help --filter=stats null
clean 0 --version --filter=stats null
clean 0 --dump-plugin --filter=stats --filter=stats null statsfile=dumped
[ ! -e dumped ] || fail "--dump-plugin made a file"

# Ended by an error at the start.
clean 1 -U sock --filter=stats null statsfile=none/report --run true

# With a client and with several places in the stack.
clean 0 -U - --filter=stats --filter=log --filter=stats memory 1M \
      logfile=/dev/null statsfile=report statsdetail=full \
      --run 'nbdinfo --map "$uri"'
cat report
[ "$(grep -c '^extents: ' report)" -eq 2 ] || fail "the report is not whole"

# With all there is to tell, also while it runs, and with requests that fail.
cat >client.py <<'EOF'
for i in range(10):
    h.pread(256 << 10, i << 16)
    try:
        h.pwrite(bytes(65536), i << 16)
    except nbd.Error:
        pass
    h.zero(4096, 0)
    h.trim(4096, 0)
    h.cache(4096, 0)
    h.flush()
h.block_status(1 << 20, 0, lambda *args: 0)
# nbdkit itself leaks the handles of a client that just goes away.
h.shutdown()
EOF
clean 0 -U - --filter=stats --filter=blocksize --filter=stats --filter=error \
      memory 1M maxdata=64K error-pwrite=ENOSPC error-pwrite-rate=50% \
      statsfile=report statsformat=json statsinterval=0.05 \
      statsblock=4K statszero=true \
      --run 'nbdsh --base-allocation -u "$uri" -c - <client.py'
grep -c '"type":"interval"' report
grep '"type":"final"' report
