# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.
# shellcheck shell=bash

# The findings of a run, in the JSON report in the file "report" in the working
# directory.

# provoke ARGS...: run nbdkit with them, and show what it found.
provoke ()
{
  rm -f report
  nbdkit -U - "$@" statsfile=report statsformat=json
  findings
}

findings ()
{
  jq -r '.diagnosis[] |
         "\(.code) \(.layer) \(.op) \(.numbers | tojson): \(.text)"' report
}

# bench ARGS...: provoke, where the command of --run is "qemu-img bench" with the
# arguments before "--", and what follows are nbdkit's.
bench ()
{
  local - args=()
  { set +x; } 2>/dev/null
  while [ "$1" != -- ]; do
    args+=("$1")
    shift
  done
  shift
  set -x
  provoke "$@" --run "qemu-img bench -f raw ${args[*]} \"\$uri\""
}

# found CODE [WORDS]: that is among the findings, with these words in it.
found ()
{
  local -
  { set +x; } 2>/dev/null
  echo "found: $*"
  findings | grep -E "^$1 .*: .*${2-}" ||
    fail "it did not find $1 in these words: ${2-}"
}

# not_found CODE...
not_found ()
{
  local - code
  { set +x; } 2>/dev/null
  echo "not_found: $*"
  for code; do
    if findings | grep "^$code "; then fail "it found $code"; fi
  done
}
