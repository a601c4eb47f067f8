#!/usr/bin/python3
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# An account of its own of what a JSON report must say, out of what nbdkit's log
# filter wrote of each request above the stats filter and below it:
#
#   oracle.py REPORT ABOVE BELOW [errnos] [emulated]
#
# What is counted must be the same. A time must be between what passed below and
# what passed above, whose time stamps are cut to microseconds. ABOVE.openings
# and BELOW.openings are what the openings filter of the tests wrote beside these
# logs.
#
# errnos: a request that failed did so with ERRNOS[offset / 4096 % 16], instead
# of what the log says, which has names for a few errnos only.
# emulated: not all that is asked for above gets through to below.

import collections
import datetime
import json
import re
import sys

sys.dont_write_bytecode = True
import oracle_account  # noqa: E402

OPS = "read write trim zero extents cache flush".split()
ERRNOS = ("EPERM EIO ENOMEM EINVAL ENOSPC EOVERFLOW ESHUTDOWN EROFS "
          "EFBIG").split()
FLAGS = {"fua": "fua", "trim": "may_trim", "fast": "fast_zero",
         "req_one": "req_one"}
LINE = re.compile(r"(\S+ \S+) connection=(\d+) (\.\.\.)?(\w+) (.*)")
EXTENT = re.compile(r'0x[0-9a-f]+ (0x[0-9a-f]+) "([a-z,]*)"')
SIZED = OPS[:6]

errors = 0


def check(what, found, expected):
    global errors
    if found != expected:
        errors += 1
        print("%s: the report has %s, the log %s" % (what, found, expected))


def check_between(what, low, found, high):
    global errors
    if not low <= found <= high:
        errors += 1
        print("%s: the report has %s, the logs from %s to %s"
              % (what, found, low, high))


class Request:
    def __init__(self, op, connection, begin, fields):
        self.op, self.connection, self.begin = op, connection, begin
        self.offset = int(fields.get("offset", "0"), 16)
        self.count = int(fields.get("count", "0"), 16)
        self.flags = {FLAGS[name] for name in FLAGS
                      if fields.get(name) == "1"}
        self.end = None
        self.failed = self.refused = False
        self.errno = None
        self.extents = []

    def finish(self, end, text, by_offset):
        fields = dict(re.findall(r"(\w+)=(\S+)", text))
        self.end = end
        self.extents = [(int(length, 16), kind)
                        for length, kind in EXTENT.findall(text)]
        if fields["return"] == "0":
            return
        self.errno = fields["error"]
        self.refused = ("fast_zero" in self.flags
                        and self.errno in ("ENOTSUP", "EOPNOTSUPP"))
        self.failed = not self.refused
        if by_offset and self.failed:
            self.errno = ERRNOS[self.offset // 4096 % 16]

    @property
    def ok(self):
        return not (self.failed or self.refused)


def nanoseconds(stamp):
    when = datetime.datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S.%f")
    since = when - datetime.datetime(1970, 1, 1)
    return (since.days * 86400 + since.seconds) * 10**9 \
        + since.microseconds * 1000


class Log:
    """The requests in a log. slack is what the time stamps may be off."""

    def __init__(self, path, by_offset, begin_slack, end_slack):
        self.requests, self.exports = [], collections.Counter()
        open_requests = {}
        for line in open(path):
            match = LINE.match(line)
            if not match:
                continue
            stamp, connection, leave, op, text = match.groups()
            now, op = nanoseconds(stamp), op.lower()
            fields = dict(re.findall(r"(\w+)=(\S+)", text))
            if op == "connect":
                self.exports[re.match(r'export="?(.*?)"? tls=',
                                      text).group(1)] += 1
            if op not in OPS:
                continue
            key = connection, fields["id"]
            if leave:
                open_requests.pop(key).finish(now + end_slack, text,
                                              by_offset)
            else:
                request = Request(op, connection, now + begin_slack, fields)
                open_requests[key] = request
                self.requests.append(request)
        assert not open_requests, "a request has no end"

    def of(self, op):
        return [r for r in self.requests if op is None or r.op == op]


def lengths(requests):
    return [max(0, r.end - r.begin) for r in requests]


def union(requests):
    total, until = 0, 0
    for r in sorted(requests, key=lambda r: r.begin):
        total += max(0, r.end - max(until, r.begin))
        until = max(until, r.end)
    return total


def most_at_once(requests):
    # Of those that touch, the one that ends is not counted with the other.
    events = [(r.begin, 1) for r in requests if r.end > r.begin]
    events += [(r.end, -1) for r in requests if r.end > r.begin]
    now = most = 0
    for _, step in sorted(events):
        now += step
        most = max(most, now)
    return most


def active(requests):
    if not requests:
        return 0
    return max(0, max(r.end for r in requests)
               - min(r.begin for r in requests))


def power(n):
    return n & -n


def classes(requests, key):
    found = collections.Counter(key(r) for r in requests)
    return {k: v for k, v in found.items() if v}


def check_sizes(name, op, ok, block):
    sizes = collections.defaultdict(lambda: [0, 0])
    for r in ok:
        size = sizes[r.count.bit_length()]
        size[0] += 1
        size[1] += r.count
    check(name + " sizes",
          {s["from"].bit_length(): [s["requests"], s["bytes"]]
           for s in op["sizes"]}, dict(sizes))
    for what, key in (("offset", lambda r: power(r.offset)),
                      ("length", lambda r: power(r.count))):
        check(name + " alignment of " + what,
              {a["align"]: a["requests"] for a in op["alignment"][what]},
              classes(ok, key))
    touched = [(r.offset + r.count - 1) // block - r.offset // block + 1
               for r in ok]
    by_touched = collections.Counter(min(t, 4) for t in touched)
    check(name + " block_fit", op["block_fit"], {
        "block": block,
        "aligned": sum(r.offset % block == r.count % block == 0 for r in ok),
        "smaller": sum(r.count < block for r in ok),
        "touched": sum(touched),
        "by_touched": {"1": by_touched[1], "2": by_touched[2],
                       "3": by_touched[3], "more": by_touched[4]},
    })


def check_counts(name, op, requests, block):
    ok = [r for r in requests if r.ok]
    failed = [r for r in requests if r.failed]
    check(name + " requests", op["total_ios"], len(ok))
    check(name + " bytes", op["io_bytes"], sum(r.count for r in ok))
    check(name + " failed", op["failed"]["total"], len(failed))
    check(name + " errnos",
          {errno: f["total"] for errno, f in op["failed"]["by_errno"].items()},
          classes(failed, lambda r: r.errno))
    check(name + " refused", op["fast_zero_refused"]["total"],
          sum(r.refused for r in requests))
    check(name + " flags", op["flags"],
          {flag: sum(flag in r.flags for r in ok)
           for flag in FLAGS.values()})
    if name in SIZED:
        check_sizes(name, op, ok, block)
    if name == "write":
        check(name + " zeros", op["zero_bytes"],
              sum(r.count for r in ok if r.offset // 512 % 3 == 0))
    if name == "extents":
        extents = [extent for r in ok for extent in r.extents]
        hole = sum(n for n, kind in extents if "hole" in kind)
        zero = sum(n for n, kind in extents if kind == "zero")
        check(name + " returned", op["returned"], {
            "extents": len(extents), "hole_bytes": hole, "zero_bytes": zero,
            "data_bytes": sum(n for n, _ in extents) - hole - zero})
    # At most those that begin where one of the same connection ended.
    ends = {(r.connection, r.offset + r.count) for r in requests}
    check_between(name + " sequential", 0, op["sequential_ios"],
                  sum((r.connection, r.offset) in ends for r in requests))


def check_times(name, op, above, below):
    """below is None where other requests get there."""
    low = below if below is not None else []
    times = [sorted(lengths([r for r in log if r.ok]), reverse=True)
             for log in (low, above)]
    lat, n = op["lat_ns"], op["total_ios"]
    check(name + " latencies", lat["N"], n)
    check(name + " bins", sum(lat["bins"].values()) + lat["overflow"], n)
    check_between(name + " busy", union(low), op["busy_ns"], union(above))
    check_between(name + " most in flight", most_at_once(low),
                  op["in_flight"]["max"], most_at_once(above))
    if n:
        check_between(name + " latency", sum(times[0]) * (1 - 1e-9),
                      lat["mean"] * n, sum(times[1]) * (1 + 1e-9))
        check_between(name + " shortest", times[0][-1] if times[0] else 0,
                      lat["min"], times[1][-1])
    # The k-th longest of what is longer each is longer.
    check(name + " slowest", len(op["slowest"]), min(n, 10))
    at = collections.Counter((r.offset, r.count) for r in above if r.ok)
    for k, slow in enumerate(op["slowest"]):
        check_between("%s slowest %d" % (name, k),
                      times[0][k] if times[0] else 0, slow["latency_ns"],
                      times[1][k])
        at[slow["offset"], slow["size"]] -= 1
    check(name + " slowest that were not asked for",
          [where for where, count in at.items() if count < 0], [])
    for what, found, select in (
            ("failed", op["failed"]["ns"], lambda r: r.failed),
            ("refused", op["fast_zero_refused"]["ns"], lambda r: r.refused)):
        check_between("%s time of %s" % (name, what),
                      sum(lengths(filter(select, low))), found,
                      sum(lengths(filter(select, above))))


class Openings:
    """What the openings filter wrote."""

    def __init__(self, path):
        lines = [line.split() for line in open(path)]
        self.intervals = [(int(begin), int(end), oracle_account.OPENING)
                          for what, begin, end in lines if what != "closed"]
        self.connected = [int(end) for what, _, end in lines
                          if what == "connected"]
        self.closed = [int(time) for what, time, _ in lines
                       if what == "closed"]
        assert len(self.connected) == len(self.closed)

    @property
    def clients(self):
        return self.connected, self.closed


def start_between(layer, above):
    """When the elapsed time began, by the clock of the logs: the report says
    how long after that its slowest requests did, and each of these lies within
    a request above."""
    low, high, at = 0, 2**64, collections.defaultdict(list)
    for r in above:
        at[r.op, r.offset, r.count].append(r)
    for name, op in layer["ops"].items():
        for slow in op["slowest"]:
            found = at[name, slow["offset"], slow["size"]]
            if len(found) == 1:
                low = max(low, found[0].begin - slow["begin_ns"])
                high = min(high, found[0].end - slow["begin_ns"]
                           - slow["latency_ns"])
    assert 0 < low <= high < 2**64, "the clocks do not fit together"
    return low, high


def check_account(layer, elapsed, start, pieces):
    account = layer["account"]
    check("account", sum(account.values()), elapsed)
    check("busy in the account", layer["busy_ns"],
          elapsed - account["waiting"] - account["no_client"])
    low, high = oracle_account.account_bounds(pieces, account)
    for state, ns in account.items():
        check_between("account of " + state, low[state], ns, high[state])
    return low, high


def check_gaps(gaps, start, pieces, uncertain, waiting):
    least = oracle_account.certain_gaps(pieces)
    most = oracle_account.possible_gaps(pieces)
    check_between("gaps", len(least), gaps["count"], len(most) + uncertain)
    check_between("sum of gaps", sum(least), gaps["sum"], waiting)
    check("bins of gaps", sum(gaps["bins"].values()) + gaps["overflow"],
          gaps["count"])
    check("longest gaps", len(gaps["longest"]), min(10, gaps["count"]))
    for k, gap in enumerate(gaps["longest"]):
        check_between("longest gap %d" % k, least[k] if k < len(least) else 0,
                      gap["ns"], gaps["max"])
        check("busy in longest gap %d" % k, oracle_account.certainly_busy_ns(
            pieces, start[1] + gap["begin_ns"],
            start[0] + gap["begin_ns"] + gap["ns"]), 0)
    return least, most


def check_time(layer, elapsed, above, below, openings):
    """Where all of it went. below is empty where other requests get there."""
    start = start_between(layer, above)
    certain = [(r.begin, r.end, r.op) for r in below if r.begin < r.end]
    possible = [(r.begin, r.end, r.op) for r in above]
    pieces = oracle_account.timeline(
        certain + openings[1].intervals, possible + openings[0].intervals,
        (openings[0].clients, openings[1].clients),
        ((start[1], start[0] + elapsed), (start[0], start[1] + elapsed)))
    low, high = check_account(layer, elapsed, start, pieces)
    least, most = check_gaps(layer["gaps"], start, pieces,
                             len(above) - len(certain),
                             layer["account"]["waiting"])
    print("start known to %d ns, account to %s ns, %d to %d gaps"
          % (start[1] - start[0],
             {state: high[state] - low[state] for state in low},
             len(least), len(most) + len(above) - len(certain)))


def check_all(layer, above, below):
    """All operations together. What nbdkit does in the place of the plugin
    happens within the request that it is done for."""
    check_between("busy", union(below), layer["request_busy_ns"], union(above))
    check_between("active", active(below), layer["active_ns"], active(above))
    check_between("most in flight", most_at_once(below),
                  layer["in_flight"]["max"], most_at_once(above))
    if layer["request_busy_ns"]:
        check_between("in flight", sum(lengths(below)) * (1 - 1e-9),
                      layer["in_flight"]["mean"] * layer["request_busy_ns"],
                      sum(lengths(above)) * (1 + 1e-9))
    check("unrecorded", layer["unrecorded"], 0)


def main(path, above_path, below_path, *options):
    report = json.loads(open(path).read().splitlines()[-1])
    layer = report["layers"][0]
    by_offset = "errnos" in options
    above = Log(above_path, by_offset, 0, 1000)
    below = Log(below_path, by_offset, 1000, 0)
    print("%d requests above, %d below" % (len(above.requests),
                                           len(below.requests)))
    assert above.requests, "no requests"
    block = 4096
    for name, op in layer["ops"].items():
        check_counts(name, op, above.of(name), block)
        check_times(name, op, above.of(name),
                    None if "emulated" in options else below.of(name))
    check("operations", sorted(layer["ops"]), sorted(OPS))
    check("connections", layer["connections"]["opened"],
          sum(above.exports.values()))
    check("exports", {e["name"]: e["opened"] for e in layer["exports"]},
          dict(above.exports))
    check_all(layer, above.requests, below.requests)
    check_time(layer, report["elapsed_ns"], above.requests,
               [] if "emulated" in options else below.requests,
               [Openings(path + ".openings")
                for path in (above_path, below_path)])


main(*sys.argv[1:])
sys.exit(errors > 0)
