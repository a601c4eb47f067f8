#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The filter changes nothing: with it and without it a client reads the same
# data, flags, extents and sizes, the layer below gets the same requests with
# the same flags in the same order, and the disk ends up the same.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=log-totals.sh
source "$top_srcdir/tests/log-totals.sh"

requires nbdsh --version
requires nbdinfo --version
requires nbdkit --filter=log null --version

cd "$tmp"
cat >client.py <<'EOF'
import hashlib

FUA = nbd.CMD_FLAG_FUA
NO_HOLE = nbd.CMD_FLAG_NO_HOLE
FAST_ZERO = nbd.CMD_FLAG_FAST_ZERO
REQ_ONE = nbd.CMD_FLAG_REQ_ONE
UNIT = 256 * 1024

def pattern(size, seed):
    return hashlib.shake_128(b"%d" % seed).digest(size)

def show_extents(count, offset, flags=0):
    def show(context, at, entries, error):
        print(context, at, entries, error.value)
    h.block_status(count, offset, show, flags)

def try_zero(count, offset, flags):
    try:
        h.zero(count, offset, flags)
        print("zero", count, offset, flags, "worked")
    except nbd.Error as error:
        print("zero", count, offset, flags, error.errno)

h.pwrite(pattern(3 * UNIT + 5, 1), 7)
h.pwrite(pattern(4096, 2), 10 * UNIT, FUA)
h.pwrite(pattern(32 * UNIT, 3), 20 * UNIT)
h.pwrite(pattern(1, 4), 64 * UNIT - 1)
h.trim(UNIT, 21 * UNIT)
h.trim(UNIT, 23 * UNIT, FUA)
h.zero(UNIT, 25 * UNIT)
h.zero(UNIT, 27 * UNIT, FUA)
h.zero(UNIT, 29 * UNIT, NO_HOLE)
h.zero(UNIT + 1, 31 * UNIT - 1, NO_HOLE | FUA)
try_zero(UNIT, 33 * UNIT, FAST_ZERO)
try_zero(UNIT, 35 * UNIT, FAST_ZERO | NO_HOLE)
h.cache(8 * UNIT, 20 * UNIT)
h.flush()
show_extents(64 * UNIT, 0)
show_extents(64 * UNIT, 0, REQ_ONE)
show_extents(5 * UNIT, 22 * UNIT)
for size, offset in ((1, 0), (512, 3), (64 * UNIT, 0), (UNIT, 20 * UNIT)):
    print(hashlib.sha256(h.pread(size, offset)).hexdigest())
h.shutdown()
EOF

# run NAME [--filter=stats] PLUGIN...: with a log just above the plugin.
run ()
{
  local name=$1
  shift
  nbdkit -U - "$@" --filter=log logfile="$name.log" --run '
    nbdinfo "$uri" | grep -v uri: &&
    nbdsh --base-allocation -u "$uri" -c - <client.py &&
    nbdinfo --map "$uri"' >"$name.out"
  cat "$name.out"
  # Each connection by itself: one may come before the last one's end was
  # noticed.
  log_lines "$name.log" | sort -s -k1,1 >"$name.requests"
}

for plugin in memory file; do
  truncate -s 16M disk.without disk.with
  case $plugin in
    memory) without=(memory 16M) with=(memory 16M) ;;
    file) without=(file disk.without) with=(file disk.with) ;;
  esac
  run without "${without[@]}"
  run with --filter=stats "${with[@]}" statsfile=report
  cat report
  diff -u without.out with.out ||
    fail "without (-) the client sees other things"
  diff -u without.requests with.requests ||
    fail "without (-) the plugin gets other requests"
  cmp disk.without disk.with
done
