#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Nothing that the filter opens leaks into the programs that nbdkit starts: a
# plugin that is a script, and the command of --run.

# shellcheck disable=SC2016 # the shell of --run expands
source ./functions.sh
set -e -u -x

requires nbdsh --version
requires test -e /proc/self/fd
requires nbdkit sh --version

export tmp
cd "$tmp"
cat >list-descriptors <<'EOF'
#!/bin/sh
ls -l /proc/$$/fd
EOF
cat >plugin <<'EOF'
#!/bin/sh
case $1 in
  get_size) echo 1M ;;
  config) ;;
  get_ready | pread | unload)
    "$tmp/list-descriptors" >"$tmp/seen.$1"
    if [ "$1" = pread ]; then head -c "$3" /dev/zero; fi ;;
  *) exit 2 ;;
esac
EOF
chmod +x list-descriptors plugin

# seen NAME ARGS...: what the plugin and the command see, in the file NAME
seen ()
{
  local name=$1
  shift
  nbdkit -U - sh ./plugin "$@" --run '
    ./list-descriptors >seen.run &&
    nbdsh -u "$uri" -c "h.pread(512, 0)"'
  # Numbers of pipes and sockets differ from run to run, and the shell has its
  # script open.
  head -n 99 seen.* >all
  sed -E 's/.* ([0-9]+ -> )/\1/; s/:.*//; /^total|list-descriptors$/d' \
      all >"$name"
  rm seen.*
  cat "$name"
}

seen without
seen with --filter=stats
diff -u without with || fail "something leaks"
for statsfile in report /dev/full; do
  for append in false true; do
    seen with --filter=stats statsfile="$statsfile" statsappend="$append"
    diff -u without with || fail "with statsfile=$statsfile something leaks"
  done
done
