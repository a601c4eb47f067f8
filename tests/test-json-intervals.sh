#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Interval objects hold what happened in the interval and nothing else, so all of
# them add up to the final object: each count, in each size, bin and errno. What
# is cumulative in one is the sum of those up to it, and at the end what the final
# object has.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x

requires jq --version
requires nbdkit --filter=blocksize --filter=error null --version
requires nbdsh --version

cd "$tmp"
cat >client.py <<'EOF'
import random
import time

def attempt(call, *args):
    try:
        call(*args)
    except nbd.Error:
        pass

def reports():
    try:
        return open("reports").read().count("\n")
    except FileNotFoundError:
        return 0

def wait_for_reports(n):
    last = reports() + n
    while reports() < last:
        time.sleep(0.01)

def work(flush):
    size = random.choice([512, 1000, 4096, 65536])
    offset = random.randrange(1024 * 1024)
    for i in range(2):
        attempt(h.pread, size, offset + i * size)
        attempt(h.pwrite, bytes(size), offset + i * size, nbd.CMD_FLAG_FUA)
    if flush:
        h.flush()
        h.zero(4096, 8192)

# Several intervals without a flush, several with some, and an idle one.
random.seed(1)
for flush in False, True:
    end = reports() + 4
    while reports() < end:
        for i in range(200):
            work(flush)
    wait_for_reports(1)
wait_for_reports(1)
EOF

nbdkit -U - --filter=stats --filter=blocksize --filter=stats --filter=error \
       memory 64M maxdata=16K error-pread=EIO error-pread-rate=5% \
       error-pwrite=ENOSPC error-pwrite-rate=5% \
       statsfile=reports statsformat=json statsinterval=0.1 \
       --run 'nbdsh -u "$uri" -c - <client.py; nbdinfo --size "$uri"' 2>log
jq -c '[.type, .elapsed_ns, .busy_ns, .layers[0].ops.read.total_ios]' reports

# Several intervals, and at the end the one final object.
jq -e -s 'map(.type) | length > 5 and .[-1] == "final" and
                       (.[:-1] | unique) == ["interval"]' reports

# Operations come and go; where there are none, there is little.
jq -e -s '.[:-1] | map(.layers[0].ops) |
          any(has("read") and (has("flush") | not)) and
          any(has("flush")) and any(. == {})' reports
jq -e -s '.[:-1] | all(any(.layers[]; .ops != {} or .exports != []) or
                         (tojson | length < 1500))' \
   reports

# All that is counted in an object, as a list of names and numbers.
cat >counted.jq <<'EOF'
def numbers_of(key; value): map({key: "\(key)", value: value}) | from_entries;

def counted_op:
  { total_ios, io_bytes, busy_ns, sequential_ios, flags,
    failed: .failed.total, failed_ns: .failed.ns,
    errors: (.failed.by_errno | map_values(.total)),
    sizes: (.sizes | numbers_of(.from; { requests, bytes })),
    offsets: (.alignment.offset | numbers_of(.align; .requests)),
    bins: .lat_ns.bins, overflow: .lat_ns.overflow };

def counted:
  { elapsed_ns,
    layers: [.layers[] | { busy_ns, unrecorded, account,
                           gaps: ((.gaps // {}) |
                                  { count, sum, bins, overflow }),
                           opened: .connections.opened,
                           open_ns: .connections.open_ns.sum,
                           ops: (.ops | map_values(counted_op)) }] } |
  [paths(numbers) as $path |
   { key: ($path | join("/")), value: getpath($path) }] | from_entries;

def added_up:
  reduce (.[] | to_entries[]) as $n ({}; .[$n.key] += $n.value);

def shown: to_entries[] | select(.value > 0) | "\(.key) \(.value)";

(.[-1] | counted | shown | "final \(.)"),
(.[:-1] | map(counted) | added_up | shown | "intervals \(.)")
EOF
jq -r -s -f counted.jq reports >counted
sed -n 's/^final //p' counted | sort >final
sed -n 's/^intervals //p' counted | sort >intervals
diff -u intervals final || fail "the intervals (-) and the end (+) differ"

# There is something of all that in them.
sort >wanted <<'EOF'
elapsed_ns
layers/0/account/no_client
layers/0/account/opening
layers/0/account/read
layers/0/account/waiting
layers/0/busy_ns
layers/0/gaps/count
layers/0/gaps/sum
layers/0/open_ns
layers/0/opened
layers/0/ops/flush/total_ios
layers/0/ops/read/errors/EIO
layers/0/ops/read/failed_ns
layers/0/ops/read/io_bytes
layers/0/ops/read/sequential_ios
layers/0/ops/write/busy_ns
layers/0/ops/write/errors/ENOSPC
layers/0/ops/write/sizes/65536/bytes
layers/1/account/write
layers/1/busy_ns
layers/1/ops/write/flags/fua
layers/1/ops/write/offsets/1
layers/1/ops/write/sizes/16384/requests
layers/1/ops/zero/total_ios
EOF
cut -d ' ' -f 1 final | sort | comm -23 wanted - >missing
[ ! -s missing ] || fail "the final object has no $(cat missing)"

# At the end, what is cumulative is what the final object has.
jq -e -s '.[-1] as $final | .[-2].cumulative |
          all(paths(numbers) as $path | [getpath($path), ($final | getpath($path))];
              .[0] == .[1])' reports

# And always it is the sum up to there.
cat >cumulative.jq <<'EOF'
def amounts:
  { elapsed_ns,
    layers: [.layers[] | { busy_ns, account,
                           ops: (.ops | map_values({ total_ios, io_bytes, busy_ns,
                                                     failed: .failed.total })) }] } |
  [paths(numbers) as $path | { key: ($path | join("/")), value: getpath($path) }];

foreach .[:-1][] as $interval ({};
  reduce ($interval | amounts[]) as $n (.; .[$n.key] += $n.value);
  . as $sum | $interval.cumulative | amounts[] | select(.value != $sum[.key]) |
  "\(.key): \(.value), and the intervals add up to \($sum[.key])")
EOF
jq -r -s -f cumulative.jq reports >differences
[ ! -s differences ] || fail "cumulative: $(cat differences)"

jq -r -f "$top_srcdir/tests/json-rules.jq" reports >broken-rules
[ ! -s broken-rules ] || fail "broken: $(cat broken-rules)"
