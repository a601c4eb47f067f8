# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.
# shellcheck shell=bash

# preload NAME: from now on nbdkit runs with what was built from NAME.c
# preloaded, and with the process number that it has anyway.
preload ()
{
  # shellcheck disable=SC2154 # functions.sh sets them
  local library=$top_builddir/tests/.libs/$1.so wrapper=$tmp/with-$1
  local real=${NBDKIT:-$(sed -n 's/^NBDKIT = //p' "$top_builddir/Makefile")}

  printf '#!/bin/sh\nLD_PRELOAD=%q exec %q "$@"\n' "$library" "$real" \
         >"$wrapper"
  chmod +x "$wrapper"
  requires test -e "$library"
  export NBDKIT=$wrapper
}
