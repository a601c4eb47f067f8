#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Requests that go on where another of the same operation and connection ended
# are sequential. A stream of them is, also when nbdkit's sixteen threads take
# its requests out of order. Requests at random are not, nor is a disk that is
# read backwards.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires fio --enghelp=nbd
requires jq --version
requires nbdcopy --version
requires nbdkit --filter=delay null --version
requires nbdsh --version
requires qemu-img --version

cd "$tmp"
# serve COMMAND [ARGS...]
serve ()
{
  local command=$1
  shift
  nbdkit -U - -t 16 --filter=stats --filter=delay memory 64M statsfile=report \
         statsformat=json "$@" --run "export uri unixsocket; $command"
  json 'read, write | [.total_ios, .sequential_ios, .in_flight.max]'
}
export fio='fio --output=fio.out --name=job --ioengine=nbd --size=64m --bs=4k'

# One stream, sixteen requests at once.
serve '$fio --uri="$uri" --rw=read --iodepth=16 --number_ios=4000' \
      delay-read=1ms
json_check 'read.in_flight.max > 8' \
           'read.total_ios == 4000' \
           'read.sequential_ios > 0.95 * read.total_ios' \
           'read.sequential_ios < read.total_ios'
serve 'qemu-img bench -f raw -d 16 -s 4k -c 2000 "$uri"' delay-read=1ms
json_check 'read.in_flight.max > 8' \
           'read.sequential_ios > 0.95 * read.total_ios'
serve 'qemu-img bench -w -f raw -d 16 -s 4k -c 2000 "$uri"' delay-write=1ms
json_check 'write.in_flight.max > 8' \
           'write.sequential_ios > 0.95 * write.total_ios'
serve 'nbdcopy --connections=1 --requests=16 --request-size=32768 \
               --no-extents "$uri" null:' delay-read=1ms
json_check 'read.in_flight.max > 4' \
           'read.sequential_ios > 0.95 * read.total_ios'

# At random.
serve '$fio --uri="$uri" --rw=randread --iodepth=16 --number_ios=4000' \
      delay-read=1ms
json_check 'read.sequential_ios < 0.05 * read.total_ios'

# client: with these commands in Python
client ()
{
  cat >client.py
  serve 'nbdsh -c - <client.py'
}

# Backwards.
client <<'EOF'
import os
h.connect_unix(os.environ["unixsocket"])
for i in range(200, 0, -1):
    h.pread(4096, i * 4096)
EOF
json_check 'read | [.total_ios, .sequential_ios] == [200, 0]'

# Several connections at the same time, each with a stream of its own: all but
# their first requests are sequential.
client <<'EOF'
import os
handles = [nbd.NBD() for i in range(4)]
for h in handles:
    h.connect_unix(os.environ["unixsocket"])
for i in range(100):
    for j, h in enumerate(handles):
        h.pread(4096, (j << 24) + i * 4096)
EOF
json_check 'read | [.total_ios, .sequential_ios] == [400, 396]'

# Two that take turns on one stream have none.
client <<'EOF'
import os
handles = [nbd.NBD() for i in range(2)]
for h in handles:
    h.connect_unix(os.environ["unixsocket"])
for i in range(100):
    handles[i % 2].pread(4096, i * 4096)
EOF
json_check 'read | [.total_ios, .sequential_ios] == [100, 0]'

# Neither have reads and writes that take turns.
client <<'EOF'
import os
h.connect_unix(os.environ["unixsocket"])
for i in range(100):
    h.pread(4096, 2 * i * 4096)
    h.pwrite(bytes(4096), (2 * i + 1) * 4096)
EOF
json_check 'read | [.total_ios, .sequential_ios] == [100, 0]' \
           'write | [.total_ios, .sequential_ios] == [100, 0]'
