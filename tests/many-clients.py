# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Many connections at once in one process, each with many requests in flight, of
# all operations one after the other:
#
#   many-clients.py SOCKET CONNECTIONS DEPTH ROUNDS

import sys

import nbd

sock = sys.argv[1]
connections, depth, rounds = map(int, sys.argv[2:])
SIZE = 4096

def connect(i):
    h = nbd.NBD()
    h.set_export_name("client %d" % i)
    h.add_meta_context("base:allocation")
    h.connect_unix(sock)
    return h

def send(h, op, i):
    offset = i * SIZE
    if op == "read":
        h.aio_pread(nbd.Buffer(SIZE), offset)
    elif op == "write":
        h.aio_pwrite(nbd.Buffer.from_bytearray(bytearray(SIZE)), offset)
    elif op == "trim" and h.can_trim():
        h.aio_trim(SIZE, offset)
    elif op == "zero" and h.can_zero():
        h.aio_zero(SIZE, offset)
    elif op == "cache" and h.can_cache():
        h.aio_cache(SIZE, offset)
    elif op == "flush" and h.can_flush():
        h.aio_flush()
    elif op == "extents" and h.can_meta_context("base:allocation"):
        h.aio_block_status(SIZE, offset, lambda *args: 0)

handles = [connect(i) for i in range(connections)]
for j in range(rounds):
    for op in "read", "write", "trim", "zero", "extents", "cache", "flush":
        for h in handles:
            for i in range(depth):
                send(h, op, j * depth + i)
        for h in handles:
            while h.aio_in_flight() > 0:
                h.poll(-1)
for h in handles:
    h.shutdown()
