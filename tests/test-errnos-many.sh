#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# An operation may fail with any errno there is, and each has its own count:
# exact, the same as the sum of all intervals, and never less than it was.

source ./functions.sh
set -e -u -x

requires /usr/bin/python3 -c 'import nbd'
plugin=$top_builddir/tests/.libs/nbdkit-errno-plugin.so
requires test -e "$plugin"

cd "$tmp"
cat >client.py <<'EOF'
import random
import sys

import nbd

LAST = 1000
numbers = random.Random(1)
handles = [nbd.NBD() for i in range(3)]
for h in handles:
    h.connect_uri(sys.argv[1])

# The errno is the offset. Slowly they become more.
count = [0] * LAST
for i in range(8000):
    error = numbers.randrange(1, min(LAST, 3 + i // 8))
    try:
        handles[i % 3].pread(1, error)
        raise Exception("this should fail")
    except nbd.Error:
        count[error] += 1
for error, n in enumerate(count):
    if n > 0:
        print(error, n)
EOF
cat >check.py <<'EOF'
import errno
import json

# Names may differ from those of Python, where an errno has two: by number.
def name(error):
    return "other" if error > 255 else error

expected = {}
for line in open("counts"):
    error, n = map(int, line.split())
    expected[name(error)] = expected.get(name(error), 0) + n

# Python does not know them all.
UNKNOWN = {"EHWPOISON": 133}

def number(name):
    if name == "other" or name.isdigit():
        return int(name) if name.isdigit() else name
    return getattr(errno, name, None) or UNKNOWN[name]

def by_errno(row):
    failed = row["layers"][0]["ops"].get("read", {}).get("failed")
    if failed is None:
        return {}
    counts = {number(name): x["total"]
              for name, x in failed["by_errno"].items()}
    assert failed["total"] == sum(counts.values()), failed
    return counts

rows = [json.loads(line) for line in open("report")]
final = by_errno(rows[-1])
assert len(expected) > 200
assert final == expected, set(final.items()) ^ set(expected.items())

added = {}
for row in rows[:-1]:
    assert row["type"] == "interval"
    for error, n in by_errno(row).items():
        added[error] = added.get(error, 0) + n
assert len(rows) > 2
assert added == final, set(added.items()) ^ set(final.items())
EOF

start_nbdkit --filter=stats "$plugin" statsfile=report statsformat=json \
             statsinterval=0.02 2>log
/usr/bin/python3 client.py "$uri" >counts
stop_nbdkit
tail -n 1 report | head -c 3000
/usr/bin/python3 check.py

# What Prometheus would see while that goes on.
rm report
cat >scrape.py <<'EOF'
import subprocess
import sys

client = subprocess.Popen(["/usr/bin/python3", "client.py", sys.argv[1]],
                          stdout=subprocess.DEVNULL)
before, scrapes = {}, 0

def scrape():
    counters = {}
    for line in open("report"):
        if "errno=" in line:
            labels, value = line.rsplit(" ", 1)
            assert labels not in counters, line
            counters[labels] = float(value)
    return counters

while client.poll() is None:
    try:
        now = scrape()
    except FileNotFoundError:
        continue
    for labels, value in before.items():
        assert now.get(labels, -1) >= value, (labels, value, now.get(labels))
    scrapes += now != before
    before = now
assert client.returncode == 0
print(scrapes, "scrapes,", len(before), "counters")
EOF
start_nbdkit --filter=stats "$plugin" statsfile=report statsformat=prometheus \
             statsinterval=0.02 2>log
/usr/bin/python3 scrape.py "$uri"
stop_nbdkit
grep -c 'errno=' report
