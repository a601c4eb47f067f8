#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What extents requests returned adds up to more than 64 bits can hold, and is
# told in full.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x

requires nbdsh --version
requires jq --version

cd "$tmp"
cat >client.py <<'EOF'
def show(context, offset, entries, error):
    print(context, offset, entries)

# An answer goes from the offset to the end, whatever was asked.
for i in range(3):
    h.block_status(512, 65536 * i, show)
EOF
# run ARGS...
run ()
{
  rm -f report
  nbdkit -U - --filter=stats null size=7E statsfile=report "$@" \
         --run 'nbdsh --base-allocation -u "$uri" -c - <client.py'
}

# Not with jq, which has no integers of that size.
cat >check.py <<'EOF'
import json

expected = sum((7 << 60) - 65536 * i for i in range(3))
assert expected >= 1 << 64
rows = [json.loads(line) for line in open("report")]

def returned(row):
    extents = row["layers"][0]["ops"].get("extents", {})
    found = extents.get("returned", {})
    return sum(found.get(kind, 0)
               for kind in ("data_bytes", "hole_bytes", "zero_bytes"))

print(rows[-1]["layers"][0]["ops"]["extents"]["returned"], expected)
assert returned(rows[-1]) == expected
assert sum(returned(row) for row in rows[:-1]) == expected
EOF
run statsformat=json statsinterval=0.01
/usr/bin/python3 check.py

run
cat report
grep -E '^extents: 3 ops, .* 21\.0 EiB returned, ' report
