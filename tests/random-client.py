# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Random requests of all kinds over several connections, many at once. Run by
# nbdsh, with the variables unixsocket, seed, requests (of a connection),
# connections, depth (of a connection), rounds (each of new connections) and
# pauses (the share of requests after which the client waits for all that it has
# in flight, and then for a while). What fails, fails.

import random
import threading
import time


def connect(number):
    h = nbd.NBD()
    h.add_meta_context("base:allocation")
    h.set_export_name("export %d" % (number % 2))
    h.connect_unix(unixsocket)
    return h


class Client:
    def __init__(self, number):
        self.random = random.Random("%s %d" % (seed, number))
        self.h = connect(number)
        self.size = self.h.get_size()
        self.next_offset = 0
        self.in_flight = []

    # Small and large, odd and aligned; a part goes on where the last ended.
    def range(self):
        align = 1 << self.random.randrange(0, 17)
        count = self.random.randrange(1, 1 << self.random.randrange(1, 18))
        if self.random.random() < 0.5:
            count = max(align, count // align * align)
        offset = self.random.randrange(self.size) // align * align
        if self.random.random() < 0.3:
            offset = self.next_offset
        offset = min(offset, self.size - count)
        self.next_offset = (offset + count) % self.size
        return count, offset

    def flags(self, *offered):
        return sum(flag for can, flag in offered
                   if can and self.random.random() < 0.4)

    def send(self):
        h = self.h
        fua = (h.can_fua(), nbd.CMD_FLAG_FUA)
        count, offset = self.range()
        op = self.random.choice(("read", "read", "write", "write", "trim",
                                 "zero", "zero", "extents", "cache", "flush"))
        if op == "read":
            return h.aio_pread(nbd.Buffer(count), offset)
        if op == "write":
            # The oracle knows by the offset which data are zero.
            byte = b"\0" if offset // 512 % 3 == 0 else b"\1"
            data = nbd.Buffer.from_bytearray(bytearray(byte * count))
            return h.aio_pwrite(data, offset, flags=self.flags(fua))
        if op == "trim" and h.can_trim():
            return h.aio_trim(count, offset, flags=self.flags(fua))
        if op == "zero" and h.can_zero():
            flags = self.flags(fua, (True, nbd.CMD_FLAG_NO_HOLE),
                               (h.can_fast_zero(), nbd.CMD_FLAG_FAST_ZERO))
            return h.aio_zero(count, offset, flags=flags)
        if op == "cache" and h.can_cache():
            return h.aio_cache(count, offset)
        if op == "flush" and h.can_flush():
            return h.aio_flush()
        flags = self.flags((True, nbd.CMD_FLAG_REQ_ONE))
        return h.aio_block_status(count, offset, lambda *args: 0, flags=flags)

    def wait(self, at_most):
        while len(self.in_flight) > at_most:
            self.h.poll(-1)
            self.in_flight = [c for c in self.in_flight if not self.done(c)]

    def done(self, cookie):
        try:
            return self.h.aio_command_completed(cookie)
        except nbd.Error:
            return True

    def run(self):
        for _ in range(requests):
            self.in_flight.append(self.send())
            self.wait(self.random.randrange(depth))
            if self.random.random() < pauses:
                self.wait(0)
                time.sleep(self.random.expovariate(500))
        self.wait(0)
        self.h.shutdown()


def run_client(number):
    if pauses:          # others already ask for something
        time.sleep(random.Random("%s %d" % (seed, number)).uniform(0, 0.05))
    Client(number).run()


def run_round(n):
    threads = [threading.Thread(target=run_client, args=[n * connections + i])
               for i in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


for n in range(rounds):
    if n:
        time.sleep(random.Random("%s %d" % (seed, n)).uniform(0, 0.05))
    run_round(n)
