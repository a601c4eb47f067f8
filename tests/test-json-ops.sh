#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A client that sends a few known requests of each kind finds exactly these in
# the JSON report: counts, bytes, sizes, alignments, blocks, flags, failures,
# extents and the requests themselves.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x

requires jq --version
requires nbdkit eval --version
requires nbdsh --version

cd "$tmp"
cat >client.py <<'EOF'
data = b"x" * 4096
h.pwrite(data, 8192, nbd.CMD_FLAG_FUA)
h.pwrite(data, 12288)
h.pwrite(bytes(6000) + data, 16384)

h.pread(512, 1)
h.pread(65536, 0)
for i in range(2):
    try:
        h.pread(4096, 4096)
        raise Exception("this read should fail")
    except nbd.Error as error:
        assert error.errno == "EIO", error

h.trim(1024 * 1024, 1024 * 1024, nbd.CMD_FLAG_FUA)

h.zero(65536, 65536)
h.zero(65536, 131072, nbd.CMD_FLAG_NO_HOLE)
try:
    h.zero(65536, 0, nbd.CMD_FLAG_FAST_ZERO)
    raise Exception("this zero should not be fast")
except nbd.Error as error:
    assert error.errno in ("ENOTSUP", "EOPNOTSUPP"), error

def ignore(context, offset, entries, error):
    pass
h.block_status(64 * 1024 * 1024, 0, ignore)
h.block_status(1024 * 1024, 0, ignore, nbd.CMD_FLAG_REQ_ONE)

h.cache(3 * 4096, 3 * 4096)
h.flush()
EOF

nbdkit -U - --filter=stats eval \
       statsfile=report statsformat=json statsblock=4K statszero=true \
       get_size='echo 1G' can_write='exit 0' can_flush='exit 0' \
       can_trim='exit 0' can_zero='exit 0' can_fast_zero='exit 0' \
       can_fua='echo native' can_cache='echo native' can_extents='exit 0' \
       pread='[ $4 != 4096 ] || { echo EIO >&2; exit 1; }
              head -c $3 /dev/zero' \
       pwrite='cat >/dev/null' trim='exit 0' cache='exit 0' flush='exit 0' \
       zero='case $5 in *fast*) echo ENOTSUP >&2; exit 1 ;; esac' \
       extents='echo 0 1M; echo 1M 4M hole,zero; echo 5M 2M zero
                echo 7M 8M hole; echo 15M 49M' \
       --run 'nbdsh --base-allocation -u "$uri" -c - <client.py'
cat report

# expect NAME: these figures of all operations are those on standard input.
expect ()
{
  jq -r ".layers[0].ops | to_entries[] | select(.value.total_ios > 0) |
         \"\\(.key) \\(.value | $2)\"" report >figures
  diff -u - figures || fail "what was sent (-) and the report (+) differ: $1"
}

expect amounts '[.total_ios, .io_bytes, .sequential_ios]' <<'EOF'
read [2,66048,0]
write [3,18288,2]
trim [1,1048576,0]
zero [2,131072,1]
extents [2,68157440,0]
cache [1,12288,0]
flush [1,0,0]
EOF
expect failures '.failed | [.total, (.by_errno | map_values(.total))]' <<'EOF'
read [2,{"EIO":2}]
write [0,{}]
trim [0,{}]
zero [0,{}]
extents [0,{}]
cache [0,{}]
flush [0,{}]
EOF
expect sizes '[.sizes[] | [.from, .to, .requests, .bytes]]' <<'EOF'
read [[512,1023,1,512],[65536,131071,1,65536]]
write [[4096,8191,2,8192],[8192,16383,1,10096]]
trim [[1048576,2097151,1,1048576]]
zero [[65536,131071,2,131072]]
extents [[1048576,2097151,1,1048576],[67108864,134217727,1,67108864]]
cache [[8192,16383,1,12288]]
flush []
EOF
expect alignment '[.alignment | .offset, .length | map([.align, .requests])]' \
<<'EOF'
read [[[1,1],[0,1]],[[512,1],[65536,1]]]
write [[[4096,1],[8192,1],[16384,1]],[[16,1],[4096,2]]]
trim [[[1048576,1]],[[1048576,1]]]
zero [[[65536,1],[131072,1]],[[65536,2]]]
extents [[[0,2]],[[1048576,1],[67108864,1]]]
cache [[[4096,1]],[[4096,1]]]
flush [[],[]]
EOF
expect 'block fit' '.block_fit | if . then
                      [.block, .aligned, .smaller, .touched, .by_touched[]]
                    else . end' <<'EOF'
read [4096,1,1,17,1,0,0,1]
write [4096,2,0,5,2,0,1,0]
trim [4096,1,0,256,0,0,0,1]
zero [4096,2,0,32,0,0,0,2]
extents [4096,2,0,16640,0,0,0,2]
cache [4096,1,0,3,0,0,1,0]
flush null
EOF
expect flags '[.flags | .fua, .may_trim, .fast_zero, .req_one]' <<'EOF'
read [0,0,0,0]
write [1,0,0,0]
trim [1,0,0,0]
zero [0,1,0,0]
extents [0,0,0,1]
cache [0,0,0,0]
flush [0,0,0,0]
EOF
# The last write begins with 6000 zeros, in one whole block and a part.
expect zeros '[.zero_bytes, .fast_zero_refused.total]' <<'EOF'
read [null,0]
write [4096,0]
trim [null,0]
zero [null,1]
extents [null,0]
cache [null,0]
flush [null,0]
EOF
expect slowest '[.slowest[] | [.offset, .size]] | sort' <<'EOF'
read [[0,65536],[1,512]]
write [[8192,4096],[12288,4096],[16384,10096]]
trim [[1048576,1048576]]
zero [[65536,65536],[131072,65536]]
extents [[0,1048576],[0,67108864]]
cache [[12288,12288]]
flush [[0,0]]
EOF
# The plugin answers either request with all 64 MiB.
jq -e '.layers[0].ops.extents.returned ==
       { extents: 10, data_bytes: (100 * 1048576),
         hole_bytes: (24 * 1048576), zero_bytes: (4 * 1048576) }' report

jq -r -f "$top_srcdir/tests/json-rules.jq" report >broken-rules
[ ! -s broken-rules ] || fail "broken: $(cat broken-rules)"
