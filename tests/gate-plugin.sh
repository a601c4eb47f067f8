#!/bin/sh
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# For nbdkit's sh plugin: a disk of zeros, where a request waits for as long as
# the gate of its kind is shut. See gate.sh.

case $1 in
  thread_model) echo parallel ;;
  get_size) echo 64M ;;
  can_write | can_flush) ;;
  pread | pwrite | flush)
    if [ "$1" = pwrite ]; then cat >/dev/null; fi
    : >"${gate:?}/waiting/$$"
    while [ -e "$gate/shut.$1" ]; do sleep 0.02; done
    rm "$gate/waiting/$$"
    if [ "$1" = pread ]; then head -c "$3" /dev/zero; fi ;;
  *) exit 2 ;;
esac
