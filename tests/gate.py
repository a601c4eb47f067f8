# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The client's side of gate-plugin.sh. The operations are "pread", "pwrite" and
# "flush".

import os
import time

DIRECTORY = os.environ["gate"]

def shut(*ops):
    for op in ops:
        open("%s/shut.%s" % (DIRECTORY, op), "w").close()

def let_through(*ops):
    for op in ops:
        os.unlink("%s/shut.%s" % (DIRECTORY, op))

def hold(requests, seconds=0.2):
    """Wait until so many are at the gates, and a while longer.  Returns for
    how many nanoseconds all were there at least.
    """
    while len(os.listdir(DIRECTORY + "/waiting")) != requests:
        time.sleep(0.01)
    begin = time.monotonic_ns()
    time.sleep(seconds)
    return time.monotonic_ns() - begin

def until_in_flight(h, requests):
    """Wait until so many requests of a connection have no answer."""
    while h.aio_in_flight() > requests:
        h.poll(-1)
