# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.
# shellcheck shell=bash

# Mounts that nobody else sees:
#
#   requires has_own_mounts
#   "${own_mounts[@]}" CMD...   run it where it may mount, in a namespace of its
#                               own

# Root keeps them to itself. Others are root in a user namespace. In a chroot
# there is neither, since "/" is not where something is mounted; then it depends
# on the mount that the chroot is in.
# shellcheck disable=SC2154 # functions.sh sets $tmp
has_own_mounts ()
{
  local option probe=$tmp/probe
  mkdir -p "$probe"
  for option in --propagation=private --map-root-user --propagation=unchanged
  do
    own_mounts=(unshare --mount "$option")
    if "${own_mounts[@]}" mount -t tmpfs none "$probe"; then
      mountpoint -q "$probe" || return 0
      umount "$probe"
    fi
  done
  return 1
}
