# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.
# shellcheck shell=bash

# The system log is the socket /dev/log. In a mount namespace of its own a test
# has another directory in place of /dev, and neither finds the machine's log
# nor disturbs it.

# shellcheck source-path=SCRIPTDIR source=own-mounts.sh disable=SC2154
source "$top_srcdir/tests/own-mounts.sh"
requires has_own_mounts

# shellcheck disable=SC2154 # functions.sh sets $tmp
own_dev=$tmp/dev
mkdir "$own_dev"

# in_own_dev CMD...: run it with $own_dev as its /dev
in_own_dev ()
{
  # shellcheck disable=SC2016 # for the other shell to expand
  "${own_mounts[@]}" bash -e -c '
    dev=$1
    shift
    for name in null zero full random urandom; do
      touch "$dev/$name"
      mount --bind "/dev/$name" "$dev/$name"
    done
    # $TMPDIR may be in there.
    if [ -d /dev/shm ]; then
      mkdir -p "$dev/shm"
      mount --bind /dev/shm "$dev/shm"
    fi
    # A chroot may have the machine'\''s.
    mount --make-rprivate /dev || :
    mount --rbind "$dev" /dev
    exec "$@"' bash "$own_dev" "$@"
}
