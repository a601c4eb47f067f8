#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# In each report for Prometheus the states of a layer add up to the elapsed time,
# to the last digit, while requests come and go; and no counter ever falls.

source ./functions.sh
set -e -u -x

requires nbdsh --version
requires nbdkit --filter=delay null --version

cd "$tmp"
cat >reader.py <<'EOC'
import re

names = {}


def nanoseconds(value):
    seconds, decimals = value.split(".")
    assert len(decimals) == 9
    return int(seconds + decimals)


def read():
    text = open("report").read()
    elapsed = re.search(r"^nbdkit_stats_elapsed_seconds_total (\S+)$", text,
                        re.MULTILINE).group(1)
    states = re.findall(r'^nbdkit_stats_state_seconds_total\{layer="(.)",'
                        r'state="(\w+)"\} (\S+)$', text, re.MULTILINE)
    assert len(states) == 2 * 11, states
    for layer in "12":
        assert nanoseconds(elapsed) == sum(
            nanoseconds(value) for l, _, value in states if l == layer), states
    for layer, state, value in states:
        assert nanoseconds(value) >= names.get((layer, state), 0), state
        names[layer, state] = nanoseconds(value)
    return elapsed


def wait_for_report(last):
    while True:
        elapsed = read()
        if elapsed != last:
            return elapsed


last = None
for i in range(30):
    handles = [h, nbd.NBD()]
    handles[1].connect_uri(h.get_uri())
    cookies = [handles[0].aio_pread(nbd.Buffer(512), 0),
               handles[1].aio_zero(512, 0)]
    last = wait_for_report(last)
    for handle, cookie in zip(handles, cookies):
        while not handle.aio_command_completed(cookie):
            handle.poll(-1)
    h.pwrite(bytes(512), 0)
    handles[1].shutdown()
    last = wait_for_report(last)
for state in "read", "write", "opening", "several", "waiting":
    assert names["1", state] > 0, state
EOC
# shellcheck disable=SC2016 # the shell of --run expands it
nbdkit -U - --filter=stats --filter=delay --filter=stats memory 1M \
       delay-read=15ms delay-zero=10ms statsformat=prometheus \
       statsinterval=0.01 statsfile=report \
       --run 'nbdsh -u "$uri" -c - <reader.py'
grep '^nbdkit_stats_state_seconds_total' report
