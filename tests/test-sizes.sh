#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Every request is in a class of sizes: classes with the same number of requests
# stand beside one another, a single request stands in its own, and together
# they have all requests and all bytes. A class is told with its true bounds.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdsh --version

cd "$tmp"
cat >client.py <<'EOF'
for size in 4096, 65536, 1 << 20:
    for i in range(3):
        h.pread(size, i * size)
# One alone.
h.zero(8191, 0)
# From one end of a class to the other, and just outside of it.
for size in 4095, 4096, 5000, 8191, 8192, 1, 3:
    h.pwrite(bytes(size), 0)
# All of a class have its lowest size.
for i in range(5):
    h.cache(1 << 20, 0)
EOF
# run ARGS...
run ()
{
  nbdkit -U - --filter=stats memory 4M statsfile=report "$@" \
         --run 'nbdsh -u "$uri" -c - <client.py'
  cat report
}

run statsformat=json
sizes='.sizes | map([.from, .to, .requests, .bytes])'
json_check "read | $sizes == [ [4096, 8191, 3, 12288],
                               [65536, 131071, 3, 196608],
                               [1048576, 2097151, 3, 3145728] ]" \
           "zero | $sizes == [ [4096, 8191, 1, 8191] ]" \
           "write | $sizes == [ [1, 1, 1, 1], [2, 3, 1, 3],
                                [2048, 4095, 1, 4095], [4096, 8191, 3, 17287],
                                [8192, 16383, 1, 8192] ]"
for op in read write zero; do
  json_check "$op | sum(.sizes[].requests) == .total_ios" \
             "$op | sum(.sizes[].bytes) == .io_bytes"
done

# The most frequent come first, then the smallest. A class in which all requests
# have the lowest size is told as that one size.
run statsthreshold=100 statsdetail=full
sed -n '/^sizes  /,/^$/p' report |
  sed -E 's/ +[0-9.]+ [num]?s( #+)?$//; s/([^ ]) +/\1 /g' >sizes
diff -u - sizes <<'EOF'
sizes requests % bytes latency
read
  4096 (4.00 KiB) 3 33.3% 12.0 KiB
  65536 (64.0 KiB) 3 33.3% 192 KiB
  1048576 (1.00 MiB) 3 33.3% 3.00 MiB
write
  4096-8191 (4.00 KiB) 3 42.9% 16.9 KiB
  1 B 1 14.3% 1 B
  2-3 B 1 14.3% 3 B
  2048-4095 (2.00 KiB) 1 14.3% 4.00 KiB
  8192 (8.00 KiB) 1 14.3% 8.00 KiB
zero
  4096-8191 (4.00 KiB) 1 100.0% 8.00 KiB
cache
  1048576 (1.00 MiB) 5 100.0% 5.00 MiB

EOF
# A bar for each, as long as its share.
bar ()
{
  sed -n "/^$1\$/,/^[^ ]/s/^  $2 .* \(#*\)\$/\1/p" report
}
whole=$(bar cache 1048576)
[ "${#whole}" -ge 6 ] || fail "there is no bar"
for size in 4096 65536 1048576; do
  third=$(bar read "$size")
  case $((3 * ${#third} - ${#whole})) in
    -1 | 0 | 1) ;;
    *) fail "the bar of $size" ;;
  esac
done
