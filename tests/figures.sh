# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.
# shellcheck shell=bash

# Single figures out of the text report in the file "report" in the working
# directory, and comparisons of them.

# line NAME: the report's only line of this name.
line ()
{
  local - lines
  { set +x; } 2>/dev/null
  lines=$(grep "^$1: " report)
  [ "$(wc -l <<<"$lines")" -eq 1 ] || fail "not one line '$1' in the report"
  echo "$lines"
}

# seconds elapsed|busy|active|read|write|...|total
seconds ()
{
  local -
  { set +x; } 2>/dev/null
  case $1 in
    elapsed | busy | active) line "$1 time" | awk '{ print $3 }' ;;
    *) line "$1" | sed -E 's/.* ops, ([0-9.]+) s.*/\1/' ;;
  esac
}

# bytes NAME WORDS: what the line has before these words, say " data" or "/s op"
bytes ()
{
  local -
  { set +x; } 2>/dev/null
  line "$1" | sed -E "s,.* ([0-9.]+) ([KMGTPE]?)i?B$2.*,\1 \2," |
    awk '{ printf "%.9g\n", $1 * 1024 ^ (NF > 1 ? index ("KMGTPE", $2) : 0) }'
}

# rate NAME op|total: bytes a second
rate ()
{
  bytes "$1" "/s $2"
}

# check EXPRESSION: it is true, by awk's arithmetic.
check ()
{
  local -
  { set +x; } 2>/dev/null
  echo "check: $1"
  awk "BEGIN { exit !($1) }" || fail "this is wrong: $1"
}

# close_to FIGURE EXPRESSION: apart by no more than their few digits explain. A
# figure has three, and two decimals at most; what the expression divides by may
# have fewer.
close_to ()
{
  local - amount=${2%/*} divisor=1 half=0 digits
  { set +x; } 2>/dev/null
  if [[ $2 == */* ]]; then
    divisor=${2##*/ }
    digits=${divisor#*.}
    half="0.5 / 10 ^ ${#digits}"
  fi
  check "$1 > 0.994 * ($amount) / ($divisor + $half) - 0.006 &&
         $1 < 1.006 * ($amount) / ($divisor - $half) + 0.006"
}
