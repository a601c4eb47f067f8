# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.
# shellcheck shell=bash

# For tests of "nbdkit-stats bench": runs it in $tmp, and looks at what it left.

# bench ARGS...: sets $status; the output is in the files "out" and "err". All
# that it started has ended, and all that it made is gone.
# shellcheck disable=SC2034 # whoever calls it looks at $status
bench ()
{
  local - mark=bench-$$-$RANDOM
  status=0
  # Whatever it starts, and whatever that starts, has this in its environment.
  NBDKIT_STATS_TEST=$mark nbdkit-stats bench "$@" >out 2>err || status=$?
  { set +x; } 2>/dev/null
  cat out err
  nothing_left "$mark"
}

nothing_left ()
{
  if grep -lszF "NBDKIT_STATS_TEST=$1" /proc/[0-9]*/environ; then
    fail "processes are left"
  fi
  find "$TMPDIR" -mindepth 1 | grep . && fail "files are left in $TMPDIR"
  return 0
}

# results EXPRESSION: of jq's, on the file "results", one value a line. A cell is
# cell(CASE; ENVIRONMENT).
results ()
{
  jq -c -r "def cell(c; e): .jobs[].cases[] | select(.name == c) | .cells[] |
              select(.environment == e); $1" results
}

# results_check EXPRESSION...: each is true.
results_check ()
{
  local - expression
  { set +x; } 2>/dev/null
  for expression; do
    echo "results_check: $expression"
    [ "$(results "$expression")" = true ] && continue
    results "${expression%% [=<>!]*}" || :
    fail "this is wrong: $expression"
  done
}
