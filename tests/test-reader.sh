#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Whoever reads a file while it is replaced a hundred times a second always
# finds it, and always a whole report in it.

source ./functions.sh
set -e -u -x

requires /usr/bin/python3 -c 'import nbd'

cd "$tmp"
start_nbdkit --filter=stats memory 1M statsfile=report statsformat=prometheus \
             statsinterval=0.01
cat >reader.py <<'EOF'
import re
import sys

import nbd

WANTED = 500

def read():
    with open("report", "rb") as file:
        return file.read()

def shape(report):
    """All of it but the values, and exports, whose series are there from their
    first request."""
    report = re.sub(rb"^nbdkit_stats_export_.*\n", b"", report, flags=re.M)
    return re.sub(rb" [-+.0-9e]+$", b"", report, flags=re.M)

def elapsed(report):
    return re.search(rb"^nbdkit_stats_elapsed_seconds_total (.*)$", report,
                     re.M).group(1)

handle = nbd.NBD()
handle.connect_uri(sys.argv[1])

# It may be that nbdkit is still about to write the first one.
while read() == b"":
    pass
expected = shape(read())
assert re.match(rb"# HELP ", expected), expected
assert re.search(rb'\nnbdkit_stats_request_duration_seconds_count'
                 rb'\{layer="1",op="flush"\}\n$', expected), expected

reads = replacements = 0
last = None
while replacements < WANTED:
    report = read()
    reads += 1
    assert shape(report) == expected, "not the same series"
    if elapsed(report) != last:
        assert last is None or float(elapsed(report)) > float(last)
        last = elapsed(report)
        replacements += 1
        handle.pread(512, 0)
print("%d reads of %d reports" % (reads, replacements))
EOF
/usr/bin/python3 reader.py "$uri"
stop_nbdkit
[ "$(echo report*)" = report ] || fail "beside it: $(echo report*)"
