# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.
# shellcheck shell=bash

# The same requests to the same plugin through different stacks of filters, and
# all that can be seen of them. The plugin can what the name of the export says,
# and fails at some offsets: see emulation-plugin.c.

requires jq --version
requires nbdinfo --version
requires nbdsh --version

# shellcheck source-path=SCRIPTDIR source=upper-log.sh disable=SC2154
source "$top_srcdir/tests/upper-log.sh"

# shellcheck disable=SC2154 # functions.sh sets it
emulation_plugin=$top_builddir/tests/.libs/nbdkit-emulation-plugin.so
requires test -e "$emulation_plugin"

cd "$tmp" || exit 1

# Prints all that it is offered and answered, and writes to the file "asked"
# what reached nbdkit of it, in the form of log_totals.
cat >client.py <<'SCRIPT'
import collections, hashlib

FUA = nbd.CMD_FLAG_FUA
NO_HOLE = nbd.CMD_FLAG_NO_HOLE
FAST = nbd.CMD_FLAG_FAST_ZERO
REQ_ONE = nbd.CMD_FLAG_REQ_ONE
FLAGS = {0: "", FUA: "fua", NO_HOLE: "no_hole", FAST: "fast",
         REQ_ONE: "req_one"}
OPS = "read write trim zero extents cache flush".split()
WITH_BYTES = OPS[:4]
requests = collections.Counter()
failed = collections.Counter()
asked_bytes = collections.Counter()

def ask(h, op, count=0, offset=0, flags=0):
    # nbdkit does not survive a fast zero that it has not offered.
    if flags & FAST and not h.can_fast_zero():
        return
    h.set_strict_mode(0)
    extents = []
    data = hashlib.shake_128(b"%d" % offset).digest(min(count, 1 << 20))
    call = {
        "read": lambda: h.pread(count, offset),
        "write": lambda: h.pwrite(data, offset, flags),
        "trim": lambda: h.trim(count, offset, flags),
        "zero": lambda: h.zero(count, offset, flags),
        "extents": lambda: h.block_status(
            count, offset, lambda *args: extents.append(args[:3]), flags),
        "cache": lambda: h.cache(count, offset),
        "flush": lambda: h.flush(),
    }[op]
    # What was not offered, or is beyond the end, the server refuses itself.
    offered = {
        "write": lambda: not h.is_read_only(), "trim": h.can_trim,
        "zero": h.can_zero, "cache": h.can_cache, "flush": h.can_flush,
    }.get(op, lambda: True)() and not (flags & FUA and not h.can_fua()) \
      and offset + count <= h.get_size()
    try:
        result = call()
        result = hashlib.sha1(result).hexdigest() if op == "read" else "ok"
        if offered:
            requests[op] += 1
            asked_bytes[op] += count
    except nbd.Error as error:
        result = error.errno
        if offered:
            failed[op] += 1
    names = "|".join(FLAGS[1 << i] for i in range(8) if flags & 1 << i)
    print(op, count, offset, names, "->", result, *extents)

def sequence(h):
    for offset, flags in ((0, 0), (131072, FUA), (786432, 0), (786432, FUA)):
        ask(h, "write", 65536, offset, flags)
    for flags in (0, FUA, NO_HOLE, NO_HOLE | FUA, FAST, FAST | FUA):
        ask(h, "zero", 4096, 8192 * (1 + flags), flags)
    for offset, flags in ((786432, 0), (786432, FAST), (851968, FUA),
                          (851968, FAST), (856064, 0), (856064, FAST)):
        ask(h, "zero", 4095, offset, flags)
    ask(h, "zero", 65536, 0)
    for offset, flags in ((262144, 0), (327680, FUA), (786432, 0)):
        ask(h, "trim", 65536, offset, flags)
    ask(h, "cache", 65536, 0)
    ask(h, "cache", 100000, 7)
    ask(h, "cache", 4096, 790528)
    ask(h, "flush")
    for count, offset, flags in ((1048576, 0, 0), (65536, 4096, REQ_ONE),
                                 (4096, 790528, 0)):
        ask(h, "extents", count, offset, flags)
    ask(h, "read", 1048576, 0)
    ask(h, "read", 4096, 790528)
    # Beyond the end.
    size = h.get_size()
    for op in ("read", "write", "zero", "trim", "cache", "extents"):
        ask(h, op, 4096, size)

def large(h):
    """More than what nbdkit writes or reads at once."""
    ask(h, "zero", 150000001, 3, FUA)
    ask(h, "zero", 150000001, 3, NO_HOLE)
    ask(h, "cache", 150000001, 3)

def offered(h):
    print("size", h.get_size(), *(
        "%s=%s" % (name, getattr(h, name)()) for name in (
            "can_cache", "can_df", "can_fast_zero", "can_flush", "can_fua",
            "can_multi_conn", "can_trim", "can_zero", "is_read_only",
            "is_rotational")),
        h.can_meta_context("base:allocation"))

for name in open("exports").read().splitlines():
    print("export", name)
    h = nbd.NBD()
    h.add_meta_context("base:allocation")
    h.set_export_name(name)
    try:
        h.connect_unix(unixsocket)
    except nbd.Error as error:
        print("not opened", error.errno)
        continue
    offered(h)
    large(h) if "size" in name else sequence(h)
    h.shutdown()

with open("asked", "w") as f:
    for op in OPS:
        if requests[op] + failed[op]:
            print(op, requests[op], failed[op],
                  asked_bytes[op] if op in WITH_BYTES else "-", file=f)
SCRIPT

# run NAME FILTER... [-- PARAMETER...]: what can be seen goes to NAME.*, the
# requests above the filters to NAME.above and those next to the plugin to
# NAME.below. info=: leaves nbdinfo out.
run ()
{
  local name=$1 filters=() arg
  shift
  while [ $# -gt 0 ]; do
    arg=$1
    shift
    [ "$arg" = -- ] && break
    filters+=("--filter=$arg")
  done
  mkdir "$name.disks"
  # shellcheck disable=SC2016 # the shell of --run expands them
  DISKS=$name.disks TRACE=$name.trace nbdkit -U - --filter="$upper_log" \
      "${filters[@]}" --filter=log "$emulation_plugin" upperlg="$name.above" \
      logfile="$name.below" "$@" --run '
        nbdsh -c "unixsocket = \"$unixsocket\"" -c - <client.py || exit
        '"${info:-nbdinfo}"' --list --json --no-content "$uri" \
          >'"$name.info"' || :' \
      >"$name.client" 2>"$name.err" ||
    { cat "$name.client" "$name.err"; fail "the client of $name failed"; }
  # Without the time, and each connection by itself: one may come before the
  # last one's end was noticed.
  sed -i '/\tpreconnect/d' "$name.trace"
  sort -s -t $'\t' -k 1,1 -o "$name.trace" "$name.trace"
  log_lines "$name.below" | sort -s -k 1,1 >"$name.requests"
  # Without the socket's name.
  sed -i 's,"uri": .*,,' "$name.info"
}

# same NAME NAME: neither the client nor the plugin saw a difference.
same ()
{
  local what
  for what in client info trace requests; do
    diff -u "$1.$what" "$2.$what" ||
      fail "$1 (-) and $2 (+): the $what differs"
  done
  diff -r "$1.disks" "$2.disks" || fail "$1 and $2: the data differ"
}

# layer_totals LAYER: what a report says, in the form of log_totals; a fast zero
# that was refused has failed to a log.
layer_totals ()
{
  json "layer($1).ops | to_entries[] |
        (.value.failed.total + (.value.fast_zero_refused.total? // 0)) as \$no |
        select (.value.total_ios + \$no > 0) |
        [.key, .value.total_ios, \$no,
         if .key | IN (\"read\", \"write\", \"trim\", \"zero\")
         then .value.io_bytes else \"-\" end] | map (tostring) | join (\" \")"
}

# saw LAYER FILE WHAT
saw ()
{
  layer_totals "$1" | diff -u "$2" - ||
    fail "$3: layer $1 (+) tells something else"
}
