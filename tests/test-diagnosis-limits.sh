#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What the diagnosis says about who is the limit: the storage because it was busy
# nearly always, or could not do more at once, or the client because it left the
# storage idle, or never asked for more than one thing.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=diagnosis.sh
source "$top_srcdir/tests/diagnosis.sh"

requires jq --version
requires flock --version
requires nbdkit eval --version
requires nbdkit --filter=delay --filter=rate null --version
requires nbdkit --filter=error --filter=noparallel null --version
requires nbdsh --version
requires qemu-img --version

cd "$tmp"
# Storage that takes 0.2 s for a read, however many there are. So many that what
# the client needs to start and to end is little beside them.
parallel_reads ()
{
  reads=$((2 * reads))
  bench -d 16 -s 64k -c "$reads" -- --filter=stats --filter=delay memory 64M \
        delay-read=200ms
  jq -e '.busy_ns > 0.81 * .elapsed_ns' report
}
reads=80
wait_until parallel_reads
found storage-bound 'takes most of the time: it was busy for [0-9.]+%'
not_found client-bound one-at-a-time saturated long-tail

# Where there were few and many in flight and none took longer, more may help. On
# a busy machine they may take longer.
more_helps ()
{
  provoke --filter=stats --filter=delay memory 64M delay-read=60ms \
          --run 'qemu-img bench -f raw -d 1 -s 64k -c 20 "$uri" &&
                 qemu-img bench -f raw -d 8 -s 64k -c 300 "$uri"' |
    grep 'storage-bound .* in flight, .*: more at once may give more\.$'
}
wait_until more_helps

# Storage that does one read after the other, 0.1 s each, however many it is
# asked for at once. Once more where that cannot be seen, since a busy machine
# sent them late.
saturating_reads ()
{
  provoke --filter=stats eval thread_model='echo parallel' \
          get_size='echo 64M' \
          pread='flock "$lock" sleep 0.1; head -c $3 /dev/zero' \
          --run 'qemu-img bench -f raw -d 1 -s 64k -c 20 "$uri" &&
                 qemu-img bench -f raw -d 16 -s 64k -c 100 "$uri"'
  jq -c '.layers[0].ops.read | .depths, .in_flight' report
  jq -e '.layers[0].ops.read | .in_flight.mean > 8.5 and
         ((.depths[0].lat_ns_mean * 5) as $least |
          all(.depths[] | select(.from > 8); .lat_ns_mean > $least))' report
}
export lock=$tmp/lock
wait_until saturating_reads
found saturated 'saturated by reads: .* and [0-9.]+ m?s with '
not_found client-bound one-at-a-time

# A client that waits before each request. Here a filter does it for it.
bench -d 1 -s 64k -c 300 -- --filter=rate --filter=stats memory 64M rate=48M
found client-bound ': [0-9]+ gaps, .* nearer to it\.$'
not_found storage-bound one-at-a-time saturated stalls

# One that stalls for as long, three times.
cat >client.py <<'EOF'
import time
for i in range(3):
    time.sleep(1)
    for k in range(30):
        h.pread(512, 512 * k)
EOF
provoke --filter=stats memory 64M --run 'nbdsh -u "$uri" -c - <client.py'
found client-bound ': [0-9]+ stalls of .* and more, together [3-9]\.[0-9]+ s\. '
not_found storage-bound one-at-a-time stalls

# The storage takes more of the time than the stall.
cat >client.py <<'EOF'
import time
for i in range(40):
    h.pread(512, 512 * i)
time.sleep(0.9)
h.pread(512, 0)
EOF
provoke --filter=stats --filter=delay memory 64M delay-read=100ms \
        --run 'nbdsh -u "$uri" -c - <client.py'
found stalls ': [0-9]+ stalls? of .*, [0-9.]+% of the elapsed time\. '
found storage-bound
not_found client-bound

# One that waits for each answer before it sends the next request.
bench -d 1 -s 64k -c 120 -- --filter=stats --filter=delay memory 64M \
      delay-read=40ms
found one-at-a-time 'never more than one request .* convert -W -m 16\.$'
not_found storage-bound client-bound saturated read-time

# One that sends sixteen at once, to storage that takes no more than one.
bench -d 16 -s 64k -c 120 -- --filter=stats --filter=noparallel \
      --filter=delay memory 64M delay-read=40ms serialize=all-requests
found one-at-a-time 'the thread model is serialize_all_requests\. One read'
found one-at-a-time 'however many the client sends\.$'
not_found storage-bound client-bound saturated

# Most fail, and take as long. The time of all is not that of the others.
cat >client.py <<'EOF'
for i in range(200):
    try:
        h.pread(65536, i << 16)
    except nbd.Error:
        pass
EOF
provoke --filter=stats --filter=delay --filter=error memory 64M \
        delay-read=40ms error-pread=EIO error-pread-rate=90% \
        --run 'nbdsh -u "$uri" -c - <client.py'
found one-at-a-time 'never more than one request in flight'
# In the time that the storage was busy they would have done those 200, and
# those more for which it leaves out the slowest; by the time of those that
# succeeded it would be a tenth.
jq -e '(.diagnosis[] | select(.code == "one-at-a-time").numbers.possible_iops)
       * .busy_ns / 1e9 | . > 199 and . < 1000' report
