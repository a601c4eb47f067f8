#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A server that is killed at any moment leaves a file that is whole and not old:
# with statsinterval its figures are of the last interval, and they are those of
# the run before until there is a report of this one.

source ./functions.sh
set -e -u -x

requires jq --version
requires /usr/bin/python3 -c 'import nbd'

cd "$tmp"
cat >killer.py <<'EOF'
import datetime
import json
import os
import random
import re
import statistics
import subprocess
import time

import nbd

ROUNDS = 50
INTERVAL = 0.05
LONGEST = 6 * INTERVAL

def shape(report):
    """A report in Prometheus format without its values, and without exports,
    whose series are there from their first request."""
    report = re.sub(rb"^nbdkit_stats_export_.*\n", b"", report, flags=re.M)
    return re.sub(rb" [-+.0-9e]+$", b"", report, flags=re.M)

class Json:
    name = "json"

    def __init__(self, report):
        self.fragments = 0
        self.all = open("all.json", "wb")

    def keep(self, report):
        """Judge what is left of it."""
        lines = report.split(b"\n")
        # The kernel cuts a write short if the kill comes in its middle, which
        # is a matter of microseconds, but for a machine that is busy.
        self.fragments += lines.pop() != b""
        assert lines, "the file is empty"
        self.all.write(b"\n".join(lines) + b"\n")

    def moments(self, report):
        """When did the process start that wrote it last, and when was that?"""
        lines = report.split(b"\n")[:-1]
        if not lines:                   # the old ones are just being replaced
            return 0, 0
        last = json.loads(lines[-1])
        start = datetime.datetime.fromisoformat(
            last["start_time"].replace("Z", "+00:00")).timestamp()
        elapsed_ns = last.get("cumulative", last)["elapsed_ns"]
        return start, start + elapsed_ns / 1e9

class Prometheus:
    name = "prometheus"
    fragments = 0

    def __init__(self, report):
        self.shape = shape(report)

    def keep(self, report):
        pass

    def moments(self, report):
        assert shape(report) == self.shape, "not the same series"
        start, elapsed = [
            float(re.search(rb"^nbdkit_stats_" + name + rb" (.*)", report,
                            re.M).group(1))
            for name in (b"start_time_seconds", b"elapsed_seconds_total")]
        return start, start + elapsed

class Server:
    def __init__(self, format):
        self.ages = []
        self.gaps = []
        self.report = format.name + ".report"
        self.command = ["nbdkit", "--filter=stats", "memory", "1M",
                        "statsformat=" + format.name,
                        "statsfile=" + self.report]
        subprocess.run(self.command + ["-U", "-", "--run", "true"], check=True)
        self.format = format(self.read())

    def read(self):
        with open(self.report, "rb") as file:
            return file.read()

    def start(self, number):
        name = "%s.%d" % (self.format.name, number)
        self.seen = None
        self.spawned = time.time()
        self.process = subprocess.Popen(
            self.command + ["-f", "-U", name + ".sock", "-P", name + ".pid",
                            "statsinterval=%g" % INTERVAL])
        while not os.path.exists(name + ".pid"):
            assert self.process.poll() is None, "it did not start"
            time.sleep(0.001)
        self.ready = time.time()
        self.handle = nbd.NBD()
        self.handle.connect_unix(name + ".sock")

    def look(self):
        """A report of this run is followed by newer ones of it alone."""
        start, last = self.format.moments(self.read())
        if start < self.spawned:        # nothing of this run
            assert self.seen is None
            return
        if self.seen is not None and last != self.seen:
            assert last > self.seen
            self.gaps.append(last - self.seen)
        self.seen = last

    def kill(self):
        self.look()
        killed = time.time()
        self.process.kill()
        self.process.wait()
        self.format.keep(self.read())
        self.look()
        self.ages.append(killed - (self.seen or self.ready))

servers = [Server(Json), Server(Prometheus)]
for i in range(ROUNDS):
    for server in servers:
        server.start(i)
    end = time.monotonic() + random.uniform(0, LONGEST)
    while time.monotonic() < end:
        for server in servers:
            server.handle.pwrite(bytes(4096), 4096)
            server.look()
    for server in servers:
        server.kill()

for server in servers:
    ages = sorted(server.ages)
    gap = statistics.median(server.gaps)
    print(server.format.name, "fragments:", server.format.fragments,
          "gap: %.3f" % gap, "ages:", " ".join("%.3f" % age for age in ages))
    # One interval is the most, and that is long where the machine is slow.
    assert statistics.median(ages) < 2 * max(INTERVAL, gap)
    assert server.format.fragments <= ROUNDS / 5
EOF
/usr/bin/python3 killer.py

jq -r .type all.json >types
[ "$(wc -l <types)" -eq "$(wc -l <all.json)" ] || fail "jq did not read all"
grep -c interval types
