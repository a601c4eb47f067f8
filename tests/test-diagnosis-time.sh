#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What the diagnosis says about where the time went: into flushing, into questions
# about extents, into opening the connection, and into waiting for the client
# before its first request and after its last.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=diagnosis.sh
source "$top_srcdir/tests/diagnosis.sh"

requires jq --version
requires nbdinfo --version
requires nbdkit eval --version
requires nbdkit --filter=delay --filter=error null --version
requires nbdsh --version
requires qemu-img --version

cd "$tmp"
# A flush behind each write, which takes longer than the write does, however
# long it takes to start a command.
bench -w -d 1 -s 64k -c 16 --flush-interval=1 -- --filter=stats eval \
      get_size='echo 64M' pread='exit 1' can_write='exit 0' \
      pwrite='cat >/dev/null' can_flush='exit 0' flush='sleep 0.3'
found flush 'Flushing took [0-9.]+% .* requests of [0-9.]+ m?s on average'

cat >client.py <<'EOF'
for i in range(20):
    h.block_status(65536, 0, lambda *args: 0)
EOF
provoke --filter=stats --filter=delay memory 64M delay-extents=60ms \
        --run 'nbdsh --base-allocation -u "$uri" -c - <client.py'
found extents-time 'for extents took [0-9.]+% .*: 20 requests of [0-9.]+ m?s on'

# The same where none of them succeeds.
cat >client.py <<'EOF'
for i in range(20):
    try:
        h.block_status(65536, 0, lambda *args: 0)
    except nbd.Error:
        pass
EOF
provoke --filter=stats --filter=delay --filter=error memory 64M \
        delay-extents=60ms error-extents=EIO error-extents-rate=100% \
        --run 'nbdsh --base-allocation -u "$uri" -c - <client.py'
found extents-time ': 20 requests of [0-9.]+ m?s on average, of which 20 failed'

# So has what else takes most of the time, each by its name.
cat >client.py <<'EOF'
for i in range(10):
    h.pread(512, 512 * i)
    h.pwrite(bytes(512), 512 * i)
    h.trim(512, 512 * i)
    h.zero(512, 512 * i)
    h.cache(512, 512 * i)
EOF
for op in read write trim zero cache; do
  provoke --filter=stats --filter=delay memory 64M delay-$op=60ms \
          --run 'nbdsh -u "$uri" -c - <client.py'
  found $op-time '[A-Z][a-z]+ took [0-9.]+% of .* 10 requests of [0-9.]+ m?s on'
  jq -e --arg op $op '[.diagnosis[] | select(.code | endswith("-time")) | .op]
                      == [$op]' report
done

provoke --filter=stats --filter=delay memory 64M delay-open=1100ms \
        --run 'nbdinfo --size "$uri"'
found slow-open 'only being opened: .* longest took [0-9.]+ s'

# None takes a second, and all together more.
provoke --filter=stats --filter=delay memory 64M delay-open=400ms \
        --run 'for i in 1 2 3 4; do nbdsh -u "$uri" -c "h.pread (512, 0)"; done'
found slow-open 'only being opened: 4 openings ended; the longest took'

# The wait for a client is told as that, and not as the client's.
provoke --filter=stats memory 64M \
        --run 'sleep 1.2; nbdsh -u "$uri" -c "h.pread (512, 0)"; sleep 1.2'
found no-client 'for [0-9.]+ s, .* request came [0-9.]+ s after the start'
jq -e '(.elapsed_ns / 1e9) as $all | .diagnosis[] | select(.code == "no-client")
       | .numbers.seconds | . >= 2.4 and . <= $all' report
[ "$(jq -r '.diagnosis[1].code' report)" = no-client ] || fail "it is not first"

# So is that for the opening, and no second time as one for a request.
provoke --filter=stats --filter=delay memory 64M delay-open=1100ms \
        --run 'nbdsh -u "$uri" -c "h.pread (512, 0)"'
found slow-open
jq -e '[.diagnosis[] | select(.code == ("slow-open", "no-client"))
       | .numbers.percent_of_elapsed] | add <= 100' report
