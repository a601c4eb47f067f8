# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# For nbdsh, whose handle h is connected: as many reads of 64 KiB as $reads
# says, all sent before the first answer is awaited.

import os

buffers = [nbd.Buffer(65536) for i in range(int(os.environ["reads"]))]
cookies = [h.aio_pread(b, i * 65536) for i, b in enumerate(buffers)]
while h.aio_in_flight() > 0:
    h.poll(-1)
assert all([h.aio_command_completed(c) for c in cookies])
h.shutdown()
