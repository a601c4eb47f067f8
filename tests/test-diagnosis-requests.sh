#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What the diagnosis says about requests that could be better ones: small though
# sequential, not aligned, across blocks, each on stable storage by itself, full
# of zeros, more questions than data, and some far slower than the others.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=diagnosis.sh
source "$top_srcdir/tests/diagnosis.sh"

requires jq --version
requires nbdkit --filter=cache --filter=delay null --version
requires nbdsh --version
requires qemu-img --version

cd "$tmp"
# Where the plugin prefers no block size, alignment is to 4 KiB. That is null:
# newer versions of nbdkit's memory prefer 32 KiB.
bench -d 1 -s 4k -c 120 -- --filter=stats null 64M
found small-requests '99.2% of the reads are smaller'
not_found misaligned fua
bench -w -d 1 -s 4k -c 120 -- --filter=stats memory 64M
found small-requests '99.2% of the writes are'
# They are not to blame where they are small because they are here and there.
bench -d 1 -s 4k -S 64k -c 120 -- --filter=stats memory 64M
not_found small-requests
# Nor where those that are small are not those that go on where one ended.
cat >client.py <<'EOF'
for i in range(60):
    h.pread(65536, i << 16)
    h.pread(512, (63 << 20) - (i << 16))
EOF
provoke --filter=stats memory 64M --run 'nbdsh -u "$uri" -c - <client.py'
not_found small-requests

bench -d 1 -s 32k -S 33280 -o 512 -c 120 -- --filter=stats null 64M
found misaligned '% of the reads are not aligned to 4 KiB'

# Six in a hundred are off in offset, and six others in length.
cat >client.py <<'EOF'
for i in range(200):
    h.pread(4096 + 512 * (i % 16 == 1), 8192 * i + 512 * (i % 16 == 2))
EOF
provoke --filter=stats null 64M --run 'nbdsh -u "$uri" -c - <client.py'
found misaligned '13.0% of the reads are not aligned to 4 KiB, in offset or length'

bench -d 1 -s 128k -o 4k -c 120 -- --filter=stats memory 64M statsblock=128k
found block-misfit '100.0% .* blocks of 128 KiB: all together touch 2.00 times'
bench -d 1 -s 128k -c 120 -- --filter=stats memory 64M statsblock=128k
not_found block-misfit misaligned

bench -w -t writethrough -d 1 -s 64k -c 120 -- --filter=stats memory 64M
found fua '100.0% of the writes asked for FUA.* One flush at the end may'

bench -w --pattern=0 -d 1 -s 64k -c 10 -- --filter=stats memory 64M \
      statszero=true
found zeros-written '100.0% of the written data, 640 KiB, is all zero'
bench -w --pattern=1 -d 1 -s 64k -c 10 -- --filter=stats memory 64M \
      statszero=true
not_found zeros-written

cat >client.py <<'EOF'
for i in range(1000):
    h.block_status(65536, 0, lambda *args: 0)
h.pread(512, 0)
EOF
provoke --filter=stats memory 64M \
        --run 'nbdsh --base-allocation -u "$uri" -c - <client.py'
found extents-count 'asked 1000 times for extents, and 1 time to read or'

# All but four in two hundred are in the cache.
cat >client.py <<'EOF'
for i in range(200):
    h.pread(65536, 0 if i % 50 else i << 16)
EOF
provoke --filter=stats --filter=cache --filter=delay memory 64M \
        delay-read=300ms cache-on-read=true cache-min-block-size=64k \
        --run 'nbdsh -u "$uri" -c - <client.py'
found long-tail 'reads that succeeded, one in a .* 64.0 KiB at offset [0-9]+'
