# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.
# shellcheck shell=bash disable=SC2034

# What the scripts here share. They run in the build tree's bench/ and can be
# called one by one. In the environment:
#
#   QUICK=1         only see whether all works
#   PAIRS=N         rounds of end-to-end.sh
#   REPEAT=N        rounds of the others
#   NBDKIT=FILE     another nbdkit than the one in PATH
#   top_builddir    if it is not the directory above

export LC_ALL=C

: "${top_builddir:=$(cd .. && pwd)}"
: "${NBDKIT:=nbdkit}"
: "${QUICK:=}"
if [ "$QUICK" = 0 ]; then QUICK=; fi
export top_builddir NBDKIT QUICK

# The filters that are compared: of this build, and the distribution's.
filterdir=$("$NBDKIT" --dump-config | sed -n 's/^filterdir=//p')
stock=$filterdir/nbdkit-stats-filter.so
ours=$top_builddir/filters/stats/.libs/nbdkit-stats-filter.so

tool=$top_builddir/tools/nbdkit-stats

for file in "$tool" "$stock" "$ours"; do
  if [ ! -e "$file" ]; then
    echo "$0: $file is missing" >&2
    exit 1
  fi
done

PATH=${tool%/*}:$PATH

# In memory if that can be, so that no disk has a part in the figures.
: "${TMPDIR:=/dev/shm}"
if [ ! -w "$TMPDIR" ]; then TMPDIR=/tmp; fi
tmp=$(mktemp -d -p "$TMPDIR" nbdkit-stats.XXXXXX) || exit 1
export TMPDIR=$tmp
trap 'rm -rf -- "$tmp"' EXIT
trap 'exit 1' INT TERM HUP

# row CELL...: of a table in Markdown
row ()
{
  local cell
  for cell; do printf '| %s ' "$cell"; done
  echo '|'
}

# median DECIMALS: of one number a line, with the least and the greatest
median ()
{
  sort -g | awk -v d="$1" '
    { v[NR] = $1 }
    END {
      m = (v[int ((NR + 1) / 2)] + v[int (NR / 2) + 1]) / 2
      printf "%.*f (%.*f..%.*f)\n", d, m, d, v[1], d, v[NR]
    }'
}
